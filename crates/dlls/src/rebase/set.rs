//! A set of images, laid out without collisions.

use super::layout::{AddressSpace, LayoutError, SLOT, slot_bytes};
use super::moving::Examined;
use model::Va;
use std::ops::Range;

/// Where images go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// One behind the other, from here upwards.
    From(Va),
    /// Where linkers and systems put nothing; whatever collides with nothing stays.
    Auto,
    /// Where Cygwin and MSYS2 programs can fork.
    Cygwin,
}

/// What becomes of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mobility {
    /// It is moved where that is needed.
    Moves,
    /// It stays, and the others keep clear of it.
    Stays,
}

/// An image of a set.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its name, for errors.
    pub name: String,
    /// Its preferred base.
    pub base: Va,
    /// Bytes from its base to its end.
    pub memory_bytes: u64,
    /// The end of the addresses that it can be at.
    pub address_end: Va,
    /// Whether it may be moved.
    pub mobility: Mobility,
    /// The addresses that are kept for it, where a database has some.
    pub recorded: Option<Range<Va>>,
}

/// Where an image goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Its preferred base from now on.
    pub base: Va,
    /// Bytes that are its own from there.
    pub slot_bytes: u64,
    /// It stays, and another one that stays is there too.
    pub collides: bool,
}

/// 4 GiB: images that must be below it have addresses of 32 bits.
const END_32_BIT: Va = Va(1 << 32);
/// What programs that are not LARGEADDRESSAWARE have.
const USUAL_END_32_BIT: Va = Va(1 << 31);

/// Where linkers put images unless they are told otherwise (Microsoft's, lld, ld without
/// --enable-auto-image-base): sooner or later something else is there.
const DEFAULTS: [Va; 5] =
    [Va(0), Va(0x40_0000), Va(0x1000_0000), Va(0x1_4000_0000), Va(0x1_8000_0000)];

/// No second choice.
const NOWHERE: Range<Va> = Va(0)..Va(0);
/// 32 bits: above programs, their heaps and linkers' defaults, below systems' own libraries.
const AUTO_32_BIT: [Range<Va>; 2] =
    [Va(0x3000_0000)..Va(0x7000_0000), Va(0x1100_0000)..Va(0x3000_0000)];
/// 64 bits: above what Cygwin, linkers and Wine use, below stacks and what Linux maps.
const AUTO_64_BIT: [Range<Va>; 2] = [Va(0x20_0000_0000)..Va(0x40_0000_0000), NOWHERE];
/// As rebaseall has it: from here downwards. Windows 10 moves what is below 0x3800_0000.
const CYGWIN_32_BIT: [Range<Va>; 2] = [Va(0x3800_0000 + SLOT)..Va(0x7000_0000), NOWHERE];
/// As rebaseall has it: downwards; above the 2 GiB of the Cygwin DLL.
const CYGWIN_64_BIT: [Range<Va>; 2] = [Va(0x2_0000_0000 + SLOT)..Va(0x4_0000_0000), NOWHERE];
/// The Cygwin DLL, its shared memory before it, and room for it to grow.
const CYGWIN_OWN: [Range<Va>; 2] =
    [Va(0x60fc_0000)..Va(0x6180_0000), Va(0x1_8000_0000)..Va(0x2_0000_0000)];

