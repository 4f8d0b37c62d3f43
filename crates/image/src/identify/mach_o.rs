//! Mach-O for one processor or for several, and classes of Java, which begin alike.

use super::fields::Fields;
use model::{FileKind, Identity, Role};
use object::macho;

/// In place of the number of processors, Java has its version, which began with 45.
const FEWEST_JAVA: u32 = 45;
/// Bytes of the header and of an entry of a file for several processors.
const HEADER: usize = 8;
const ENTRY: usize = 20;
const ENTRY_64: usize = 32;
/// Processors that are named.
const MOST_NAMED: usize = 8;

/// What is known of a file that begins as Mach-O or as a class of Java; `None` for others.
pub(super) fn identify(start: &[u8]) -> Option<Identity> {
    let first = Fields::new(start, true).u32(0)?;
    match first {
        macho::FAT_MAGIC if Fields::new(start, true).u32(4)? & 0xffff >= FEWEST_JAVA => {
            Some(java(start))
        }
        macho::FAT_MAGIC => Some(several(start, ENTRY)),
        macho::FAT_MAGIC_64 => Some(several(start, ENTRY_64)),
        macho::MH_MAGIC | macho::MH_MAGIC_64 => Some(one(Fields::new(start, true))),
        _ => match first.swap_bytes() {
            macho::MH_MAGIC | macho::MH_MAGIC_64 => Some(one(Fields::little(start))),
            _ => None,
        },
    }
}

fn java(start: &[u8]) -> Identity {
    let major = Fields::new(start, true).u16(6).unwrap_or(0);
    // Since 1.5 the first digit is left out.
    let version = match major {
        45..=48 => format!("1.{}", major - 44),
        _ => format!("{}", major - 44),
    };
    let detail = format!("Java {version} class");
    Identity { kind: FileKind::JavaClass, detail, ..Identity::default() }
}

fn several(start: &[u8], entry: usize) -> Identity {
    let fields = Fields::new(start, true);
    let count = fields.u32(4).unwrap_or(0) as usize;
    let machines = (0..count.min(MOST_NAMED))
        .map_while(|index| fields.u32(HEADER + entry * index))
        .map(machine);
    let machine = Some(machines.collect::<Vec<_>>().join(", ")).filter(|names| !names.is_empty());
    let names = machine.as_deref().unwrap_or("none");
    let detail = format!("for several processors: {names}");
    Identity { kind: FileKind::MachO, detail, machine, ..Identity::default() }
}

fn one(fields: Fields) -> Identity {
    let machine = fields.u32(4).map(machine);
    let (role, word) = match macho::FileType(fields.u32(12).unwrap_or(0)) {
        macho::MH_EXECUTE => (Some(Role::Executable), "executable"),
        macho::MH_DYLIB | macho::MH_DYLIB_STUB => (Some(Role::Library), "shared library"),
        macho::MH_BUNDLE => (Some(Role::Library), "plug-in"),
        macho::MH_DYLINKER => (Some(Role::Loader), "loader"),
        macho::MH_OBJECT => (Some(Role::Object), "object file"),
        macho::MH_CORE => (Some(Role::Core), "core dump"),
        macho::MH_DSYM => (None, "debug information"),
        macho::MH_KEXT_BUNDLE => (None, "kernel extension"),
        _ => (None, "image"),
    };
    let detail = format!("{word}, {}", machine.as_deref().unwrap_or("cut short"));
    Identity { kind: FileKind::MachO, detail, role, machine, ..Identity::default() }
}

fn machine(value: u32) -> String {
    let name = match macho::CpuType(value) {
        macho::CPU_TYPE_X86 => "i386",
        macho::CPU_TYPE_X86_64 => "x86_64",
        macho::CPU_TYPE_ARM => "arm",
        macho::CPU_TYPE_ARM64 => "aarch64",
        macho::CPU_TYPE_ARM64_32 => "arm64_32",
        macho::CPU_TYPE_POWERPC => "powerpc",
        macho::CPU_TYPE_POWERPC64 => "powerpc64",
        macho::CpuType(other) => return format!("machine {other:#x}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn java_and_several_processors_are_told_apart() {
        let class = identify(&words(&[0xcafe_babe, 65])).unwrap();
        assert_eq!((class.kind, &*class.detail), (FileKind::JavaClass, "Java 21 class"));
        let preview = identify(&words(&[0xcafe_babe, 0xffff_003d])).unwrap();
        assert_eq!(preview.detail, "Java 17 class");
        let old = identify(&words(&[0xcafe_babe, 0x3_002d])).unwrap();
        assert_eq!(old.detail, "Java 1.1 class");
        let entries = [[0x0100_0007, 3, 4096, 9, 12], [0x0100_000c, 0, 16384, 9, 14]].concat();
        let fat = identify(&words(&[&[0xcafe_babe, 2][..], &entries].concat())).unwrap();
        assert_eq!((fat.kind, fat.machine.as_deref()), (FileKind::MachO, Some("x86_64, aarch64")));
        let cut = identify(&words(&[0xcafe_babe, 2])).unwrap();
        assert_eq!(cut.detail, "for several processors: none");
        assert_eq!(identify(&words(&[0xcafe_babe])), None);
        let wide = [0x0100_000c, 2, 0, 16384, 0, 9, 14, 0];
        let fat = identify(&words(&[&[0xcafe_babf, 1][..], &wide].concat())).unwrap();
        assert_eq!(fat.machine.as_deref(), Some("aarch64"));
    }

    #[test]
    fn roles_of_one_processor() {
        let little: Vec<u8> = [0xfeed_facf_u32, 0x0100_000c, 0, 2]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let found = identify(&little).unwrap();
        assert_eq!((found.role, &*found.detail), (Some(Role::Executable), "executable, aarch64"));
        let found = identify(&words(&[0xfeed_face, 18, 0, 6])).unwrap();
        assert_eq!((found.role, &*found.detail), (Some(Role::Library), "shared library, powerpc"));
        assert_eq!(identify(&words(&[0xfeed_face])).unwrap().detail, "image, cut short");
    }
}
