//! Whether a file was touched since it was looked at.

/// Which file it is, and which version of that, as far as the system tells (stat(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Device and inode, or volume and file index.
    pub identity: (u64, u64),
    pub(crate) bytes: u64,
    /// Seconds and nanoseconds.
    pub(crate) modified: (i64, i64),
    /// The same for its attributes: whoever restores the time of modification changes this.
    pub(crate) changed: (i64, i64),
}

impl Stamp {
    /// Whether it is the same file with the same data, though perhaps with another name or mode.
    pub fn has_data_of(&self, other: &Stamp) -> bool {
        Stamp { changed: other.changed, ..*self } == *other
    }
}
