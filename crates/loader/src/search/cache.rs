//! The file `/etc/ld.so.cache` (glibc's sysdeps/generic/dl-cache.h and elf/dl-cache.c), in its
//! new format, in the old one (`ld.so-1.7.0`), and in the old one with the new one inside.

use super::machine::Machine;
use super::processor::Processor;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Where ldconfig writes the cache.
pub const CACHE: &str = "/etc/ld.so.cache";

const OLD_MAGIC: &[u8] = b"ld.so-1.7.0";
const NEW_MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
/// Size of the old header: the magic, padding, a count.
const OLD_HEADER: usize = 16;
const OLD_ENTRY: usize = 12;
const NEW_HEADER: usize = 48;
const NEW_ENTRY: usize = 24;
/// Offset within the new header of the byte that tells endianness.
const FLAGS: usize = 28;
const EXTENSION_OFFSET: usize = 32;
const EXTENSION_MAGIC: u32 = 0xeaa4_2174;
const EXTENSION_SECTION: usize = 16;
/// Tag of the section that names the subfolders of glibc-hwcaps.
const SUBFOLDERS: u32 = 1;
/// Bit of `hwcap` that makes its lower half an index of a subfolder of glibc-hwcaps.
const NAMED: u64 = 1 << 62;
/// Bits of `hwcap` that hold the level of the instruction set, in its upper half.
const LEVEL: u64 = (1 << 10) - 1;
/// Bits of `hwcap` for platforms, and their names; and the bit for `tls`, which all have.
const PLATFORMS: u64 = 0xf << 48;
const PLATFORM_BITS: [(&str, u64); 2] = [("haswell", 1 << 50), ("xeon_phi", 1 << 51)];
const TLS: u64 = 1 << 63;

/// The cache of library names and paths that ldconfig wrote. Any bytes can be read: what lies
/// outside of them is not there.
#[derive(Clone, Debug)]
pub struct Cache {
    bytes: Vec<u8>,
    table: Table,
}

/// Where the entries are, and what the offsets of their strings count from.
#[derive(Clone, Copy, Debug)]
struct Table {
    /// Of the new header; `None` for a file that is old only.
    new: Option<usize>,
    first: usize,
    count: usize,
    entry: usize,
    strings: usize,
}

struct Entry<'a> {
    flags: u32,
    path: Option<&'a [u8]>,
    hwcap: u64,
}

impl Cache {
    /// The cache at `path`; `None` where it cannot be read or is none, as the loader then goes on
    /// without one.
    pub fn read(path: &Path) -> Option<Cache> {
        Cache::from_bytes(std::fs::read(path).ok()?)
    }

    /// The cache in `bytes`; `None` where they are none, or one of another endianness.
    pub fn from_bytes(bytes: Vec<u8>) -> Option<Cache> {
        let table = if bytes.starts_with(NEW_MAGIC) {
            new_table(&bytes, 0).filter(|table| table.fits(bytes.len()))?
        } else if bytes.starts_with(OLD_MAGIC) {
            old_table(&bytes)?
        } else {
            return None;
        };
        Some(Cache { bytes, table })
    }

    /// Names and paths of all libraries for `machine`, as `uname -m` has it, in the order of the
    /// cache; of a name that stands there several times, the first. Variants for some processors
    /// are left out.
    pub fn all(&self, machine: &str) -> Vec<(String, PathBuf)> {
        let Some(machine) = Machine::named(machine) else { return Vec::new() };
        let mut known = HashSet::new();
        let entries = (0..self.table.count).filter_map(|index| {
            let entry = self.entry(index)?;
            (entry.flags == machine.cache_flags && entry.hwcap == 0).then_some(())?;
            let name = std::str::from_utf8(self.name(index)?).ok()?;
            let path = PathBuf::from(model::text::of_bytes(entry.path?.to_vec()));
            known.insert(name).then(|| (name.to_owned(), path))
        });
        entries.collect()
    }

    /// Whether it has the new format alone, as ldconfig has written it since glibc 2.32.
    pub fn is_new(&self) -> bool {
        self.table.new == Some(0)
    }

    /// Paths of `name` that decide what the loader takes on any processor of `machine`, as `uname -m`
    /// has it, in the order of the cache: variants for some processors, then the first for all.
    pub fn decisive(&self, name: &[u8], machine: &str) -> Vec<&[u8]> {
        let Some(machine) = Machine::named(machine) else { return Vec::new() };
        let mut paths = Vec::new();
        for entry in self.of_name(name).filter_map(|index| self.entry(index)) {
            let Some(path) = entry.path.filter(|_| entry.flags == machine.cache_flags) else {
                continue;
            };
            paths.push(path);
            if entry.hwcap == 0 {
                break;
            }
        }
        paths
    }

