//! Devices are known by their names.

use std::fs::File;
use std::io;
use std::path::Path;

/// Whether it is the name of a device.
///
/// # Errors
/// None.
pub fn is_device(path: &Path) -> io::Result<bool> {
    Ok(files::is_device(path))
}

/// The terminal at which somebody types, which has no end here.
pub fn terminal(_path: &Path) -> Option<File> {
    None
}

#[cfg(test)]
mod tests {
    use crate::input::read_at_most;
    use std::path::Path;

    #[test]
    fn devices_are_refused_before_they_are_read() {
        for device in ["NUL", "con", r"C:\COM1", r"\\.\PhysicalDrive0"] {
            let error = read_at_most(Path::new(device), 1).unwrap_err().to_string();
            assert!(error.starts_with(device) && error.contains("is a device"), "{error}");
        }
    }
}
