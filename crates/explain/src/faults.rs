//! Page faults attributed to the modules that were mapped where they happened.

use crate::inputs::Inputs;
use crate::modules::Bundled;
use model::{FaultTotals, FileOffset, MemoryChange, PageFaults, Phase, Reading};
use std::collections::BTreeMap;

/// Faults on one module of one program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Faults {
    pub minor: u64,
    pub major: u64,
}

/// Page faults by what was mapped at the address.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Attribution {
    /// By program and file, real paths both; every executable file mapping has an entry.
    pub files: BTreeMap<(String, String), Faults>,
    /// On memory of no file.
    pub anonymous: Faults,
    /// Minor faults by program and the phase in which they happen, as far as the launches go alike.
    pub phases: BTreeMap<(String, Phase), PhaseFaults>,
}

/// Minor faults of one phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PhaseFaults {
    pub minor: u64,
    /// On memory of no file.
    pub anonymous: u64,
    /// By program and file.
    pub files: BTreeMap<(String, String), u64>,
}

impl PhaseFaults {
    pub fn add(&mut self, other: &PhaseFaults) {
        self.minor += other.minor;
        self.anonymous += other.anonymous;
        for (key, count) in &other.files {
            *self.files.entry(key.clone()).or_default() += count;
        }
    }

    fn count(&mut self, key: Option<(String, String)>) {
        self.minor += 1;
        match key {
            Some(key) => *self.files.entry(key).or_default() += 1,
            None => self.anonymous += 1,
        }
    }
}

impl Attribution {
    /// Minor faults on files that are no images (data, fonts, dumps), most first.
    pub fn others(&self, inputs: &Inputs, bundled: &Bundled) -> Vec<(String, u64)> {
        let mut by_file: BTreeMap<&str, u64> = BTreeMap::new();
        for ((program, path), faults) in &self.files {
            let module = inputs.facts.get(path).is_some_and(Result::is_ok)
                || bundled.merged(inputs, program, path).is_some();
            if !module && faults.minor > 0 {
                *by_file.entry(path).or_default() += faults.minor;
            }
        }
        let mut files: Vec<(String, u64)> =
            by_file.into_iter().map(|(path, n)| (path.to_owned(), n)).collect();
        files.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        files
    }
}

/// The mappings of one process, where a later one replaces what it overlaps.
#[derive(Default)]
struct Space {
    /// The file that execve mapped first.
    program: Option<String>,
    /// First address to one past the last, and the file with the address at which its first byte
    /// would be; `None` for memory of no file.
    ranges: BTreeMap<u64, (u64, Option<(String, u64)>)>,
}

impl Space {
    fn insert(&mut self, start: u64, end: u64, file: Option<(String, u64)>) {
        let before = self.ranges.range(..start).next_back();
        if let Some((&first, (last, name))) = before.map(|(k, v)| (k, v.clone())) {
            if last > start {
                self.ranges.insert(first, (start, name.clone()));
            }
            if last > end {
                self.ranges.insert(end, (last, name));
            }
        }
        let covered: Vec<u64> = self.ranges.range(start..end).map(|(first, _)| *first).collect();
        for first in covered {
            if let Some((last, name)) = self.ranges.remove(&first)
                && last > end
            {
                self.ranges.insert(end, (last, name));
            }
        }
        self.ranges.insert(start, (end, file));
    }

    /// The file mapped at an address, and what of it.
    fn at(&self, address: u64) -> Option<(&str, FileOffset)> {
        let (_, (end, file)) = self.ranges.range(..=address).next_back()?;
        let (path, first) = file.as_ref().filter(|_| address < *end)?;
        Some((path, FileOffset(address.wrapping_sub(*first))))
    }
}

/// Times of the fault record, each with the time of the phase launch that corresponds to it: both
/// launches do the same, if not equally fast. Both show when each program was executed; between these moments
/// time goes evenly.
pub(crate) fn alignment(record: &PageFaults, executed: &[f64], total_us: f64) -> Vec<(f64, f64)> {
    let execs = record.mappings.iter().filter(|change| change.mapping().is_none());
    let own: Vec<f64> = execs.map(MemoryChange::at_us).collect();
    // Where one launch executed more than the other, only the first can be matched.
    let matched = if own.len() == executed.len() { own.len() } else { 1 };
    let mut points = vec![(0.0, 0.0)];
    points.extend(own.into_iter().zip(executed.iter().copied()).take(matched));
    points.push((record.total_us, total_us));
    points.dedup_by(|next, last| next.0 <= last.0 || next.1 <= last.1);
    points
}

