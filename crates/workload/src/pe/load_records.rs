//! What the program of [`super::loads`] writes for each load: notices of the modules that were loaded and unloaded,
//! then a record. Each has a header of fixed size, followed by a path in UTF-16.

use super::loads::PATH_CHARACTERS;
use super::notices::NAME_LIMIT;

/// What begins a record, so that what libraries print is told from records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadMark(pub [u8; 16]);

impl LoadMark {
    /// What begins a notice.
    pub(super) fn of_notices(self) -> [u8; 16] {
        self.0.map(|byte| !byte)
    }
}

/// Bytes of a record without its path.
pub(super) const RECORD_BYTES: u32 = 96;

/// Where fields are in a record. All numbers are little-endian.
pub(super) mod field {
    /// Of the load, from 0; `u64::MAX` in the record before the first.
    pub(in super::super) const NUMBER: u32 = 16;
    /// Ticks of the performance counter.
    pub(in super::super) const BEFORE: u32 = 24;
    pub(in super::super) const AFTER: u32 = 32;
    /// Ticks in a second.
    pub(in super::super) const FREQUENCY: u32 = 40;
    /// The library; 0 where it was not loaded.
    pub(in super::super) const LIBRARY: u32 = 48;
    /// GetLastError, 32 bits.
    pub(in super::super) const ERROR: u32 = 56;
    /// Characters of the path, 32 bits.
    pub(in super::super) const CHARACTERS: u32 = 60;
    /// Eight bytes for each module, 32 bits.
    pub(in super::super) const MODULES_BEFORE: u32 = 64;
    pub(in super::super) const MODULES_AFTER: u32 = 68;
    /// Room for WriteFile's answer.
    pub(in super::super) const WRITTEN: u32 = 72;
    /// The status of LdrRegisterDllNotification, 32 bits: 0 if the loader reports modules.
    pub(in super::super) const REGISTRATION: u32 = 80;
    /// How many notices were written since the last record, and how many were dropped for lack of room; 32 bits
    /// each.
    pub(in super::super) const NOTICES: u32 = 84;
    pub(in super::super) const LOST: u32 = 88;
    /// The thread that loads, 32 bits.
    pub(in super::super) const THREAD: u32 = 92;
}

/// Where fields are in a notice.
pub(super) mod notice {
    /// Ticks of the performance counter.
    pub(in super::super) const TICKS: u32 = 16;
    /// Base address of the module.
    pub(in super::super) const BASE: u32 = 24;
    /// Why there is a notice: 1, the module was loaded; 2, it is being unloaded; 32 bits.
    pub(in super::super) const REASON: u32 = 32;
    /// The thread, 32 bits.
    pub(in super::super) const THREAD: u32 = 36;
    /// Bytes of the path, and how many of them were kept, 32 bits each.
    pub(in super::super) const LENGTH: u32 = 40;
    pub(in super::super) const KEPT: u32 = 44;
    /// Bytes of a notice without its path.
    pub(in super::super) const BYTES: u32 = 48;
}

/// One load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadRecord {
    /// Of the load, from 0; none in the record before the first.
    pub number: Option<usize>,
    /// How long it took.
    pub us: f64,
    /// GetLastError; none where the library was loaded.
    pub error: Option<u32>,
    /// Modules that came into the process during the load: those of `arrivals` or, if these are not known, how
    /// many more there are after the load than before.
    pub modules: u64,
    /// These modules, in the order in which the loader reported them, including those that were unloaded again;
    /// `None` if it reported nothing, or more than there was room for.
    pub arrivals: Option<Vec<ModuleArrival>>,
    /// Whether some of what the loader reported was lost.
    pub lost: bool,
    /// Modules that came between the previous load and this one, or behind this one.
    pub between: u64,
    /// How many of `arrivals` had been mapped before: a load that failed may leave modules that the library needs,
    /// and the loader reports these when they are loaded again.
    pub mapped_before: u64,
    /// The library's path as Windows knows it.
    pub path: Vec<u16>,
    /// Whether `path` is complete.
    pub has_whole_path: bool,
}

