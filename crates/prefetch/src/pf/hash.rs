//! The hash in the name of a prefetch file.

/// A function of the hash. Hexacorn, *Prefetch Hash Calculator*; libyal, *Windows Prefetch File (PF)
/// format*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PfHash {
    /// That of Windows XP and Server 2003.
    Xp,
    /// That of Windows Vista.
    Vista,
    /// That of Server 2008 and Windows 7 and later: eight bytes a step, by powers of 37. It gives what
    /// Vista's gives.
    Server2008,
}

impl PfHash {
    /// All of them.
    pub const ALL: [PfHash; 3] = [PfHash::Xp, PfHash::Vista, PfHash::Server2008];

    /// The versions of Windows that use it.
    pub fn windows(self) -> &'static str {
        match self {
            PfHash::Xp => "Windows XP, Server 2003",
            PfHash::Vista => "Windows Vista",
            PfHash::Server2008 => "Windows 7, 8, 10 and 11, Server 2008 and later",
        }
    }

    /// The hash of a device path in capital letters, as UTF-16.
    pub fn of(self, device_path: &str) -> u32 {
        let bytes: Vec<u8> = device_path.encode_utf16().flat_map(u16::to_le_bytes).collect();
        match self {
            PfHash::Xp => xp(&bytes),
            PfHash::Vista => by_bytes(SEED, &bytes),
            PfHash::Server2008 => by_eight(&bytes),
        }
    }
}

const SEED: u32 = 314_159;

fn by_bytes(seed: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(seed, |hash, byte| hash.wrapping_mul(37).wrapping_add(u32::from(*byte)))
}

fn xp(bytes: &[u8]) -> u32 {
    let hash = by_bytes(0, bytes).wrapping_mul(314_159_269);
    // The absolute value of a number with a sign.
    (hash as i32).unsigned_abs() % 1_000_000_007
}

fn by_eight(bytes: &[u8]) -> u32 {
    let mut hash = SEED;
    let mut rest = bytes;
    // The last bytes stand alone, even if there are eight of them.
    while let (Some((step, more)), true) = (rest.split_first_chunk::<8>(), rest.len() > 8) {
        let [first, between @ .., last] = step;
        let sum = by_bytes(0, between).wrapping_mul(37);
        let sum = sum.wrapping_add(u32::from(*first).wrapping_mul(442_596_621));
        let sum = sum.wrapping_add(u32::from(*last));
        hash = sum.wrapping_sub(hash.wrapping_mul(803_794_207));
        rest = more;
    }
    by_bytes(hash, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hashes_are_those_in_names_of_real_files() {
        let system = |volume: u32, name: &str| {
            format!(r"\DEVICE\HARDDISKVOLUME{volume}\WINDOWS\SYSTEM32\{name}")
        };
        for (path, hash) in [
            (system(1, "CMD.EXE"), 0x087b_4001),
            (system(1, "NOTEPAD.EXE"), 0x3363_51a9),
            (r"\DEVICE\HARDDISKVOLUME1\WINDOWS\NOTEPAD.EXE".to_owned(), 0x1895_78da),
            (r"\DEVICE\HARDDISKVOLUME1\WINDOWS\EXPLORER.EXE".to_owned(), 0x082f_38a9),
        ] {
            assert_eq!(PfHash::Xp.of(&path), hash, "{path}");
        }
        for (path, hash) in [
            (system(1, "CMD.EXE"), 0x8930_5d47),
            (system(2, "NOTEPAD.EXE"), 0xd841_4f97),
            (system(8, "CMD.EXE"), 0xd269_b812),
            (system(2, "BYTECODEGENERATOR.EXE"), 0xc1e9_bce6),
        ] {
            assert_eq!(PfHash::Vista.of(&path), hash, "{path}");
            assert_eq!(PfHash::Server2008.of(&path), hash, "{path}");
        }
    }

    proptest! {
        #[test]
        fn two_of_the_functions_are_one(path in "\\PC{0,80}") {
            prop_assert_eq!(PfHash::Vista.of(&path), PfHash::Server2008.of(&path));
        }
    }
}
