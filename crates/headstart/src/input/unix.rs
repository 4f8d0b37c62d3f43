//! Devices are known by what stands at the path.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Whether a device is there.
///
/// # Errors
/// Nothing is there, or it is not told.
pub fn is_device(path: &Path) -> io::Result<bool> {
    let kind = path.metadata()?.file_type();
    Ok(kind.is_char_device() || kind.is_block_device())
}

/// The terminal at which somebody types, by whatever name.
pub fn terminal(path: &Path) -> Option<File> {
    let is_typed = path.starts_with("/dev") && !path.starts_with("/dev/shm");
    let file = is_typed.then(|| File::open(path).ok())??;
    file.is_terminal().then_some(file)
}

#[cfg(test)]
mod tests {
    use crate::input::{read, read_up_to};
    use std::fs::File;
    use std::io::{self, Write};
    use std::path::Path;

    #[test]
    fn devices_are_refused_before_they_are_read() {
        for device in ["/dev/zero", "/dev/urandom", "/dev/null"] {
            let error = read(Path::new(device)).unwrap_err().to_string();
            assert!(error.starts_with(device) && error.contains("is a device"), "{error}");
        }
    }

    #[test]
    fn a_pipe_is_read_to_its_end() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"bytes").unwrap();
        drop(writer);
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
        assert_eq!(read(Path::new(&path)).unwrap(), b"bytes");
    }

    /// Its size is not told.
    #[test]
    fn a_pipe_that_is_too_large_is_not_read_whole() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"12345").unwrap();
        let pipe = File::from(std::os::fd::OwnedFd::from(reader));
        assert_eq!(read_up_to(pipe, 4).unwrap(), None);
    }
}