/// A module that came into the process.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleArrival {
    /// Its path as the loader reports it.
    pub path: Vec<u16>,
    /// Whether `path` is complete.
    pub is_whole: bool,
    /// When the loader reported it, counted from the start of the load.
    pub at_us: f64,
    /// When the loader reported that it was unloaded again, if that was before the end of the load.
    pub left_at_us: Option<f64>,
    /// Whether it was loaded by a thread other than the one that loads the list.
    pub by_other_thread: bool,
}

/// What the loader has reported about one module.
struct Notice {
    ticks: u64,
    base: u64,
    reason: u32,
    thread: u32,
    is_whole: bool,
    path: Vec<u16>,
}

/// The records in what the program has written, in their order; what is not one is skipped.
pub fn records(bytes: &[u8], mark: LoadMark) -> Vec<LoadRecord> {
    let of_notices = mark.of_notices();
    let (mut found, mut notices) = (Vec::new(), Vec::new());
    let mut last_after = 0;
    let mut rest = bytes;
    let is_mark = |window: &[u8]| window == mark.0 || window == of_notices;
    while let Some(at) = rest.windows(mark.0.len()).position(is_mark) {
        let behind = &rest[at..];
        let size = if behind.starts_with(&of_notices) {
            notice(behind).map(|(notice, size)| {
                notices.push(notice);
                size
            })
        } else {
            record(behind, &notices, last_after).map(|(record, after, size)| {
                found.push(record);
                last_after = after;
                notices.clear();
                size
            })
        };
        rest = &behind[size.unwrap_or(mark.0.len())..];
    }
    found
}

/// Reads little-endian numbers at offsets; `None` where there are too few bytes.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn four(&self, at: u32) -> Option<u32> {
        Some(u32::from_le_bytes(*self.0.get(at as usize..)?.first_chunk()?))
    }

    fn eight(&self, at: u32) -> Option<u64> {
        Some(u64::from_le_bytes(*self.0.get(at as usize..)?.first_chunk()?))
    }

    /// UTF-16 of this many bytes, and where it ends.
    fn text(&self, at: u32, bytes: u32) -> Option<(Vec<u16>, usize)> {
        let end = (at as usize).checked_add(bytes as usize)?;
        let (units, _) = self.0.get(at as usize..end)?.as_chunks::<2>();
        Some((units.iter().map(|unit| u16::from_le_bytes(*unit)).collect(), end))
    }
}

/// The notice at the beginning of `bytes` and its size; `None` if it is not whole.
fn notice(bytes: &[u8]) -> Option<(Notice, usize)> {
    let fields = Fields(bytes);
    let kept = fields.four(notice::KEPT).filter(|kept| *kept <= NAME_LIMIT && kept % 2 == 0)?;
    let (path, size) = fields.text(notice::BYTES, kept)?;
    let notice = Notice {
        ticks: fields.eight(notice::TICKS)?,
        base: fields.eight(notice::BASE)?,
        reason: fields.four(notice::REASON)?,
        thread: fields.four(notice::THREAD)?,
        is_whole: fields.four(notice::LENGTH)? == kept,
        path,
    };
    Some((notice, size))
}

