//! The bytes of an image while it is written.

use super::layout::Span;

/// The bytes of an image; offsets in the file are its addresses too.
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    /// Puts `bytes` at `at`, in what the layout has room for.
    pub(super) fn put(&mut self, at: u64, bytes: &[u8]) {
        let at = at as usize;
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Puts the record of this index into a table of such records.
    pub(super) fn entry(&mut self, table: Span, index: usize, record: &[u8]) {
        self.put(table.at + (index * record.len()) as u64, record);
    }

    pub(super) fn u32(&mut self, at: u64, value: u32) {
        self.put(at, &value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, at: u64, value: u64) {
        self.put(at, &value.to_le_bytes());
    }

    /// Several words in a row.
    pub(super) fn words(&mut self, at: u64, values: &[u64]) {
        for (index, &value) in values.iter().enumerate() {
            self.u64(at + 8 * index as u64, value);
        }
    }
}
