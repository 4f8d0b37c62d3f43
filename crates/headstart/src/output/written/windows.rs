//! Files by their name.

use std::path::Path;

/// What Windows starts.
const PROGRAMS: [&str; 5] = ["bat", "cmd", "com", "exe", "ps1"];

/// Whether opening it may take for ever.
pub fn is_named_pipe(path: &Path) -> bool {
    let name = path.as_os_str().to_string_lossy().replace('/', r"\").to_lowercase();
    name.starts_with(r"\\.\pipe\")
}

/// Whether the name is that of a device in every folder, such as NUL.
pub fn is_named_device(path: &Path) -> bool {
    files::is_device(path)
}

/// Whether its name is that of a program.
pub fn is_program(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    path.is_file() && PROGRAMS.contains(&extension.as_str())
}
