//! From what the user typed to a file the kernel can execute, with an error that helps.

use super::error::LaunchError;
use model::Command;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Resolves `argv[0]` along PATH and checks what can be checked before a launch.
pub fn resolve(argv: &[String]) -> Result<Command, LaunchError> {
    let name = argv.first().map_or("", String::as_str);
    let program = find(name)?;
    check(&program)?;
    Ok(Command { argv: argv.to_vec(), program, directory: None, environment: Vec::new() })
}

/// The path of `name`: itself where it holds a slash, else the first executable along PATH.
fn find(name: &str) -> Result<PathBuf, LaunchError> {
    if name.contains('/') {
        return Ok(PathBuf::from(name));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut not_executable = None;
    for folder in std::env::split_paths(&path).filter(|_| !name.is_empty()) {
        let candidate = folder.join(name);
        match fs::metadata(&candidate) {
            Ok(data) if data.is_file() && data.permissions().mode() & 0o111 != 0 => {
                return Ok(candidate);
            }
            Ok(data) if data.is_file() => not_executable = Some(candidate),
            _ => {}
        }
    }
    Err(match not_executable {
        Some(candidate) => LaunchError::NotExecutable(candidate),
        None => LaunchError::NotFound(name.to_owned()),
    })
}

fn check(program: &Path) -> Result<(), LaunchError> {
    let data = match fs::metadata(program) {
        Ok(data) => data,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(LaunchError::NoSuchFile(program.to_owned()));
        }
        Err(source) => return Err(LaunchError::Start { program: program.to_owned(), source }),
    };
    if data.is_dir() {
        return Err(LaunchError::IsDirectory(program.to_owned()));
    }
    if data.permissions().mode() & 0o111 == 0 {
        return Err(LaunchError::NotExecutable(program.to_owned()));
    }
    Ok(())
}

/// Explains why execve of `program` failed with `source`, by looking at the file.
pub fn explain_exec_failure(program: &Path, source: std::io::Error) -> LaunchError {
    let head = head(program);
    match source.raw_os_error() {
        Some(libc::ENOENT) if program.exists() => {
            let interpreter = script_interpreter(&head)
                .or_else(|| elf_interpreter(program))
                .unwrap_or_else(|| "(unknown)".to_owned());
            LaunchError::NoInterpreter {
                program: program.to_owned(),
                remedy: interpreter_remedy(&interpreter),
                interpreter,
            }
        }
        Some(libc::ENOEXEC) => wrong_format(program, &head),
        Some(libc::EACCES) => LaunchError::NotExecutable(program.to_owned()),
        _ => LaunchError::Start { program: program.to_owned(), source },
    }
}

fn interpreter_remedy(interpreter: &str) -> String {
    if interpreter.contains("ld-linux") || interpreter.contains("ld-musl") {
        "install the C library it was built for".to_owned()
    } else {
        format!("install it or correct the path (type: command -v {})", file_name(interpreter))
    }
}

fn wrong_format(program: &Path, head: &[u8]) -> LaunchError {
    let (found, remedy) = if head.is_empty() {
        ("the file is empty".to_owned(), "name a program".to_owned())
    } else if let Some(machine) = elf_machine(head) {
        (
            format!("it is an ELF file for {machine}, damaged or for another processor"),
            format!("check it with: headstart inspect '{}'", program.display()),
        )
    } else if head.starts_with(b"MZ") {
        ("it is a Windows program".to_owned(), "run it through wine".to_owned())
    } else if head.iter().take(64).all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
    {
        (
            "it is a text file without a '#!' line".to_owned(),
            format!("name its interpreter, for example: sh '{}'", program.display()),
        )
    } else {
        ("its format is unknown".to_owned(), "name a program of this machine".to_owned())
    };
    LaunchError::WrongFormat { program: program.to_owned(), found, remedy }
}

/// The first bytes of a file; empty where it cannot be read.
fn head(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        // A file that cannot be read is described as empty; the caller has the kernel's error.
        let _ = file.take(4096).read_to_end(&mut bytes);
    }
    bytes
}

/// The interpreter of a `#!` line, without its argument.
fn script_interpreter(head: &[u8]) -> Option<String> {
    let line = head.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let text = String::from_utf8_lossy(line);
    text.split_whitespace().next().map(str::to_owned)
}

/// PT_INTERP, looked for as text: the file was already refused, so its tables are not trusted.
fn elf_interpreter(path: &Path) -> Option<String> {
    let head = head(path);
    if !head.starts_with(b"\x7fELF") {
        return None;
    }
    let strings = head.split(|&byte| byte == 0);
    let mut paths = strings.filter(|bytes| bytes.starts_with(b"/") && bytes.len() > 4);
    paths.next().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// The machine named by an ELF header (e_machine, gABI chapter 4).
fn elf_machine(head: &[u8]) -> Option<&'static str> {
    if !head.starts_with(b"\x7fELF") || head.len() < 20 {
        return None;
    }
    Some(match u16::from_le_bytes([head[18], head[19]]) {
        3 => "i386",
        40 => "ARM",
        62 => "x86-64",
        183 => "AArch64",
        243 => "RISC-V",
        _ => "an unknown machine",
    })
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(program: &str) -> Vec<String> {
        vec![program.to_owned()]
    }

    #[test]
    fn finds_programs_along_path_and_names_what_is_missing() {
        assert!(resolve(&argv("sh")).unwrap().program.is_absolute());
        assert!(matches!(resolve(&argv("no-such-program-x")), Err(LaunchError::NotFound(_))));
        assert!(matches!(resolve(&argv("")), Err(LaunchError::NotFound(_))));
        assert!(matches!(resolve(&argv("/no/such")), Err(LaunchError::NoSuchFile(_))));
        assert!(matches!(resolve(&argv("/tmp")), Err(LaunchError::IsDirectory(_))));
        assert!(matches!(resolve(&argv("/etc/passwd")), Err(LaunchError::NotExecutable(_))));
    }

    #[test]
    fn reads_the_interpreter_of_a_script() {
        assert_eq!(script_interpreter(b"#! /bin/x -e\n"), Some("/bin/x".to_owned()));
        assert_eq!(script_interpreter(b"#!\n"), None);
    }
}
