//! The dynamic string table, and what is added to it.

use super::EditError;
use crate::elf::loadable::Loadable;
use crate::elf::spec;
use crate::notes::string;

pub(super) struct Strings<'a> {
    old: &'a [u8],
    added: Vec<u8>,
}

impl<'a> Strings<'a> {
    pub(super) fn of(image: &'a Loadable) -> Result<Self, EditError> {
        let missing = || EditError::outside("DT_STRTAB and DT_STRSZ");
        let address = image.dynamic_address(spec::DT_STRTAB).ok_or_else(missing)?;
        let size = image.dynamic_value(spec::DT_STRSZ).ok_or_else(missing)?;
        let size = usize::try_from(size).ok().filter(|&size| size < u32::MAX as usize / 2);
        let table = image.at(address).zip(size).and_then(|(rest, size)| rest.get(..size));
        Ok(Strings { old: table.ok_or_else(missing)?, added: Vec::new() })
    }

    /// The string at an offset.
    pub(super) fn at(&self, offset: u32) -> &[u8] {
        match u64::from(offset).checked_sub(self.old.len() as u64) {
            Some(within) => string(&self.added, within),
            None => string(self.old, offset.into()),
        }
    }

    /// The offset of a string, which may be the end of a longer one.
    pub(super) fn add(&mut self, text: &[u8]) -> u64 {
        let mut ended = text.to_vec();
        ended.push(0);
        for (table, start) in [(self.old, 0), (self.added.as_slice(), self.old.len())] {
            if let Some(at) = table.windows(ended.len()).position(|window| window == ended) {
                return (start + at) as u64;
            }
        }
        let at = self.old.len() + self.added.len();
        self.added.extend(ended);
        at as u64
    }

    /// The whole new table, where there is more in it than before.
    pub(super) fn grown(&self) -> Option<Vec<u8>> {
        (!self.added.is_empty()).then(|| [self.old, &self.added].concat())
    }
}
