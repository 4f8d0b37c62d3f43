//! How far the kernel reads ahead on a device.

use model::Reading;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How far the kernel reads ahead on the device that holds `path`.
pub fn read_ahead_kib(path: &Path) -> Reading<u64> {
    let device = match fs::metadata(path) {
        Ok(data) => (libc::major(data.dev()), libc::minor(data.dev())),
        Err(error) => return Reading::unavailable(format!("{}: {error}", path.display()), ""),
    };
    device_read_ahead_kib(device).map_or_else(
        || {
            let (major, minor) = device;
            let reason =
                format!("device {major}:{minor} has no read-ahead setting in /sys/class/bdi");
            Reading::unavailable(reason, "")
        },
        Reading::Value,
    )
}

/// The same for a device by its numbers, major and minor.
pub(crate) fn device_read_ahead_kib(device: (u32, u32)) -> Option<u64> {
    let name = bdi_name(device)?;
    let text = fs::read_to_string(format!("/sys/class/bdi/{name}/read_ahead_kb"));
    text.ok()?.trim().parse().ok()
}

/// The name of a device in `/sys/class/bdi`: its numbers, or for a partition those of its disk.
pub(crate) fn bdi_name((major, minor): (u32, u32)) -> Option<String> {
    let own = format!("{major}:{minor}");
    if Path::new("/sys/class/bdi").join(&own).exists() {
        return Some(own);
    }
    let disk = fs::read_to_string(format!("/sys/dev/block/{own}/../dev")).ok()?;
    let disk = disk.trim().to_owned();
    Path::new("/sys/class/bdi").join(&disk).exists().then_some(disk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_read_ahead_is_named() {
        let found = read_ahead_kib(Path::new("/proc/self/status"));
        assert!(found.reason().unwrap().contains("/sys/class/bdi"), "{found:?}");
        let found = read_ahead_kib(Path::new("/no/such/file"));
        assert!(found.reason().unwrap().contains("/no/such/file"), "{found:?}");
    }
}