    /// The path that the loader takes for `name`.
    pub(super) fn look_up(
        &self,
        name: &[u8],
        machine: &Machine,
        processor: &Processor,
    ) -> Option<&[u8]> {
        self.best(self.of_name(name), machine, processor)
    }

    /// The entries of one name.
    fn of_name<'a>(&'a self, name: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        let found = self.position(name);
        let mut first = found.unwrap_or(self.table.count);
        while found.is_some() && first > 0 && self.is_named(first - 1, name) {
            first -= 1;
        }
        // As the loader has it, the entries up to the one found are known to be of this name.
        let known = found.unwrap_or_default();
        (first..self.table.count).take_while(move |&i| i <= known || self.is_named(i, name))
    }

    /// Index of an entry of this name. The entries are sorted, the last name first.
    fn position(&self, name: &[u8]) -> Option<usize> {
        let mut entries = 0..self.table.count;
        while !entries.is_empty() {
            let middle = (entries.start + entries.end - 1) / 2;
            match compare(name, self.name(middle)?) {
                Ordering::Equal => return Some(middle),
                Ordering::Less => entries.start = middle + 1,
                Ordering::Greater => entries.end = middle,
            }
        }
        None
    }

    /// The best of the entries of one name: that of the best subfolder of glibc-hwcaps, which come
    /// first; else the first that this processor can use.
    fn best(
        &self,
        entries: impl Iterator<Item = usize>,
        machine: &Machine,
        processor: &Processor,
    ) -> Option<&[u8]> {
        let usable = usable_bits(processor);
        let mut best: Option<(usize, &[u8])> = None;
        for entry in entries.filter_map(|index| self.entry(index)) {
            let Some(path) = entry.path.filter(|_| entry.flags == machine.cache_flags) else {
                continue;
            };
            if self.table.new.is_none() {
                return Some(path);
            }
            if (entry.hwcap >> 32) & !LEVEL == NAMED >> 32 {
                let rank = self.rank(&entry, processor);
                if let Some(rank) = rank.filter(|rank| best.is_none_or(|(other, _)| *rank < other))
                {
                    best = Some((rank, path));
                }
            } else if best.is_some() {
                break;
            } else if entry.hwcap & !(usable | PLATFORMS | TLS) == 0
                && [0, usable & PLATFORMS].contains(&(entry.hwcap & PLATFORMS))
            {
                return Some(path);
            }
        }
        best.map(|(_, path)| path)
    }

    /// Rank of the entry's subfolder of glibc-hwcaps, 0 the best; `None` where this processor
    /// cannot use it.
    fn rank(&self, entry: &Entry<'_>, processor: &Processor) -> Option<usize> {
        let level = (entry.hwcap >> 32) & LEVEL;
        if level >= u64::from(processor.level) {
            return None;
        }
        let name = self.subfolder(usize::try_from(entry.hwcap & 0xffff_ffff).ok()?)?;
        processor.levels().position(|other| other.as_bytes() == name)
    }

    /// Name of a subfolder of glibc-hwcaps, from the extension of the new format.
    fn subfolder(&self, index: usize) -> Option<&[u8]> {
        let bytes = &self.bytes;
        let extension = offset(bytes, self.table.new?.checked_add(EXTENSION_OFFSET)?)?;
        if extension == 0 || extension % 4 != 0 || word(bytes, extension)? != EXTENSION_MAGIC {
            return None;
        }
        let count = offset(bytes, extension + 4)?;
        let sections = (0..count).map(|i| extension + 8 + i.saturating_mul(EXTENSION_SECTION));
        let sections = sections.map_while(|at| Some((word(bytes, at)?, at)));
        let (_, section) = sections.filter(|(tag, _)| *tag == SUBFOLDERS).last()?;
        let start = offset(bytes, section + 8)?;
        let size = offset(bytes, section + 12)?;
        if index >= size / 4 {
            return None;
        }
        string(bytes, offset(bytes, start.checked_add(index * 4)?)?)
    }

    fn is_named(&self, index: usize, name: &[u8]) -> bool {
        self.name(index).is_some_and(|other| compare(name, other).is_eq())
    }

    fn name(&self, index: usize) -> Option<&[u8]> {
        self.text(self.at(index)? + 4)
    }

    fn entry(&self, index: usize) -> Option<Entry<'_>> {
        let at = self.at(index)?;
        let hwcap = match self.table.new {
            Some(_) => {
                u64::from(word(&self.bytes, at + 16)?)
                    | u64::from(word(&self.bytes, at + 20)?) << 32
            }
            None => 0,
        };
        Some(Entry { flags: word(&self.bytes, at)?, path: self.text(at + 8), hwcap })
    }

    /// Offset of an entry.
    fn at(&self, index: usize) -> Option<usize> {
        index.checked_mul(self.table.entry)?.checked_add(self.table.first)
    }

    /// The string whose offset stands at `at`.
    fn text(&self, at: usize) -> Option<&[u8]> {
        string(&self.bytes, self.table.strings.checked_add(offset(&self.bytes, at)?)?)
    }
}

