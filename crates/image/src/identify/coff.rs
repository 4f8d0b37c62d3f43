//! Object files for Windows. They have no magic number, so that several fields must fit.
//! Microsoft, *PE Format*, *COFF File Header (Object and Image)*, *Import Header*.

use super::fields::Fields;
use model::{FileKind, Identity, Role};
use object::pe;

const HEADER: usize = 20;
const SECTION: usize = 40;
/// IMAGE_FILE_EXECUTABLE_IMAGE and IMAGE_FILE_DLL.
const IMAGE_FLAGS: u16 = 0x2002;

/// Machines that there are object files for today; more would be found in other data by chance.
const MACHINES: [pe::Machine; 8] = [
    pe::IMAGE_FILE_MACHINE_I386,
    pe::IMAGE_FILE_MACHINE_AMD64,
    pe::IMAGE_FILE_MACHINE_ARM,
    pe::IMAGE_FILE_MACHINE_ARMNT,
    pe::IMAGE_FILE_MACHINE_ARM64,
    pe::IMAGE_FILE_MACHINE_ARM64EC,
    pe::IMAGE_FILE_MACHINE_ARM64X,
    pe::IMAGE_FILE_MACHINE_RISCV64,
];

/// What is known of an object file; `None` for others.
pub(super) fn identify(start: &[u8]) -> Option<Identity> {
    let fields = Fields::little(start);
    let (machine, what) = match fields.u32(0)? {
        // No machine and all ones: a version and the machine follow.
        0xffff_0000 => match fields.u16(4)? {
            0 => (fields.u16(6)?, "import object"),
            _ => (fields.u16(6)?, "object file"),
        },
        _ => (plain(fields)?, "object file"),
    };
    let machine = MACHINES.contains(&pe::Machine(machine)).then(|| crate::pe::machine(machine))?;
    Some(Identity {
        kind: FileKind::Coff,
        detail: format!("{what}, {machine}"),
        role: Some(Role::Object),
        machine: Some(machine),
        ..Identity::default()
    })
}

/// The machine, where all else is as in an object file.
fn plain(fields: Fields) -> Option<u16> {
    let sections = usize::from(fields.u16(2)?);
    let (symbols, symbol_count) = (fields.u32(8)? as usize, fields.u32(12)?);
    let has_optional_header = fields.u16(16)? != 0;
    let is_image = fields.u16(18)? & IMAGE_FLAGS != 0;
    let end = HEADER + SECTION * sections;
    let symbols_fit = if symbol_count == 0 { symbols == 0 } else { symbols >= end };
    let contents = fields.u32(HEADER + 20)? as usize;
    let contents_fit = contents == 0 || contents >= end;
    let fits = sections > 0 && !has_optional_header && !is_image && symbols_fit && contents_fit;
    fits.then(|| fields.u16(0))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halves(halves: &[u16]) -> Vec<u8> {
        halves.iter().flat_map(|half| half.to_le_bytes()).collect()
    }

    fn detail(start: &[u8]) -> Option<String> {
        identify(start).map(|identity| identity.detail)
    }

    #[test]
    fn objects_of_all_forms() {
        // Machine, a section; where symbols are, their number; no optional header, no flags.
        let mut object = halves(&[0x8664, 1, 0, 0, 300, 0, 2, 0, 0, 0]);
        object.resize(HEADER + SECTION, 0);
        object[HEADER + 20] = 60;
        assert_eq!(detail(&object).as_deref(), Some("object file, x86_64"));
        assert_eq!(detail(&halves(&[0, 0xffff, 0, 0x14c])).as_deref(), Some("import object, i386"));
        let large = halves(&[0, 0xffff, 2, 0xaa64]);
        assert_eq!(detail(&large).as_deref(), Some("object file, aarch64"));
    }

    #[test]
    fn other_data_is_none() {
        let mut object = halves(&[0x8664, 1, 0, 0, 300, 0, 2, 0, 0, 0]);
        object.resize(HEADER + SECTION, 0);
        for (at, value) in [(0, 1), (2, 0), (8, 9), (16, 1), (18, 2), (HEADER + 20, 3)] {
            let mut other = object.clone();
            other[at] = value;
            other[at + 1] = 0;
            assert_eq!(detail(&other), None, "{at}");
        }
        for length in 0..object.len() {
            assert!(length > HEADER + 20 || detail(&object[..length]).is_none());
        }
        assert_eq!(detail(&halves(&[0, 0xffff, 0, 0x1234])), None);
    }
}
