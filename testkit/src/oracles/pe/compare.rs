//! headstart's facts of a PE file beside those of another reader.

use super::facts::Oracle;
use crate::oracles::Difference;
use model::{ImportedDll, PeFacts};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Every fact on which headstart's `image` and an oracle disagree.
pub fn compare(image: &PeFacts, oracle: &Oracle) -> Vec<Difference> {
    let mut compared = Compared { image, oracle, differences: Vec::new() };
    compared.headers();
    compared.tables();
    compared.differences
}

struct Compared<'a> {
    image: &'a PeFacts,
    oracle: &'a Oracle,
    differences: Vec<Difference>,
}

impl Compared<'_> {
    fn check<T: Debug + PartialEq>(&mut self, fact: &'static str, theirs: &Option<T>, ours: T) {
        let Some(theirs) = theirs.as_ref().filter(|theirs| **theirs != ours) else { return };
        self.differences.push(Difference {
            path: self.image.path.clone(),
            tool: self.oracle.tool.clone(),
            fact,
            oracle: format!("{theirs:?}"),
            headstart: format!("{ours:?}"),
            complaints: self.oracle.complaints.clone(),
        });
    }

    fn headers(&mut self) {
        let (image, oracle) = (self.image, self.oracle);
        let machine = oracle.machine.and_then(machine);
        self.check("machine", &machine, image.machine.clone());
        self.check("base", &oracle.base, image.base.0);
        self.check("size of image", &oracle.size_of_image, image.size_of_image);
        self.check("section alignment", &oracle.section_alignment, image.section_alignment);
        self.check("file alignment", &oracle.file_alignment, image.file_alignment);
        self.check("time stamp", &oracle.time_stamp, image.time_stamp);
        // The lowest five bits are reserved, and mean nothing.
        let flags = oracle.dll_characteristics.map(|flags| flags & !0x1f);
        self.check("flags", &flags, dll_characteristics(image));
        self.check("checksum stored", &oracle.checksum_stored, image.checksum.stored);
        self.check("checksum computed", &oracle.checksum_computed, image.checksum.computed);
    }

    fn tables(&mut self) {
        let (image, oracle) = (self.image, self.oracle);
        self.check("relocations", &oracle.relocations, relocations(image));
        self.check("imports", &oracle.imports, dlls(image, false));
        self.check("delay imports", &oracle.delay_imports, dlls(image, true));
        let exports = (image.exports, image.ordinals_only, image.forwarders);
        self.check("exports", &oracle.exports, exports);
        let guard = image.guard.as_ref();
        let counts = guard.map_or((0, 0), |guard| (guard.functions, guard.flags));
        self.check("guard", &oracle.guard, counts);
        let others = guard.map_or((0, 0, 0), |guard| {
            let (imports, jumps) = (guard.address_taken_imports, guard.long_jump_targets);
            (imports, jumps, guard.exception_continuations)
        });
        self.check("other guard tables", &oracle.guard_others, others);
        let bound = image.bound.iter();
        let bound =
            bound.map(|dll| (dll.name.clone(), dll.time_stamp, dll.forwarders.len() as u64));
        self.check("bound imports", &oracle.bound, bound.collect());
        let tls = image.tls.as_ref().map_or((0, 0), |tls| (tls.template_bytes, tls.zero_bytes));
        self.check("thread-local storage", &oracle.tls, tls);
        let pdb =
            image.debug.iter().filter_map(|entry| entry.pdb.clone().zip(entry.build_id.clone()));
        self.check("PDB files", &oracle.pdb, pdb.collect());
    }
}

/// The machines of files at hand.
fn machine(number: u16) -> Option<String> {
    let name = match number {
        0x14c => "i386",
        0x8664 => "x86_64",
        0x1c0 | 0x1c2 | 0x1c4 => "arm",
        0xaa64 => "aarch64",
        _ => return None,
    };
    Some(name.to_owned())
}

fn relocations(image: &PeFacts) -> BTreeMap<u8, u64> {
    let number = |name: &str| match name {
        "ABSOLUTE" => 0,
        "HIGH" => 1,
        "LOW" => 2,
        "HIGHLOW" => 3,
        "HIGHADJ" => 4,
        "ARM_MOV32" => 5,
        "THUMB_MOV32" => 7,
        "DIR64" => 10,
        _ => u8::MAX,
    };
    image.relocations.iter().map(|(name, count)| (number(name), *count)).collect()
}

fn dlls(image: &PeFacts, delayed: bool) -> Vec<(String, u64, u64)> {
    let dlls = image.imported.iter().filter(|dll| dll.delayed == delayed);
    dlls.map(|dll: &ImportedDll| (dll.name.clone(), dll.functions, dll.by_ordinal)).collect()
}

/// The flags of `DllCharacteristics`, put together again.
fn dll_characteristics(image: &PeFacts) -> u16 {
    let flags = &image.flags;
    let bits = [
        (flags.high_entropy_va, 0x20),
        (flags.dynamic_base, 0x40),
        (flags.force_integrity, 0x80),
        (flags.nx_compatible, 0x100),
        (flags.no_isolation, 0x200),
        (flags.no_seh, 0x400),
        (flags.no_bind, 0x800),
        (flags.app_container, 0x1000),
        (flags.wdm_driver, 0x2000),
        (flags.guard_cf, 0x4000),
        (flags.terminal_server_aware, 0x8000),
    ];
    bits.iter().filter(|(set, _)| *set).map(|(_, bit)| bit).sum()
}
