//! A merged module's memory as it will be before any code runs.

use super::machine::{Memory, Value};
use crate::plan::fixups::{self, Fixups};
use crate::plan::member::Member;
use image::elf::records::ProgramHeader;
use image::elf::spec;
use model::{BundleVa, Va};

/// Name of the C library's function.
const FINALIZE: &[u8] = b"__cxa_finalize";
/// Its functions to which a handle is given with what is registered.
const REGISTER: [&[u8]; 5] = [
    b"__cxa_atexit",
    b"__cxa_at_quick_exit",
    b"__cxa_thread_atexit",
    b"__cxa_thread_atexit_impl",
    b"__register_atfork",
];

/// A module, and what its relocations become.
pub(crate) struct MergedCode<'m, 'a> {
    pub(crate) member: &'m Member<'a>,
    pub(crate) fixups: &'m Fixups<'a>,
}

impl MergedCode<'_, '_> {
    /// An address of the bundle as one of the module's own.
    fn own(&self, at: BundleVa) -> Va {
        Va(at.0.wrapping_sub(self.member.base))
    }

    fn has_flag(&self, at: Va, flag: u32) -> bool {
        let part = self.member.parts.iter().find(|part| part.holds(at));
        part.is_some_and(|part| part.flags & flag != 0)
    }

    /// Whether nothing writes there but relocation.
    fn is_constant(&self, at: Va) -> bool {
        let protected = self.member.image.segment(spec::PT_GNU_RELRO);
        protected.is_some_and(|part| part.holds(at))
            || (self.has_flag(at, spec::PF_R) && !self.has_flag(at, spec::PF_W))
    }

    fn fixed_up(&self, at: BundleVa) -> Option<fixups::Value> {
        let all = &self.fixups.all;
        let found = all.binary_search_by_key(&at, |fixup| fixup.at).ok()?;
        Some(all[found].value)
    }

    /// Whether a relocation writes to some of these bytes.
    fn is_relocated(&self, at: BundleVa, size: u64) -> bool {
        let all = &self.fixups.all;
        let first = all.partition_point(|fixup| fixup.at + 8 <= at);
        all.get(first).is_some_and(|fixup| fixup.at < at + size)
    }

    /// How often code of the module has this address of its own data. Any four bytes of it may be a distance.
    pub(super) fn references_in_code(&self, place: BundleVa) -> usize {
        let is_code = |part: &&ProgramHeader| part.loads() && part.flags & spec::PF_X != 0;
        let code = self.member.image.segments().iter().filter(is_code);
        let in_code = code.map(|part| {
            let start = self.member.moved(part.address);
            distances_to(self.member.image.segment_bytes(part), start, place)
        });
        in_code.sum()
    }

    /// How many words have this address, besides that place itself.
    pub(super) fn words_with(&self, place: BundleVa) -> usize {
        let is_word = |fixup: &&fixups::Fixup| {
            fixup.value == fixups::Value::Address(place) && fixup.at != place
        };
        self.fixups.all.iter().filter(is_word).count()
    }

    /// Whether the module refers to a function that takes a handle.
    pub(super) fn registers(&self) -> bool {
        let mut symbols = self.member.image.symbols();
        symbols.any(|(_, symbol)| !symbol.defined && REGISTER.contains(&symbol.name))
    }

    /// Whether others can find this place by a name.
    pub(super) fn exports(&self, place: BundleVa) -> bool {
        let place = self.own(place);
        self.member.image.symbols().any(|(_, symbol)| symbol.defined && symbol.value == place)
    }

    /// Whether this word is its own address.
    pub(super) fn holds_own_address(&self, place: BundleVa) -> bool {
        self.fixed_up(place) == Some(fixups::Value::Address(place))
    }

    /// A word that nothing relocates: zero where the file has none.
    fn plain(&self, at: BundleVa) -> Value {
        match self.is_relocated(at, 8) {
            true => Value::Unknown,
            false => Value::Number(self.member.image.word(self.own(at)).unwrap_or(0)),
        }
    }
}

impl Memory for MergedCode<'_, '_> {
    fn code(&self, at: BundleVa) -> &[u8] {
        let at = self.own(at);
        match self.has_flag(at, spec::PF_X) && !self.has_flag(at, spec::PF_W) {
            true => self.member.image.at(at).unwrap_or(&[]),
            false => &[],
        }
    }

    fn word(&self, at: BundleVa) -> Value {
        let constant = self.is_constant(self.own(at));
        match self.fixed_up(at) {
            Some(fixups::Value::LookedUp { reference, .. }) => {
                let name = self.fixups.references.name(reference);
                if name == FINALIZE { Value::Finalize } else { Value::Unknown }
            }
            Some(fixups::Value::Address(to)) if constant || to == at => Value::Address(to),
            Some(fixups::Value::Constant(number)) if constant => Value::Number(number),
            None if constant => self.plain(at),
            _ => Value::Unknown,
        }
    }

    fn is_clear(&self, at: BundleVa) -> bool {
        let own = self.own(at);
        let first = self.member.image.at(own).and_then(|bytes| bytes.first());
        let writable = self.has_flag(own, spec::PF_W) && !self.is_constant(own);
        writable && first.copied().unwrap_or(0) == 0 && !self.is_relocated(at, 1)
    }
}

/// How many of the places in the code hold the distance from behind them to an address.
fn distances_to(code: &[u8], start: BundleVa, to: BundleVa) -> usize {
    let behind_first = start.0.wrapping_add(4);
    let expected = (to.0.wrapping_sub(behind_first)) as u32;
    let distances = code.windows(4).zip(0_u32..);
    let is_distance = |(bytes, at): &(&[u8], u32)| {
        bytes.first_chunk().map(|it| u32::from_le_bytes(*it)) == Some(expected.wrapping_sub(*at))
    };
    distances.filter(is_distance).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_found_wherever_they_stand() {
        let (start, place) = (BundleVa(0x1000), BundleVa(0x9000));
        let mut code = vec![0x90; 40];
        // lea rdx, [rip + place]
        code[5..8].copy_from_slice(&[0x48, 0x8d, 0x15]);
        let distance = (place.0 - (start.0 + 12)) as u32;
        code[8..12].copy_from_slice(&distance.to_le_bytes());
        assert_eq!(distances_to(&code, start, place), 1);
        code[36..].copy_from_slice(&(distance - 28).to_le_bytes());
        assert_eq!(distances_to(&code, start, place), 2);
        assert_eq!(distances_to(&code, start, place + 1), 0);
        assert_eq!(distances_to(&code[..3], start, place), 0);
    }
}
