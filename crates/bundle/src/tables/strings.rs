//! String tables.

use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// A string table (gABI, chapter 4): each string once, unless two have the same hash.
pub(crate) struct Strings {
    pub(crate) bytes: Vec<u8>,
    /// Where the last string of a hash is.
    known: FxHashMap<u64, u32>,
}

impl Strings {
    pub(crate) fn new() -> Strings {
        Strings { bytes: vec![0], known: FxHashMap::default() }
    }

    /// The offset of a string.
    pub(crate) fn add(&mut self, text: &[u8]) -> u32 {
        if text.is_empty() {
            return 0;
        }
        let hash = FxBuildHasher.hash_one(text);
        if let Some(&at) = self.known.get(&hash)
            && self.is_at(at, text)
        {
            return at;
        }
        let at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text);
        self.bytes.push(0);
        self.known.insert(hash, at);
        at
    }

    fn is_at(&self, at: u32, text: &[u8]) -> bool {
        self.bytes[at as usize..].strip_prefix(text).is_some_and(|rest| rest.first() == Some(&0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_string_is_there_once() {
        let mut strings = Strings::new();
        assert_eq!(
            ["", "ab", "a", "ab", "b", ""].map(|text| strings.add(text.as_bytes())),
            [0, 1, 4, 1, 6, 0]
        );
        assert_eq!(strings.bytes, b"\0ab\0a\0b\0");
    }

    #[test]
    fn another_string_of_the_same_hash_is_added() {
        let mut strings = Strings::new();
        strings.add(b"one");
        strings.known.insert(FxBuildHasher.hash_one(b"two".as_slice()), 1);
        assert_eq!((strings.add(b"two"), strings.add(b"two")), (5, 5));
    }
}
