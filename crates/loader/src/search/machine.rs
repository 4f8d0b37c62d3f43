//! The kinds of machines whose libraries can be searched for.

use image::elf::spec;

/// What glibc as Debian builds it knows of a kind of machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    /// As `uname -m` has it.
    pub name: &'static str,
    /// `e_machine` of its files.
    pub number: u16,
    /// `$LIB`, and the folder of its libraries below `/` and `/usr`.
    pub library_folder: &'static str,
    /// Flags of its libraries in the cache (`sysdeps/generic/ldconfig.h`).
    pub cache_flags: u32,
    /// What the kernel says in AT_PLATFORM.
    pub platform: Option<&'static str>,
}

const MACHINES: [Machine; 3] = [
    Machine {
        name: "x86_64",
        number: spec::EM_X86_64,
        library_folder: "lib/x86_64-linux-gnu",
        cache_flags: 0x0303,
        platform: Some("x86_64"),
    },
    Machine {
        name: "aarch64",
        number: spec::EM_AARCH64,
        library_folder: "lib/aarch64-linux-gnu",
        cache_flags: 0x0a03,
        platform: Some("aarch64"),
    },
    Machine {
        name: "riscv64",
        number: spec::EM_RISCV,
        library_folder: "lib/riscv64-linux-gnu",
        cache_flags: 0x1003,
        platform: None,
    },
];

impl Machine {
    pub(super) fn named(name: &str) -> Option<Machine> {
        MACHINES.into_iter().find(|machine| machine.name == name)
    }

    /// Where the loader looks when nothing tells it where to, each with a slash at its end.
    pub(super) fn default_folders(&self) -> Vec<Vec<u8>> {
        let own = self.library_folder;
        let folders =
            [format!("/{own}/"), format!("/usr/{own}/"), "/lib/".into(), "/usr/lib/".into()];
        folders.into_iter().map(String::into_bytes).collect()
    }
}
