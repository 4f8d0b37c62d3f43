//! Why the kernel refused to execute a file, found out by looking at the file.

use crate::linux::error::LaunchError;
use crate::linux::phrases::Phrase;
use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The longest `#!` line that the kernel reads is shorter; headers and PT_INTERP come early.
const HEAD_BYTES: u64 = 4096;

/// Explains why execve of `program` failed with `source` (execve(2), "ERRORS").
pub fn explain_exec_failure(program: &Path, source: io::Error) -> LaunchError {
    let owned = || program.to_owned();
    match source.raw_os_error() {
        Some(libc::ENOENT | libc::ENOTDIR) if program.exists() => no_interpreter(program),
        Some(libc::ENOENT | libc::ENOTDIR) => LaunchError::NoSuchFile(owned()),
        Some(libc::ENOEXEC | libc::EINVAL) => wrong_format(program),
        Some(libc::ELIBBAD) => LaunchError::WrongFormat {
            program: owned(),
            found: format!(
                "its interpreter '{}' is damaged or for another processor",
                interpreter(program).unwrap_or_default()
            ),
            remedy: "install the C library it was built for".to_owned(),
        },
        Some(libc::EACCES) => refused(program),
        Some(libc::ETXTBSY) => LaunchError::Busy(owned()),
        _ => LaunchError::Start { program: owned(), source },
    }
}

/// Why the kernel would not execute `program` now, as far as the file tells; `None` where nothing
/// stands in the way.
pub fn refusal(program: &Path) -> Option<LaunchError> {
    if let Err(error) = super::check(program) {
        return Some(error);
    }
    if !may_execute(program) || is_on_noexec(program) {
        return Some(refused(program));
    }
    if File::open(program).is_err() {
        // It may be executed and not read.
        return None;
    }
    let head = head(program);
    if let Some(interpreter) = interpreter(program) {
        if !Path::new(&interpreter).exists() {
            return Some(no_interpreter(program));
        }
        if !may_execute(Path::new(&interpreter)) {
            return Some(refused(program));
        }
    }
    let own = elf_machine(&head).is_some_and(|machine| {
        head.len() >= ELF_HEADER_BYTES && (Some(machine) == own_machine() || machine == "i386")
    });
    let known = own || script_interpreter(&head).is_some() || knows_other_formats();
    (!known).then(|| wrong_format(program))
}

/// Size of `struct Elf64_Ehdr`.
const ELF_HEADER_BYTES: usize = 64;

/// Whether the kernel has been told what starts files of other formats (binfmt_misc).
fn knows_other_formats() -> bool {
    let entries = fs::read_dir("/proc/sys/fs/binfmt_misc").into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| name != "register" && name != "status")
}

fn no_interpreter(program: &Path) -> LaunchError {
    let interpreter = interpreter(program).unwrap_or_else(|| "(unknown)".to_owned());
    let remedy = if interpreter.ends_with('\r') {
        format!("its lines end in CR LF: sed -i 's/\\r$//' '{}'", program.display())
    } else if interpreter.contains("ld-linux") || interpreter.contains("ld-musl") {
        "install the C library it was built for".to_owned()
    } else {
        let name = interpreter.rsplit('/').next().unwrap_or(&interpreter);
        format!("install it or correct the path (type: command -v {name})")
    };
    let interpreter = interpreter.escape_debug().to_string();
    LaunchError::NoInterpreter { program: program.to_owned(), interpreter, remedy }
}

/// EACCES has many causes: the first one found is named.
pub(super) fn refused(program: &Path) -> LaunchError {
    let refused = |found: String, remedy: &str| LaunchError::Refused {
        program: program.to_owned(),
        found,
        remedy: remedy.to_owned(),
    };
    if let Some(folder) = closed_folder(program) {
        let found = format!("the folder '{}' may not be entered", folder.display());
        return refused(found, "run as its owner or as root");
    }
    let Ok(data) = fs::metadata(program) else {
        return refused("its status cannot be read".to_owned(), "run as its owner or as root");
    };
    if data.is_dir() {
        return LaunchError::IsDirectory(program.to_owned());
    }
    if !data.is_file() {
        return refused("it is not a regular file".to_owned(), "give the path of a program");
    }
    if is_on_noexec(program) {
        let found = "its file system is mounted with noexec".to_owned();
        return refused(found, "copy it to another one, or mount it with -o remount,exec");
    }
    if may_execute(program)
        && let Some(interpreter) = interpreter(program)
    {
        let found = format!("its interpreter '{interpreter}' is not executable");
        return refused(found, "correct the path or its permissions");
    }
    match mode(&data) {
        mode if mode & 0o111 == 0 => LaunchError::NotExecutable(program.to_owned()),
        mode => {
            let found = format!("its mode is {mode:o} and its owner user {}", data.uid());
            refused(found, "run as its owner or as root")
        }
    }
}