/// The record at the beginning of `bytes`, the tick at which its load ended, and its size; `None` if it is not whole.
/// `notices`: those since the previous record, whose load ended at `last_after`.
fn record(bytes: &[u8], notices: &[Notice], last_after: u64) -> Option<(LoadRecord, u64, usize)> {
    let fields = Fields(bytes);
    let characters =
        fields.four(field::CHARACTERS).filter(|characters| *characters <= PATH_CHARACTERS)?;
    let (mut path, size) = fields.text(RECORD_BYTES, 2 * characters)?;
    // Windows ends a path that it cuts off with a NUL, and Wine does not.
    path.pop_if(|last| *last == 0);
    let clock = Clock {
        before: fields.eight(field::BEFORE)?,
        after: fields.eight(field::AFTER)?,
        frequency: fields.eight(field::FREQUENCY)?,
    };
    let loaded = fields.eight(field::LIBRARY)? != 0;
    let lost = fields.four(field::LOST)? != 0;
    let are_all = fields.four(field::NOTICES)? as usize == notices.len() && !lost;
    let is_told = fields.four(field::REGISTRATION)? == 0 && are_all;
    let thread = fields.four(field::THREAD)?;
    let came = is_told.then(|| came(notices, &clock, thread));
    let more = more(fields.four(field::MODULES_BEFORE)?, fields.four(field::MODULES_AFTER)?);
    // The modules are counted outside of the load: what other threads do meanwhile is in those counts, too.
    let is_quiet = notices.iter().all(|notice| notice.thread == thread);
    let unreported = |came: &Came| more.filter(|_| is_quiet).map_or(0, |more| more - came.more);
    // A library has the callback unregistered, or loads a DLL in a way that is not reported.
    let came = came.filter(|came| !loaded || unreported(came) <= 0);
    let mapped_before = came
        .as_ref()
        .map_or(0, |came| (-unreported(came)).clamp(0, came.arrivals.len() as i64) as u64);
    let arrivals = came.map(|came| came.arrivals);
    // One that was stored too late for the previous record is counted in it as lost.
    let is_between = |notice: &&Notice| {
        notice.reason == CAME && notice.ticks > last_after && !clock.is_within(notice)
    };
    let number = usize::try_from(fields.eight(field::NUMBER)?).ok();
    let record = LoadRecord {
        number: number.filter(|number| *number != usize::MAX),
        us: clock.us(clock.after),
        error: if loaded { None } else { Some(fields.four(field::ERROR)?) },
        modules: match &arrivals {
            Some(arrivals) => arrivals.len() as u64,
            None => more.unwrap_or(0).max(0) as u64,
        },
        arrivals,
        lost,
        between: notices.iter().filter(is_between).count() as u64,
        mapped_before,
        // Without a library, it is the path of the program itself.
        path: if loaded { path } else { Vec::new() },
        // A path that is cut off fills all the room.
        has_whole_path: characters < PATH_CHARACTERS,
    };
    Some((record, clock.after, size))
}

/// How many more modules there are, from the bytes of all modules' handles; a process always has some.
fn more(before: u32, after: u32) -> Option<i64> {
    let is_known = before != 0 && after != 0;
    is_known.then(|| i64::from(after / 8) - i64::from(before / 8))
}

/// When a load was, in ticks.
struct Clock {
    before: u64,
    after: u64,
    /// Ticks in a second.
    frequency: u64,
}

impl Clock {
    /// Microseconds from the start of the load to `ticks`.
    fn us(&self, ticks: u64) -> f64 {
        ticks.saturating_sub(self.before) as f64 * 1e6 / self.frequency.max(1) as f64
    }

    fn is_within(&self, notice: &Notice) -> bool {
        (self.before..=self.after).contains(&notice.ticks)
    }
}

/// `LDR_DLL_NOTIFICATION_REASON_LOADED` and `LDR_DLL_NOTIFICATION_REASON_UNLOADED`.
const CAME: u32 = 1;
const GOES: u32 = 2;

/// What came during a load.
struct Came {
    arrivals: Vec<ModuleArrival>,
    /// How many more modules there are after the load than before, if all of these were new.
    more: i64,
}

/// The modules that came during the load. `thread`: the one that loads the list.
fn came(notices: &[Notice], clock: &Clock, thread: u32) -> Came {
    let within = notices.iter().filter(|notice| clock.is_within(notice));
    let mut arrivals: Vec<(u64, ModuleArrival)> = Vec::new();
    let mut more = 0;
    for notice in within {
        let at_us = clock.us(notice.ticks);
        if notice.reason == CAME {
            more += 1;
            let arrival = ModuleArrival {
                path: notice.path.clone(),
                is_whole: notice.is_whole,
                at_us,
                left_at_us: None,
                by_other_thread: notice.thread != thread,
            };
            arrivals.push((notice.base, arrival));
        } else if notice.reason == GOES {
            more -= 1;
            // A later module may have the base of one that was unloaded.
            let came = arrivals
                .iter_mut()
                .rev()
                .find(|(base, came)| *base == notice.base && came.left_at_us.is_none());
            came.into_iter().for_each(|(_, arrival)| arrival.left_at_us = Some(at_us));
        }
    }
    let arrivals = arrivals.into_iter().map(|(_, arrival)| arrival).collect();
    Came { arrivals, more }
}

#[cfg(test)]
mod tests;
