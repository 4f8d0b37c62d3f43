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
    /// The file begins neither as ELF nor as PE.
    #[error("{path} is neither an ELF nor a PE file: {found}")]
    NotAnImage {
        /// The file.
        path: String,
        /// What it is instead, and what to do about it.
        found: String,
    },
    /// The file does not begin with the ELF magic number.
    #[error("{path} is not an ELF file: {found}")]
    NotElf {
        /// The file.
        path: String,
        /// What it is instead, and what to do about it.
        found: String,
    },
    /// The file ends within its ELF header.
    #[error(
        "{path} is cut short: it has {bytes} bytes, but the ELF header alone needs {needed}; \
         copy or build it again"
    )]
    Truncated {
        /// The file.
        path: String,
        /// Size of the file.
        bytes: usize,
        /// Size of the header.
        needed: usize,
    },
    /// ELF, but not what a simulated loader loads.
    #[error("{path} is {found}; only those can be simulated or rewritten")]
    NotLoadable {
        /// The file.
        path: String,
        /// What it is.
        found: &'static str,
    },
    /// It begins as a PE file, and is not read as one.
    #[error(transparent)]
    Pe(#[from] crate::pe::PeError),
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

/// What a file should have been: its name, and how such files begin.
pub(crate) struct Wanted(&'static str, &'static str);

pub(crate) const ELF: Wanted = Wanted("an ELF file", "7f 45 4c 46");
pub(crate) const PE: Wanted = Wanted("a Windows program or DLL", "4d 5a");
pub(crate) const IMAGE: Wanted = Wanted("an ELF or PE file", "7f 45 4c 46 or 4d 5a");

/// What the first bytes of a file that is not what was wanted say, and the next step.
pub(crate) fn describe(bytes: &[u8], wanted: &Wanted) -> String {
    let Wanted(name, magic) = wanted;
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
