//! Rewriting one ELF file: its dynamic table, strings, version needs, relocations and words.
//!
//! What has become too large for its place goes into room that was freed, or else into one new
//! PT_LOAD segment behind the others; nothing else moves, so that no byte that code refers to is
//! anywhere else than before. Section headers are kept in agreement for the tools that go by
//! them (readelf, strip, patchelf, gdb). Formats: gABI, chapters 4 and 5, with GNU's extensions.

mod base;
mod error;
mod finish;
mod headers;
mod needs;
mod places;
mod program_table;
mod relocations;
mod sections;
mod strings;

pub use error::EditError;
pub use finish::Finished;

use crate::elf::loadable::Loadable;
use crate::elf::records::{DynamicEntry, ProgramHeader};
use crate::elf::spec;
use crate::elf::versions::VersionNeed;
use files::Overlay;
use headers::Headers;
use model::Va;
use std::ops::Range;
use strings::Strings;

/// Size of an entry of the dynamic table.
const DYNAMIC_SIZE: u64 = DynamicEntry::SIZE as u64;

/// Changes of one image, to be made by [`Edit::finish`].
pub struct Edit<'a> {
    image: &'a Loadable,
    bytes: Overlay<'a>,
    headers: Headers,
    dynamic: Vec<DynamicEntry>,
    strings: Strings<'a>,
    /// Where they have changed.
    needs: Option<Vec<VersionNeed>>,
    /// Words of DT_RELR to add.
    packed: Vec<u64>,
    /// Addresses in the file that nothing uses any more.
    spare: Vec<Range<Va>>,
}

impl<'a> Edit<'a> {
    /// An image as it is.
    ///
    /// # Errors
    /// Its headers or dynamic table are damaged, or it has none.
    pub fn of(image: &'a Loadable) -> Result<Self, EditError> {
        let bytes = Overlay::of(image.bytes());
        let headers = Headers::of(image)?;
        let table = dynamic_header(&headers)?;
        let outside = || EditError::outside("the dynamic table and the segment it is in");
        if headers.offset_of(table.address) != Some(table.offset) {
            return Err(outside());
        }
        let end = table.offset.checked_add(table.file_size);
        end.filter(|end| end.0 <= bytes.length()).ok_or_else(outside)?;
        let dynamic = image.dynamic().to_vec();
        if (dynamic.len() as u64 + 1) * DYNAMIC_SIZE > table.file_size {
            let found = "has no DT_NULL at its end".to_owned();
            return Err(EditError::Damaged { what: "the dynamic table", found });
        }
        let strings = Strings::of(image)?;
        let (packed, spare) = (Vec::new(), Vec::new());
        Ok(Edit { image, bytes, headers, dynamic, strings, needs: None, packed, spare })
    }

    /// Entries of the dynamic table, in order, without the DT_NULL at its end.
    pub fn dynamic(&self) -> &[DynamicEntry] {
        &self.dynamic
    }

    /// Replaces the dynamic table; without a DT_NULL. Addresses of tables that [`Edit::finish`]
    /// moves are put right by it.
    pub fn set_dynamic(&mut self, entries: Vec<DynamicEntry>) {
        self.dynamic = entries;
        self.dynamic.retain(|entry| entry.tag != spec::DT_NULL);
    }

    /// Value of the last entry with this tag.
    pub fn value(&self, tag: u64) -> Option<u64> {
        self.dynamic.iter().rev().find(|entry| entry.tag == tag).map(|entry| entry.value)
    }

    /// As [`Edit::value`], of a tag whose value is an address.
    pub fn address(&self, tag: u64) -> Option<Va> {
        self.value(tag).map(Va)
    }

    /// Gives the entry with this tag a value, and adds it where there is none.
    pub fn set_value(&mut self, tag: u64, value: u64) {
        match self.dynamic.iter_mut().rev().find(|entry| entry.tag == tag) {
            Some(entry) => entry.value = value,
            None => self.dynamic.push(DynamicEntry { tag, value }),
        }
    }

    /// Removes all entries with this tag.
    pub fn remove(&mut self, tag: u64) {
        self.dynamic.retain(|entry| entry.tag != tag);
    }

    /// The offset of a string in the dynamic string table, which it is added to where it is
    /// missing.
    pub fn add_string(&mut self, text: &[u8]) -> u64 {
        self.strings.add(text)
    }

    /// As [`Edit::add_string`], of a name that stands in text as [`Loadable`] gives it.
    pub fn add_name(&mut self, name: &str) -> u64 {
        self.add_string(&model::text::bytes_of(name))
    }

    /// The word at an address; `None` where the file has none.
    pub fn word(&self, address: Va) -> Option<u64> {
        let offset = self.headers.offset_of(address)?;
        self.bytes.array(offset.0).map(u64::from_le_bytes)
    }

    /// Puts a word at an address.
    ///
    /// # Errors
    /// The file has no whole word there.
    pub fn write_word(&mut self, address: Va, word: u64) -> Result<(), EditError> {
        self.write(address, &word.to_le_bytes())
    }

    /// Puts bytes at an address.
    ///
    /// # Errors
    /// The file does not have all of these addresses in one segment.
    pub fn write(&mut self, address: Va, bytes: &[u8]) -> Result<(), EditError> {
        let missing = || EditError::NotInFile { address, what: "bytes" };
        let further = (bytes.len() as u64).saturating_sub(1);
        let last = address.checked_add(further).and_then(|last| self.headers.offset_of(last));
        let offset = self.headers.offset_of(address).ok_or_else(missing)?;
        if last.and_then(|last| last.since(offset)) != Some(further) {
            return Err(missing());
        }
        self.bytes.write(offset.0, bytes).ok_or_else(missing)
    }

    /// Whether there is a section whose name begins so.
    pub fn has_section(&self, name: &[u8]) -> bool {
        let names = self.headers.sections.get(usize::from(self.headers.file.names));
        let names = names.and_then(|names| self.bytes.read(names.offset.0, names.size));
        let names = names.unwrap_or_default();
        let mut sections = self.headers.sections.iter();
        sections.any(|section| {
            names.get(section.name as usize..).is_some_and(|rest| rest.starts_with(name))
        })
    }
}

fn dynamic_header(headers: &Headers) -> Result<ProgramHeader, EditError> {
    let found = headers.programs.iter().find(|program| program.kind == spec::PT_DYNAMIC);
    let missing = "it has no dynamic table: it is static, and no loader reads it";
    found.copied().ok_or(EditError::Unsupported(missing))
}