/// Where a time of the first launch lies in the second.
pub(crate) fn aligned(points: &[(f64, f64)], at_us: f64) -> f64 {
    let next = points.partition_point(|(from, _)| *from <= at_us).max(1);
    match (points.get(next - 1), points.get(next)) {
        (Some((from, to)), Some((from_end, to_end))) => {
            to + (at_us - from) * (to_end - to) / (from_end - from)
        }
        (Some((_, to)), None) => *to,
        (None, _) => at_us,
    }
}

/// Attributes every fault to the file mapped at its address at that time.
///
/// An address space begins anew with each execve, and the program is the first file after that. A
/// forked process begins with copies of its parent's mappings. `phase_at` tells the phase of a time of this launch.
pub(crate) fn attribute(
    record: &PageFaults,
    inputs: &Inputs,
    bundled: &Bundled,
    phase_at: impl Fn(f64) -> Phase,
) -> Attribution {
    let mut spaces: BTreeMap<u32, Space> = BTreeMap::new();
    let mut result = Attribution::default();
    let mut changes = record.mappings.iter().peekable();
    for fault in &record.faults {
        while let Some(change) = changes.next_if(|change| change.at_us() <= fault.at_us) {
            apply(&mut spaces, &mut result, change, inputs);
        }
        let space = spaces.get(&fault.pid);
        let program = space.and_then(|space| space.program.clone()).unwrap_or_default();
        let file = space.and_then(|space| space.at(fault.address));
        let key = file.map(|(file, offset)| {
            let part = bundled.part(inputs, &program, offset).filter(|_| file == program);
            let module = part.unwrap_or(file);
            (program.clone(), module.to_owned())
        });
        if !fault.major {
            let phase = phase_at(fault.at_us);
            result.phases.entry((program, phase)).or_default().count(key.clone());
        }
        let faults = match key {
            Some(key) => result.files.entry(key).or_default(),
            None => &mut result.anonymous,
        };
        let counter = if fault.major { &mut faults.major } else { &mut faults.minor };
        *counter += 1;
    }
    for change in changes {
        apply(&mut spaces, &mut result, change, inputs);
    }
    result
}

fn apply(
    spaces: &mut BTreeMap<u32, Space>,
    result: &mut Attribution,
    change: &MemoryChange,
    inputs: &Inputs,
) {
    let space = spaces.entry(change.pid()).or_default();
    let Some(mapping) = change.mapping() else {
        *space = Space::default();
        return;
    };
    let file = mapping.file().map(|path| inputs.real(path).to_owned());
    if space.program.is_none() {
        space.program.clone_from(&file);
    }
    if let (Some(program), Some(path), true) = (&space.program, &file, mapping.executable) {
        result.files.entry((program.clone(), path.clone())).or_default();
    }
    let first = mapping.start.wrapping_sub(mapping.file_offset);
    let file = file.map(|file| (file, first));
    space.insert(mapping.start, mapping.start.saturating_add(mapping.bytes), file);
}

