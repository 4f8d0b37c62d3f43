//! Why a file has no facts.

use std::path::PathBuf;

/// Why a file has no facts.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The file cannot be opened or mapped.
    #[error("{}: {}", path.display(), unopened(path, source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder, a device, a pipe or a socket.
    #[error("{} is {found}, not a regular file; give an ELF or PE file", path.display())]
    NotAFile {
        /// What was named.
        path: PathBuf,
        /// What it is, with its article.
        found: &'static str,
    },
    /// Somebody wrote to the file, or replaced it.
    #[error("{}: it was changed while headstart read it; run the command again", .0.display())]
    Changed(PathBuf),
    /// The file does not begin as one that was asked for.
    #[error("{path} is {expected}: {found}")]
    Unrecognized {
        /// The file.
        path: String,
        /// What it is not: `not an ELF file` and so on.
        expected: &'static str,
        /// What it is instead, and what to do about it.
        found: String,
    },
    /// The file ends within its headers.
    #[error(
        "{path} is cut short: it has {bytes} bytes, and its {format} headers go on behind them; \
         copy or build it again"
    )]
    Truncated {
        /// The file.
        path: String,
        /// `ELF` or `PE`.
        format: &'static str,
        /// Size of the file.
        bytes: usize,
    },
    /// ELF, but not what a simulated loader loads.
    #[error("{0} is not a 64-bit little-endian image; only those can be simulated or rewritten")]
    NotLoadable(String),
    /// The optional header of a PE file is of no known form.
    #[error(
        "{path} has an optional header of magic number {magic:#x}, which is neither PE32 (0x10b) \
         nor PE32+ (0x20b); the file is damaged, or for a ROM"
    )]
    OptionalHeader {
        /// The file.
        path: String,
        /// The number found.
        magic: u16,
    },
    /// A PDB file cannot be read.
    #[error("{path} is damaged: {why}; link again to get another PDB file")]
    Pdb {
        /// The file.
        path: String,
        /// Why.
        why: &'static str,
    },
    /// EI_CLASS or EI_DATA have values that the ELF specification does not define.
    #[error(
        "{path} has the ELF magic number but {field} {value} at offset {offset}, which ELF does \
         not define; the file is damaged, copy or build it again"
    )]
    Undefined {
        /// The file.
        path: String,
        /// `EI_CLASS` or `EI_DATA`.
        field: &'static str,
        /// The value found.
        value: u8,
        /// Where in the file.
        offset: usize,
    },
}

fn unopened(path: &std::path::Path, source: &std::io::Error) -> String {
    let found = files::reasons::unread(path, source);
    match source.kind() {
        std::io::ErrorKind::NotFound if !found.contains(';') => format!("{found}; check the path"),
        _ => found,
    }
}

impl ImageError {
    /// Of a file that begins in another way than the one that was expected.
    pub(crate) fn unrecognized(path: &str, bytes: &[u8], expected: &Expected) -> ImageError {
        let found = describe(bytes, expected);
        ImageError::Unrecognized { path: path.to_owned(), expected: expected.not, found }
    }
}

/// What a file should have been: what it is not now, its name, and how such files begin.
pub(crate) struct Expected {
    pub(crate) not: &'static str,
    name: &'static str,
    magic: &'static str,
}

pub(crate) const ELF: Expected =
    Expected { not: "not an ELF file", name: "an ELF file", magic: "7f 45 4c 46" };
pub(crate) const PE: Expected =
    Expected { not: "not a PE file", name: "a Windows program or DLL", magic: "4d 5a" };
pub(crate) const PDB: Expected =
    Expected { not: "not a PDB file", name: "a PDB file", magic: "4d 69 63 72 6f 73 6f 66 74" };
pub(crate) const IMAGE: Expected = Expected {
    not: "neither an ELF nor a PE file",
    name: "an ELF or PE file",
    magic: "7f 45 4c 46 or 4d 5a",
};

/// What the first bytes of a file that is not what was expected say, and the next step.
fn describe(bytes: &[u8], Expected { name, magic, .. }: &Expected) -> String {
    let known = [
        (&b"#!"[..], "it begins with #!, a script; inspect the program it runs"),
        (b"!<arch>\n", "a static library; take its members out with `ar x` first"),
        (b"!<thin>\n", "a thin static library; inspect the object files it names"),
        (b"MZ", "it begins with MZ, a Windows program or DLL; name an ELF file"),
        (b"\x7fELF", "it begins as an ELF file; name a Windows program or DLL"),
        (b"\x1f\x8b", "compressed by gzip; unpack it with `gunzip` first"),
        (b"\x28\xb5\x2f\xfd", "compressed by Zstandard; unpack it with `unzstd` first"),
        (b"\xfd7zXZ", "compressed by xz; unpack it with `unxz` first"),
    ];
    if bytes.is_empty() {
        return "it is empty; copy or build it again".to_owned();
    }
    if let Some((_, text)) = known.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return (*text).to_owned();
    }
    let start: Vec<String> = bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("it begins with the bytes {} instead of {magic}; name {name}", start.join(" "))
}
