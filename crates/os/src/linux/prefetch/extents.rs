//! Where the parts of a file lie on its disk.

use std::fs::File;
use std::os::fd::AsRawFd;

/// `_IOWR('f', 11, struct fiemap)`, linux/fs.h.
const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;
/// linux/fiemap.h: the last extent of the file; a place that is not known yet.
const LAST: u32 = 1;
const UNKNOWN: u32 = 2;
const AT_ONCE: usize = 64;
/// A file in more pieces is taken for one in so many: its order matters little then.
const MOST_CALLS: usize = 64;

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct KernelExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_too: [u32; 3],
}

/// `struct fiemap` with room for extents.
#[repr(C)]
struct KernelMap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [KernelExtent; AT_ONCE],
}

/// Parts of a file that lie on its disk in one piece, in the order of the file.
#[derive(Default)]
pub(super) struct Extents(Vec<(u64, u64, u64)>);

impl Extents {
    /// Of an open file; none where the file system does not tell.
    pub(super) fn of(file: &File) -> Extents {
        let (mut found, mut start) = (Vec::new(), 0);
        for _ in 0..MOST_CALLS {
            let mut map = KernelMap {
                start,
                length: u64::MAX - start,
                flags: 0,
                mapped: 0,
                count: AT_ONCE as u32,
                reserved: 0,
                extents: [KernelExtent::default(); AT_ONCE],
            };
            // SAFETY: the structure has the kernel's layout and room for `count` extents.
            let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, &raw mut map) };
            let mut extents = map.extents.iter().take(map.mapped as usize);
            if result != 0 || map.mapped == 0 {
                break;
            }
            for extent in extents.clone().filter(|extent| extent.flags & UNKNOWN == 0) {
                found.push((extent.logical, extent.physical, extent.length));
            }
            let Some(last) = extents.next_back() else { break };
            start = last.logical.saturating_add(last.length);
            if last.flags & LAST != 0 {
                break;
            }
        }
        Extents(found)
    }

    /// Where on the disk the byte at `offset` is.
    pub(super) fn place(&self, offset: u64) -> Option<u64> {
        let behind = self.0.partition_point(|(logical, ..)| *logical <= offset);
        let (logical, physical, length) = *self.0.get(behind.checked_sub(1)?)?;
        let within = offset - logical;
        (within < length).then(|| physical.saturating_add(within))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_extent_that_holds_them() {
        let extents = Extents(vec![(0, 1000, 10), (10, 500, 5), (20, 700, 5)]);
        let place = |offset| extents.place(offset);
        assert_eq!([place(0), place(9), place(10)], [Some(1000), Some(1009), Some(500)]);
        assert_eq!([place(15), place(24), place(25)], [None, Some(704), None]);
        assert_eq!(Extents::default().place(0), None);
    }
}
