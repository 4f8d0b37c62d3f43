/// What a loader does, counted: the same for the same files, on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Relocations that need no look-up.
    pub relative: u64,
    /// References to symbols, …
    pub references: u64,
    /// … of which these are local or hidden, …
    pub local: u64,
    /// … and these are to the symbol of the reference before.
    pub cached: u64,
    /// References that were looked up.
    pub lookups: u64,
    /// References that may wait until the first call.
    pub waiting: u64,
    /// Modules that were asked, for all look-ups.
    pub probes: u64,
    /// Probes that a Bloom filter let pass.
    pub passed: u64,
    /// Entries of hash chains that were looked at.
    pub steps: u64,
    /// Names that were compared.
    pub comparisons: u64,
    /// References that nothing defines.
    pub missing: u64,
}

impl Work {
    /// Both together.
    pub fn add(&mut self, other: &Work) {
        let Work { relative, references, local, cached, lookups, waiting, .. } = *other;
        self.relative += relative;
        self.references += references;
        self.local += local;
        self.cached += cached;
        self.lookups += lookups;
        self.waiting += waiting;
        self.probes += other.probes;
        self.passed += other.passed;
        self.steps += other.steps;
        self.comparisons += other.comparisons;
        self.missing += other.missing;
    }
}
