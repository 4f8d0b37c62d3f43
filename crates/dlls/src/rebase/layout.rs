//! Address space: what is taken of it, and where there is room.

use model::Va;
use std::collections::BTreeMap;
use std::ops::Range;

/// Windows maps images at multiples of this (its allocation granularity).
pub const SLOT: u64 = 0x1_0000;

/// Why a set of images cannot be laid out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// There is no room left.
    #[error(
        "the set is too large: there is no room left for {name} ({bytes} bytes) between {from:#x} \
         and {to:#x}"
    )]
    Full {
        /// The first image that there is no room for.
        name: String,
        /// Bytes of its slot.
        bytes: u64,
        /// Where room was looked for.
        from: Va,
        /// The end of that.
        to: Va,
    },
    /// The base is above all that an image can have.
    #[error(
        "{name} has 32-bit addresses and must be below {end:#x}, but the first base is {base:#x}"
    )]
    Above {
        /// The image.
        name: String,
        /// Where it was to be.
        base: Va,
        /// The end of the addresses that it can have.
        end: Va,
    },
    /// The base is between slots.
    #[error("the base {0:#x} is not a multiple of 64 KiB (0x10000), as bases must be")]
    Unaligned(Va),
}

/// The bytes of address space that an image takes.
pub fn slot_bytes(memory_bytes: u64) -> u64 {
    memory_bytes.div_ceil(SLOT).saturating_mul(SLOT)
}

/// The first address from here on that an image can be at.
fn next_slot(address: Va) -> Option<Va> {
    address.0.checked_next_multiple_of(SLOT).map(Va)
}

/// What is taken of the address space.
#[derive(Clone, Debug, Default)]
pub struct AddressSpace {
    /// Start and end; apart from each other.
    taken: BTreeMap<Va, Va>,
}

impl AddressSpace {
    /// Takes a range, parts of which may be taken already.
    pub fn take(&mut self, range: Range<Va>) {
        if range.is_empty() {
            return;
        }
        let Range { mut start, mut end } = range;
        while let Some((&from, &to)) = self.taken.range(..=end).next_back() {
            if to < start {
                break;
            }
            self.taken.remove(&from);
            start = start.min(from);
            end = end.max(to);
        }
        self.taken.insert(start, end);
    }

    /// The last of what is taken in a range.
    fn last_in(&self, range: &Range<Va>) -> Option<Range<Va>> {
        let (&start, &end) = self.taken.range(..range.end).next_back()?;
        (end > range.start).then_some(start..end)
    }

    /// Whether nothing of a range is taken.
    pub fn is_free(&self, range: &Range<Va>) -> bool {
        self.last_in(range).is_none()
    }

    /// The lowest place within a range for so many bytes.
    pub fn lowest(&self, bytes: u64, within: &Range<Va>) -> Option<Va> {
        let mut start = next_slot(within.start)?;
        loop {
            let end = start.checked_add(bytes).filter(|end| *end <= within.end)?;
            match self.last_in(&(start..end)) {
                None => return Some(start),
                Some(taken) => start = next_slot(taken.end)?,
            }
        }
    }

    /// The highest place within a range for so many bytes.
    pub fn highest(&self, bytes: u64, within: &Range<Va>) -> Option<Va> {
        let mut end = within.end;
        loop {
            let start = Va(end.0.checked_sub(bytes)? / SLOT * SLOT);
            if start < within.start {
                return None;
            }
            match self.last_in(&(start..start + bytes)) {
                None => return Some(start),
                Some(taken) => end = taken.start,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_that_touch_become_one() {
        let mut space = AddressSpace::default();
        for range in [10..20, 30..40, 50..60, 20..30, 5..12, 45..70] {
            space.take(Va(range.start)..Va(range.end));
        }
        assert_eq!(space.taken, BTreeMap::from([(Va(5), Va(40)), (Va(45), Va(70))]));
        space.take(Va(0)..Va(100));
        assert_eq!(space.taken, BTreeMap::from([(Va(0), Va(100))]));
    }

    proptest! {
        /// As a list of slots has it.
        #[test]
        fn room_is_found_where_there_is_some(
            taken in prop::collection::vec((0..60_u64, 0..6_u64), 0..12),
            slots in 1..6_u64,
        ) {
            let mut space = AddressSpace::default();
            let mut plain = [false; 70];
            for (start, length) in taken {
                space.take(Va(start * SLOT)..Va((start + length) * SLOT));
                (start..start + length).for_each(|slot| plain[slot as usize] = true);
            }
            let within = Va(4 * SLOT)..Va(64 * SLOT);
            let free = |start: &u64| (*start..start + slots).all(|slot| !plain[slot as usize]);
            let mut places = (4..=64 - slots).filter(free).map(|slot| Va(slot * SLOT));
            prop_assert_eq!(space.lowest(slots * SLOT, &within), places.clone().next());
            prop_assert_eq!(space.highest(slots * SLOT, &within), places.next_back());
            for slot in 0..=64 - slots {
                let range = Va(slot * SLOT)..Va((slot + slots) * SLOT);
                prop_assert_eq!(space.is_free(&range), free(&slot));
            }
        }
    }
}
