//! The bound-import directory: what is bound to which version of which DLL.
//!
//! Format: `IMAGE_BOUND_IMPORT_DESCRIPTOR` of `winnt.h`; offsets of names count from the
//! directory's start.

use image::pe::bound::ENTRY;
use std::collections::BTreeMap;

/// An entry: a name as written, `TimeDateStamp`, and those of DLLs that are forwarded to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    pub(super) time_stamp: u32,
    pub(super) forwarders: Vec<(Vec<u8>, u32)>,
}

impl Entry {
    /// That of a DLL that is not bound to.
    pub(super) fn unbound(name: &[u8]) -> Entry {
        Entry { name: name.to_vec(), time_stamp: 0, forwarders: Vec::new() }
    }
}

/// The directory's bytes; `None` where names are farther away than an offset can say.
pub(super) fn bytes(entries: &[Entry]) -> Option<Vec<u8>> {
    let count: usize = entries.iter().map(|entry| 1 + entry.forwarders.len()).sum();
    let mut names = Names { start: (count + 1) * ENTRY, text: Vec::new(), known: BTreeMap::new() };
    let mut out = Vec::new();
    for entry in entries {
        let forwarders = u16::try_from(entry.forwarders.len()).ok()?;
        push(&mut out, entry.time_stamp, names.offset(&entry.name)?, forwarders);
        for (name, time_stamp) in &entry.forwarders {
            push(&mut out, *time_stamp, names.offset(name)?, 0);
        }
    }
    push(&mut out, 0, 0, 0);
    out.extend(names.text);
    Some(out)
}

fn push(out: &mut Vec<u8>, time_stamp: u32, name: u16, last: u16) {
    out.extend(time_stamp.to_le_bytes());
    out.extend(name.to_le_bytes());
    out.extend(last.to_le_bytes());
}

struct Names {
    start: usize,
    text: Vec<u8>,
    known: BTreeMap<Vec<u8>, u16>,
}

impl Names {
    fn offset(&mut self, name: &[u8]) -> Option<u16> {
        if let Some(known) = self.known.get(name) {
            return Some(*known);
        }
        let offset = u16::try_from(self.start + self.text.len()).ok()?;
        self.text.extend(name);
        self.text.push(0);
        self.known.insert(name.to_vec(), offset);
        Some(offset)
    }
}
