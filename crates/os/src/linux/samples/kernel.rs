//! Names of the kernel's functions: proc(5), `/proc/kallsyms`.

use model::Reading;

/// A function of the kernel or of one of its modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSymbol {
    /// First address.
    pub address: u64,
    /// Its name.
    pub name: String,
    /// The kernel module; `None` for the kernel itself.
    pub module: Option<String>,
}

/// The kernel's functions in order of address.
#[derive(Clone, Debug, Default)]
pub struct KernelSymbols(Vec<KernelSymbol>);

impl KernelSymbols {
    /// The function that begins last at or before `address`.
    pub fn covering(&self, address: u64) -> Option<&KernelSymbol> {
        let after = self.0.partition_point(|symbol| symbol.address <= address);
        self.0.get(after.checked_sub(1)?)
    }
}

/// The running kernel's functions; unavailable where `kernel.kptr_restrict` hides their addresses.
pub fn kernel_symbols() -> Reading<KernelSymbols> {
    let remedy = "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1";
    match std::fs::read_to_string("/proc/kallsyms") {
        Ok(text) => match parse(&text) {
            // Hidden addresses are all 0.
            KernelSymbols(found) if found.last().is_none_or(|last| last.address == 0) => {
                Reading::unavailable("/proc/kallsyms shows no addresses to this user", remedy)
            }
            found => Reading::Value(found),
        },
        Err(error) => Reading::unavailable(format!("/proc/kallsyms: {error}"), remedy),
    }
}

/// Lines such as `ffffffff81000000 T _stext` and `ffffffffc0200000 t ext4_init [ext4]`.
fn parse(text: &str) -> KernelSymbols {
    let symbol = |line: &str| {
        let mut words = line.split_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
        let name = words.next()?.to_owned();
        let module = words.next().map(|word| word.trim_matches(['[', ']']).to_owned());
        is_code.then_some(KernelSymbol { address, name, module })
    };
    let mut symbols: Vec<KernelSymbol> = text.lines().filter_map(symbol).collect();
    symbols.sort_by_key(|symbol| symbol.address);
    // Of several names of one address the first listed stays, as in the kernel's own messages.
    symbols.dedup_by_key(|symbol| symbol.address);
    KernelSymbols(symbols)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_found_by_address() {
        let text =
            "ffff0200 t later\t[ext4]\nffff0100 T first\nffff0100 T alias\nffff0150 D data\n";
        let symbols = parse(text);
        let name = |address| symbols.covering(address).map(|symbol| symbol.name.as_str());
        assert_eq!(name(0xffff_0180), Some("first"));
        assert_eq!(name(0xffff_0100), Some("first"));
        assert_eq!(name(0xffff_0200), Some("later"));
        assert_eq!(name(0xffff_00ff), None);
        let later = symbols.covering(0xffff_0300).unwrap();
        assert_eq!(later.module.as_deref(), Some("ext4"));
    }

    #[test]
    fn hidden_addresses_are_no_symbols() {
        match kernel_symbols() {
            Reading::Value(symbols) => assert!(symbols.0.len() > 1000),
            Reading::Unavailable { reason, remedy } => {
                assert!(reason.contains("kallsyms") && remedy.contains("kptr_restrict"));
            }
        }
    }
}