/// The first folder on the way that may not be entered.
fn closed_folder(program: &Path) -> Option<PathBuf> {
    let mut ways: Vec<&Path> = program.ancestors().collect();
    ways.reverse();
    let closed = ways.into_iter().find(|way| {
        let found = fs::symlink_metadata(way);
        found.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    });
    closed?.parent().map(Path::to_owned)
}

fn mode(data: &Metadata) -> u32 {
    data.permissions().mode() & 0o7777
}

/// Whether the file or folder is on a file system that programs may not be executed from.
pub fn is_on_noexec(program: &Path) -> bool {
    statvfs(program).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::NOEXEC))
}

fn may_execute(program: &Path) -> bool {
    access(program, Access::EXEC_OK).is_ok()
}

fn wrong_format(program: &Path) -> LaunchError {
    let head = head(program);
    let inspect = || format!("check it with: {}", Phrase::Inspect(program).words());
    let (found, remedy) = if fs::metadata(program).is_ok_and(|data| data.len() == 0) {
        ("the file is empty".to_owned(), "give the path of a program".to_owned())
    } else if let Some(machine) = elf_machine(&head) {
        let own = own_machine();
        if Some(machine) == own {
            let found = format!("it is an ELF file for {machine}, but damaged or not a program");
            (found, inspect())
        } else {
            let found =
                format!("it is an ELF file for {machine}, not for this machine's processor");
            (found, format!("use a build for {}", own.unwrap_or("this machine")))
        }
    } else if head.starts_with(b"MZ") {
        ("it is a Windows program".to_owned(), "run it through wine".to_owned())
    } else if head.is_empty() {
        ("it cannot be read".to_owned(), "run as its owner or as root".to_owned())
    } else if head.iter().take(64).all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
    {
        (
            "it is a text file without a '#!' line".to_owned(),
            format!("name its interpreter, for example: sh '{}'", program.display()),
        )
    } else {
        ("its format is unknown".to_owned(), "give a program built for this machine".to_owned())
    };
    LaunchError::WrongFormat { program: program.to_owned(), found, remedy }
}

/// The first bytes of a file; empty where it cannot be read.
fn head(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        // What could be read is looked at; the caller has the kernel's error.
        let _ = file.take(HEAD_BYTES).read_to_end(&mut bytes);
    }
    bytes
}

/// What the kernel starts in the program's place, from its `#!` line or PT_INTERP.
pub(in crate::linux) fn interpreter(program: &Path) -> Option<String> {
    let head = head(program);
    let of_image = || image::interpreter(program).map(|path| path.to_string_lossy().into_owned());
    script_interpreter(&head).or_else(of_image)
}

/// The interpreter of a `#!` line, without its argument. The kernel takes blanks and tabs as its
/// end, but no carriage return.
fn script_interpreter(head: &[u8]) -> Option<String> {
    let line = head.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let text = String::from_utf8_lossy(line);
    text.split([' ', '\t']).find(|word| !word.is_empty()).map(str::to_owned)
}

/// The machine named by an ELF header (e_machine in the byte order of EI_DATA, gABI chapter 4).
fn elf_machine(head: &[u8]) -> Option<&'static str> {
    const BIG_ENDIAN: u8 = 2;
    if !head.starts_with(b"\x7fELF") || head.len() < 20 {
        return None;
    }
    let machine = [head[18], head[19]];
    Some(match head[5] {
        BIG_ENDIAN => machine_name(u16::from_be_bytes(machine)),
        _ => machine_name(u16::from_le_bytes(machine)),
    })
}

fn machine_name(machine: u16) -> &'static str {
    match machine {
        3 => "i386",
        8 => "MIPS",
        20 | 21 => "PowerPC",
        22 => "S/390",
        40 => "ARM",
        62 => "x86-64",
        183 => "AArch64",
        243 => "RISC-V",
        258 => "LoongArch",
        _ => "an unknown machine",
    }
}

/// This machine's name in [`machine_name`]; `None` for one it does not know.
fn own_machine() -> Option<&'static str> {
    match std::env::consts::ARCH {
        "x86_64" => Some("x86-64"),
        "aarch64" => Some("AArch64"),
        "riscv64" => Some("RISC-V"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_interpreter_of_a_script() {
        assert_eq!(script_interpreter(b"#! /bin/x -e\n"), Some("/bin/x".to_owned()));
        assert_eq!(script_interpreter(b"#!\t/bin/x\r\n"), Some("/bin/x\r".to_owned()));
        assert_eq!(script_interpreter(b"#!\n"), None);
    }

    #[test]
    fn reads_the_machine_in_either_byte_order() {
        let header = |order: u8, machine: [u8; 2]| {
            let mut head = b"\x7fELF\x02".to_vec();
            head.push(order);
            head.resize(18, 0);
            head.extend(machine);
            head
        };
        assert_eq!(elf_machine(&header(1, [183, 0])), Some("AArch64"));
        assert_eq!(elf_machine(&header(2, [0, 22])), Some("S/390"));
        assert_eq!(elf_machine(b"\x7fELF\x02\x01"), None);
    }
}
