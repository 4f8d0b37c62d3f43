//! What this processor can do, as the loader names it in subfolders (glibc's elf/dl-hwcaps.c,
//! sysdeps/x86/get-isa-level.h and cpu-features.c).

use super::machine::Machine;

/// Capabilities of a processor, by the names that libraries built for them are found under.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Processor {
    /// Level of the x86-64 instruction set, 1–4; 0 on other machines.
    pub level: u8,
    /// What `$PLATFORM` stands for.
    pub platform: Option<&'static str>,
    /// Bits of the cache's `hwcap` field that it has, and their names as subfolders.
    pub capabilities: Vec<(u64, &'static str)>,
}

/// Names of the levels 2 and above.
const LEVELS: [(u8, &str); 3] = [(4, "x86-64-v4"), (3, "x86-64-v3"), (2, "x86-64-v2")];

const HWCAP_X86_64: (u64, &str) = (1 << 1, "x86_64");
#[cfg(target_arch = "x86_64")]
const HWCAP_AVX512_1: (u64, &str) = (1 << 2, "avx512_1");

impl Processor {
    /// The processor that this runs on; for another kind of machine one that can do nothing
    /// special.
    pub(super) fn here(machine: &Machine) -> Processor {
        #[cfg(target_arch = "x86_64")]
        if machine.name == "x86_64" {
            return x86::processor(machine.platform);
        }
        let capabilities = match machine.name {
            "x86_64" => vec![HWCAP_X86_64],
            _ => Vec::new(),
        };
        let level = u8::from(machine.name == "x86_64");
        Processor { level, platform: machine.platform, capabilities }
    }

    /// Subfolders of `glibc-hwcaps` that it can use, the best first.
    pub(super) fn levels(&self) -> impl Iterator<Item = &'static str> + '_ {
        LEVELS.iter().filter(|(level, _)| *level <= self.level).map(|(_, name)| *name)
    }

    /// What is put between a searched folder and a library's name, in the order in which it is
    /// tried; the last is empty.
    pub(super) fn subfolders(&self) -> Vec<String> {
        let named = self.levels().map(|name| format!("glibc-hwcaps/{name}/"));
        let mut legacy: Vec<_> = self.capabilities.iter().map(|(_, name)| *name).collect();
        legacy.extend(self.platform);
        legacy.push("tls");
        named.chain(combinations(&legacy)).collect()
    }
}

/// Every choice from `names`, in the order of elf/dl-hwcaps.c: all of them first, none last, and
/// in each the later names outermost. A name that is there twice (`x86_64` is) makes some folders
/// be tried twice, as the loader does.
fn combinations(names: &[&str]) -> Vec<String> {
    let path = |choice: usize| {
        let chosen = names.iter().enumerate().rev().filter(|(bit, _)| choice & (1 << bit) != 0);
        chosen.map(|(_, name)| format!("{name}/")).collect()
    };
    (0..1 << names.len()).rev().map(path).collect()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{HWCAP_AVX512_1, HWCAP_X86_64, Processor};
    use std::arch::is_x86_feature_detected as has;
    use std::arch::x86_64::{__cpuid, __cpuid_count};

    pub(super) fn processor(platform: Option<&'static str>) -> Processor {
        let mut processor =
            Processor { level: level(), platform, capabilities: vec![HWCAP_X86_64] };
        if intel() {
            let knights = has!("avx512cd") && avx512er();
            if !knights && avx512() {
                processor.capabilities.push(HWCAP_AVX512_1);
            }
            if knights && avx512pf() {
                processor.platform = Some("xeon_phi");
            } else if haswell() {
                processor.platform = Some("haswell");
            }
        }
        processor
    }

    /// LAHF64_SAHF64, which std does not name.
    fn lahf() -> bool {
        __cpuid(0x8000_0000).eax > 0x8000_0000 && __cpuid(0x8000_0001).ecx & 1 != 0
    }

    /// Whether a bit of EBX of leaf 7 is set.
    fn leaf7(bit: u32) -> bool {
        __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ebx & (1 << bit) != 0
    }

    fn avx512er() -> bool {
        has!("avx512f") && leaf7(27)
    }

    fn avx512pf() -> bool {
        has!("avx512f") && leaf7(26)
    }

    fn intel() -> bool {
        let vendor = __cpuid(0);
        [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat() == b"GenuineIntel"
    }

    fn level() -> u8 {
        let second = has!("cmpxchg16b") && lahf() && has!("popcnt") && has!("sse3");
        if !(second && has!("ssse3") && has!("sse4.1") && has!("sse4.2")) {
            return 1;
        }
        let third = has!("avx") && has!("avx2") && has!("f16c") && has!("fma");
        if !(third && has!("lzcnt") && has!("movbe")) {
            return 2;
        }
        if has!("avx512f") && avx512() { 4 } else { 3 }
    }

    fn avx512() -> bool {
        has!("avx512cd") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl")
    }

    fn haswell() -> bool {
        let bits = has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
        bits && has!("avx2") && has!("fma") && has!("movbe")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subfolders_come_in_the_order_of_the_loader() {
        let processor =
            Processor { level: 3, platform: Some("haswell"), capabilities: vec![HWCAP_X86_64] };
        let expected = [
            "glibc-hwcaps/x86-64-v3/",
            "glibc-hwcaps/x86-64-v2/",
            "tls/haswell/x86_64/",
            "tls/haswell/",
            "tls/x86_64/",
            "tls/",
            "haswell/x86_64/",
            "haswell/",
            "x86_64/",
            "",
        ];
        assert_eq!(processor.subfolders(), expected);
        assert_eq!(Processor::default().subfolders(), ["tls/", ""]);
    }
}