impl Table {
    /// Whether all entries lie within `bytes` bytes.
    fn fits(&self, bytes: usize) -> bool {
        bytes.checked_sub(self.first).is_some_and(|rest| self.count <= rest / self.entry)
    }
}

/// The table of the new format, whose header begins at `start`.
fn new_table(bytes: &[u8], start: usize) -> Option<Table> {
    let header = bytes.get(start..start.checked_add(NEW_HEADER)?)?;
    // 0 is unknown, 2 little endian.
    let endian = *header.get(FLAGS)?;
    (header.starts_with(NEW_MAGIC) && (endian == 0 || endian & 3 == 2)).then_some(())?;
    let count = offset(header, NEW_MAGIC.len())?;
    let first = start + NEW_HEADER;
    Some(Table { new: Some(start), first, count, entry: NEW_ENTRY, strings: start })
}

/// The table of a file of the old format: that of the new one inside, where there is one.
fn old_table(bytes: &[u8]) -> Option<Table> {
    let count = offset(bytes, OLD_HEADER - 4)?;
    let mut table = Table { new: None, first: OLD_HEADER, count, entry: OLD_ENTRY, strings: 0 };
    table.fits(bytes.len()).then_some(())?;
    table.strings = OLD_HEADER + count * OLD_ENTRY;
    let new = table.strings.next_multiple_of(8);
    if bytes.get(new..).is_some_and(|rest| rest.len() >= NEW_HEADER && rest.starts_with(NEW_MAGIC))
    {
        return new_table(bytes, new);
    }
    Some(table)
}

/// Bits of `hwcap` that do not exclude an entry.
fn usable_bits(processor: &Processor) -> u64 {
    let platform = PLATFORM_BITS.iter().find(|(name, _)| processor.platform == Some(name));
    let bits = processor.capabilities.iter().map(|(bit, _)| bit);
    bits.chain(platform.map(|(_, bit)| bit)).fold(0, |all, bit| all | bit)
}

/// The order of the entries: runs of digits count as numbers, and are above everything else.
fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let (mut a, mut b) = (a, b);
    while let Some((&byte, rest)) = a.split_first() {
        let other = b.first().copied().unwrap_or(0);
        match (byte.is_ascii_digit(), other.is_ascii_digit()) {
            (true, true) => match number(&mut a).cmp(&number(&mut b)) {
                Ordering::Equal => continue,
                order => return order,
            },
            (true, false) => return Ordering::Greater,
            (false, true) => return Ordering::Less,
            // Plain `char` has a sign on x86-64.
            (false, false) if byte != other => return byte.cast_signed().cmp(&other.cast_signed()),
            (false, false) => (a, b) = (rest, b.get(1..).unwrap_or_default()),
        }
    }
    0.cmp(&b.first().map_or(0, |byte| byte.cast_signed()))
}

/// Takes the digits at the beginning as a number, which wraps as the loader's does.
fn number(text: &mut &[u8]) -> i32 {
    let mut value = 0_i32;
    while let Some((digit, rest)) = text.split_first().filter(|(byte, _)| byte.is_ascii_digit()) {
        value = value.wrapping_mul(10).wrapping_add(i32::from(digit - b'0'));
        *text = rest;
    }
    value
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// A [`word`] that counts bytes or entries.
fn offset(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(word(bytes, at)?).ok()
}

/// The string at `at`, up to its zero byte.
fn string(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    rest.iter().position(|&byte| byte == 0).and_then(|end| rest.get(..end))
}