/// Totals for the explanation: of the recorded faults, otherwise as the kernel counted them.
pub(crate) fn totals(inputs: &Inputs, found: &Reading<Attribution>) -> FaultTotals {
    let Reading::Value(record) = &inputs.page_faults else {
        let missing = || match inputs.page_faults.clone() {
            Reading::Unavailable { reason, remedy } => Reading::unavailable(reason, remedy),
            Reading::Value(_) => Reading::unavailable("not counted", ""),
        };
        return inputs.fault_totals.value().cloned().unwrap_or_else(|| FaultTotals {
            minor: missing(),
            major: missing(),
            read_bytes: missing(),
            anonymous: missing(),
        });
    };
    let count =
        |major: bool| record.faults.iter().filter(|fault| fault.major == major).count() as u64;
    FaultTotals {
        minor: Reading::Value(count(false)),
        major: Reading::Value(count(true)),
        read_bytes: record.read_bytes.clone(),
        anonymous: found.clone().map(|found| found.anonymous.minor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Command, Mapping, PageFault};

    const BASE: u64 = 0x7f00_0000_0000;

    fn mapping(pid: u32, at_us: f64, start: u64, pages: u64, path: &str) -> MemoryChange {
        let (bytes, path) = (pages * 4096, path.to_owned());
        let (file_offset, executable) = (0, true);
        Mapping { pid, at_us, start, bytes, file_offset, executable, path }.into()
    }

    /// What the record says of execve.
    fn executed(pid: u32, at_us: f64) -> MemoryChange {
        MemoryChange::Executed { pid, at_us }
    }

    fn fault(pid: u32, at_us: f64, address: u64, major: bool) -> PageFault {
        PageFault { pid, at_us, address, major }
    }

    fn command() -> Command {
        let argv = vec!["p".into()];
        Command { argv, program: "/bin/p".into(), directory: None, environment: Vec::new() }
    }

    fn attribution(mappings: Vec<MemoryChange>, faults: Vec<PageFault>) -> Attribution {
        let mut inputs = Inputs::nothing(command(), "a test");
        inputs.real_paths.insert("/lib/l.so".into(), "/usr/lib/l.so.1".into());
        let record = PageFaults {
            total_us: 100.0,
            pid: 1,
            source: "a test".into(),
            mappings,
            faults,
            read_bytes_by_file: Reading::unavailable("", ""),
            read_bytes: Reading::unavailable("", ""),
            lost: 0,
        };
        attribute(&record, &inputs, &Bundled::default(), |us| {
            if us < 3.0 { Phase::Map } else { Phase::Main }
        })
    }

    fn minor(found: &Attribution, program: &str, file: &str) -> u64 {
        found.files.get(&(program.to_owned(), file.to_owned())).map_or(0, |faults| faults.minor)
    }

    #[test]
    fn later_mappings_replace_earlier_ones() {
        let mappings = vec![
            mapping(1, 1.0, 0x1000, 4, "/bin/p"),
            mapping(1, 2.0, BASE, 10, "/lib/l.so"),
            mapping(1, 3.0, BASE + 0x4000, 2, "//anon"),
        ];
        let faults = vec![
            fault(1, 2.5, BASE + 0x4000, false),
            fault(1, 3.5, BASE + 0x4000, false),
            fault(1, 3.5, BASE + 0x5fff, false),
            fault(1, 3.5, BASE + 0x6000, true),
            fault(1, 3.5, BASE + 0xa000, false),
            fault(1, 3.5, 0x1000, false),
        ];
        let found = attribution(mappings, faults);
        assert_eq!(minor(&found, "/bin/p", "/usr/lib/l.so.1"), 1);
        assert_eq!(found.files[&("/bin/p".into(), "/usr/lib/l.so.1".into())].major, 1);
        assert_eq!(minor(&found, "/bin/p", "/bin/p"), 1);
        assert_eq!(found.anonymous, Faults { minor: 3, major: 0 });
        let of = |phase| &found.phases[&("/bin/p".to_owned(), phase)];
        assert_eq!((of(Phase::Map).minor, of(Phase::Map).anonymous), (1, 0));
        assert_eq!((of(Phase::Main).minor, of(Phase::Main).anonymous), (4, 3));
        let inputs = Inputs::nothing(command(), "a test");
        let others = found.others(&inputs, &Bundled::default());
        assert_eq!(others, [("/bin/p".to_owned(), 1), ("/usr/lib/l.so.1".to_owned(), 1)]);
    }

    #[test]
    fn faults_on_a_bundle_are_those_of_the_library_at_their_place() {
        let place = |from, to| FileOffset(from)..FileOffset(to);
        let library = |path: &str, places| model::BundlePart {
            path: path.to_owned(),
            places,
            work: model::PartWork::default(),
        };
        // The file has its parts in another order than memory.
        let one = library("/lib/l.so", vec![place(0x9000, 0xa000), place(0x2000, 0x3000)]);
        let two = library("/lib/m.so", vec![place(0xa000, 0xc000)]);
        let mut inputs = Inputs::nothing(command(), "a test");
        inputs.real_paths.insert("/lib/l.so".into(), "/usr/lib/l.so.1".into());
        let contents =
            model::BundleContents { libraries: vec![one, two], ..model::BundleContents::default() };
        inputs.contents.insert("/bin/p".to_owned(), contents);
        let at = |start, file_offset, pages: u64| Mapping {
            pid: 1,
            at_us: 1.0,
            start,
            bytes: pages * 4096,
            file_offset,
            executable: true,
            path: "/bin/p".to_owned(),
        };
        let record = PageFaults {
            total_us: 100.0,
            pid: 1,
            source: "a test".into(),
            mappings: vec![
                at(0x1000, 0, 1).into(),
                at(BASE, 0x8000, 4).into(),
                // What begins inside leaves the rest in its place.
                mapping(1, 1.5, BASE + 0x1000, 1, "//anon"),
                at(0x4000, 0x2000, 1).into(),
            ],
            faults: [0x1000, 0x4000, BASE, BASE + 0x1000, BASE + 0x2000, BASE + 0x3fff]
                .map(|address| fault(1, 2.0, address, false))
                .to_vec(),
            read_bytes_by_file: Reading::unavailable("", ""),
            read_bytes: Reading::unavailable("", ""),
            lost: 0,
        };
        let bundled = Bundled::new(&inputs, &[]);
        let found = attribute(&record, &inputs, &bundled, |_| Phase::Main);
        assert_eq!(minor(&found, "/bin/p", "/bin/p"), 2);
        assert_eq!(minor(&found, "/bin/p", "/usr/lib/l.so.1"), 1);
        assert_eq!(minor(&found, "/bin/p", "/lib/m.so"), 2);
        assert_eq!(found.anonymous.minor, 1);
        let others = found.others(&inputs, &bundled);
        assert_eq!(others, [("/bin/p".to_owned(), 2)], "libraries are no other files");
    }

    #[test]
    fn exec_empties_and_fork_inherits() {
        let mappings = vec![
            mapping(1, 1.0, 0x1000, 4, "/bin/sh"),
            mapping(1, 2.0, BASE, 4, "/lib/l.so"),
            mapping(2, 2.5, 0x1000, 4, "/bin/sh"),
            mapping(2, 2.5, BASE, 4, "/lib/l.so"),
            executed(1, 4.0),
            mapping(1, 5.0, 0x9000, 4, "/bin/p"),
        ];
        let faults = vec![
            fault(2, 3.0, BASE, false),
            fault(1, 6.0, BASE, false),
            fault(1, 6.0, 0x9000, false),
        ];
        let found = attribution(mappings, faults);
        assert_eq!(minor(&found, "/bin/sh", "/usr/lib/l.so.1"), 1);
        assert_eq!(minor(&found, "/bin/p", "/bin/p"), 1);
        assert_eq!(found.anonymous.minor, 1);
    }

    #[test]
    fn times_of_two_launches_meet_where_programs_were_executed() {
        let record = |mappings| PageFaults {
            total_us: 1000.0,
            pid: 1,
            source: "a test".into(),
            mappings,
            faults: Vec::new(),
            read_bytes_by_file: Reading::unavailable("", ""),
            read_bytes: Reading::unavailable("", ""),
            lost: 0,
        };
        // Here execve was over after 100 of 1000 µs, in the phase launch after 900 of 2000.
        let one = record(vec![executed(1, 100.0), mapping(1, 101.0, 0x1000, 4, "/bin/p")]);
        let points = alignment(&one, &[900.0], 2000.0);
        assert_eq!(aligned(&points, 50.0), 450.0);
        assert_eq!(aligned(&points, 100.0), 900.0);
        assert!(aligned(&points, 101.0) > 900.0, "a fault after execve is after execve");
        assert_eq!(aligned(&points, 1000.0), 2000.0);
        assert_eq!(aligned(&points, 1100.0), 2000.0);
        // A second program, executed in both launches.
        let two = record(vec![executed(1, 100.0), executed(2, 500.0)]);
        let points = alignment(&two, &[900.0, 1000.0], 2000.0);
        assert_eq!(aligned(&points, 300.0), 950.0);
        // In one launch only: the first alone is known to be the same.
        let points = alignment(&two, &[900.0], 2000.0);
        assert!(aligned(&points, 101.0) > 900.0 && aligned(&points, 500.0) < 2000.0);
    }
}
