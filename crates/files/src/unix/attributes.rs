//! Extended attributes of files (xattr(7)), access lists among them.

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;

/// The system's limit for the names of all, and for the value of one.
const LARGEST: usize = 64 << 10;

/// The extended attributes that a file has at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes(BTreeMap<Vec<u8>, Vec<u8>>);

impl Attributes {
    /// Those of a file; none on file systems that have none.
    pub fn of(file: &File) -> Attributes {
        let mut names = vec![0; LARGEST];
        let size = flistxattr(file, &mut names[..]).unwrap_or(0);
        names.truncate(size);
        let value = |name: &[u8]| {
            let mut value = vec![0; LARGEST];
            let size = fgetxattr(file, name, &mut value[..]).ok()?;
            value.truncate(size);
            Some((name.to_owned(), value))
        };
        let names = names.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        Attributes(names.filter_map(value).collect())
    }

    /// Gives them to another file, which keeps those that it has besides.
    ///
    /// # Errors
    /// What the system says of attributes that users may set. It gives new files labels of its own
    /// where it does not let users set them.
    pub fn add_to(&self, file: &File) -> io::Result<()> {
        for (name, value) in &self.0 {
            let set = fsetxattr(file, &**name, value, XattrFlags::empty());
            if name.starts_with(b"user.") || name.starts_with(b"system.posix_acl") {
                set?;
            }
        }
        Ok(())
    }

    /// As [`Attributes::add_to`], where the file loses those that it has besides.
    ///
    /// # Errors
    /// As there.
    pub fn restore(&self, file: &File) -> io::Result<()> {
        for name in Attributes::of(file).0.keys().filter(|name| !self.0.contains_key(*name)) {
            // What a user may not remove is a label of the system.
            let _ = fremovexattr(file, &**name);
        }
        self.add_to(file)
    }
}