/// Whether a file is the DLL that Cygwin or MSYS2 consist of, which has its own place.
pub fn is_cygwin_runtime(name: &str) -> bool {
    ["cygwin1.dll", "msys-2.0.dll", "msys-1.0.dll"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

impl Candidate {
    /// One that was examined.
    pub fn of(name: String, examined: &Examined, mobility: Mobility) -> Candidate {
        Candidate {
            name,
            base: examined.base,
            memory_bytes: examined.memory_bytes,
            address_end: examined.address_end,
            mobility,
            recorded: None,
        }
    }

    fn is_32_bit(&self) -> bool {
        self.address_end <= END_32_BIT
    }

    /// Its own slot; what was recorded may be larger.
    fn slot_bytes(&self) -> u64 {
        let recorded = self.recorded.as_ref().map_or(0, |kept| kept.end - kept.start);
        slot_bytes(self.memory_bytes).max(recorded)
    }
}

impl Policy {
    /// Where there may be room, and whether it is looked for from the end.
    fn bands(self, candidate: &Candidate) -> ([Range<Va>; 2], bool) {
        match (self, candidate.is_32_bit()) {
            (Policy::From(base), _) => ([base..candidate.address_end.max(base), NOWHERE], false),
            (Policy::Auto, true) => (AUTO_32_BIT, false),
            (Policy::Auto, false) => (AUTO_64_BIT, false),
            (Policy::Cygwin, true) => (CYGWIN_32_BIT, true),
            (Policy::Cygwin, false) => (CYGWIN_64_BIT, true),
        }
    }

    /// Whether an image may stay where it is, if nothing else is there.
    fn allows(self, candidate: &Candidate, range: &Range<Va>) -> bool {
        match self {
            Policy::From(_) => false,
            Policy::Auto => {
                let end = if candidate.is_32_bit() { USUAL_END_32_BIT } else { Va(u64::MAX) };
                !DEFAULTS.contains(&range.start) && range.end <= end
            }
            Policy::Cygwin => {
                let (bands, _) = self.bands(candidate);
                bands.iter().any(|band| band.start <= range.start && range.end <= band.end)
            }
        }
    }
}

/// Places all images of a set: those that stay first, then those with a recorded place, then those
/// that may stay where they are, then the rest in order. `taken` is kept clear of.
///
/// # Errors
/// The base is not one, or there is no room.
pub fn lay_out(
    set: &[Candidate],
    taken: &[Range<Va>],
    policy: Policy,
) -> Result<Vec<Placement>, LayoutError> {
    if let Policy::From(base) = policy
        && !base.0.is_multiple_of(SLOT)
    {
        return Err(LayoutError::Unaligned(base));
    }
    let mut places = vec![None; set.len()];
    let mut space = AddressSpace::default();
    stay(set, &mut places, &mut space);
    taken.iter().for_each(|range| space.take(range.clone()));
    if policy == Policy::Cygwin {
        CYGWIN_OWN.into_iter().for_each(|range| space.take(range));
    }
    for (candidate, place) in moving(set, &mut places) {
        let recorded = candidate.recorded.as_ref().filter(|kept| {
            slot_bytes(candidate.memory_bytes) <= kept.end - kept.start
                && kept.start.saturating_add(candidate.memory_bytes) <= candidate.address_end
        });
        *place = recorded.and_then(|kept| take(candidate, kept.start, &mut space));
    }
    for (candidate, place) in moving(set, &mut places) {
        let range = candidate.base..candidate.base.saturating_add(candidate.slot_bytes());
        if candidate.recorded.is_none() && policy.allows(candidate, &range) {
            *place = take(candidate, candidate.base, &mut space);
        }
    }
    for (candidate, place) in moving(set, &mut places) {
        *place = Some(find(candidate, &mut space, policy)?);
    }
    Ok(places.into_iter().flatten().collect())
}

/// Images that stay are where they are, be it two at one place.
fn stay(set: &[Candidate], places: &mut [Option<Placement>], space: &mut AddressSpace) {
    for (candidate, place) in set.iter().zip(places) {
        if candidate.mobility == Mobility::Stays {
            let slot_bytes = slot_bytes(candidate.memory_bytes);
            let range = candidate.base..candidate.base.saturating_add(slot_bytes);
            let collides = !space.is_free(&range);
            space.take(range);
            *place = Some(Placement { base: candidate.base, slot_bytes, collides });
        }
    }
}

/// Images without a place.
fn moving<'a>(
    set: &'a [Candidate],
    places: &'a mut [Option<Placement>],
) -> impl Iterator<Item = (&'a Candidate, &'a mut Option<Placement>)> {
    set.iter().zip(places).filter(|(_, place)| place.is_none())
}

/// Takes a place, if it is one, and free.
fn take(candidate: &Candidate, base: Va, space: &mut AddressSpace) -> Option<Placement> {
    let slot_bytes = candidate.slot_bytes();
    let range = base..base.checked_add(slot_bytes)?;
    if !base.0.is_multiple_of(SLOT) || !space.is_free(&range) {
        return None;
    }
    space.take(range);
    Some(Placement { base, slot_bytes, collides: false })
}

fn find(
    candidate: &Candidate,
    space: &mut AddressSpace,
    policy: Policy,
) -> Result<Placement, LayoutError> {
    if let Policy::From(base) = policy
        && base >= candidate.address_end
        && candidate.is_32_bit()
    {
        let (name, end) = (candidate.name.clone(), candidate.address_end);
        return Err(LayoutError::Above { name, base, end });
    }
    // What was recorded has become too small, or is somebody else's now.
    let slot_bytes = slot_bytes(candidate.memory_bytes);
    let (bands, downwards) = policy.bands(candidate);
    let base = bands.iter().find_map(|band| match downwards {
        true => space.highest(slot_bytes, band),
        false => space.lowest(slot_bytes, band),
    });
    let used = || bands.iter().filter(|band| **band != NOWHERE);
    let base = base.ok_or_else(|| LayoutError::Full {
        name: candidate.name.clone(),
        bytes: slot_bytes,
        from: used().map(|band| band.start).min().unwrap_or(Va(0)),
        to: used().map(|band| band.end).max().unwrap_or(Va(0)),
    })?;
    space.take(base..base + slot_bytes);
    Ok(Placement { base, slot_bytes, collides: false })
}

#[cfg(test)]
mod tests;
