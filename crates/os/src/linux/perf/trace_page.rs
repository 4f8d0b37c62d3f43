//! A page of a trace buffer: the format of `events/header_page` and `events/header_event`
//! (include/linux/ring_buffer.h).

/// The time, and how many bytes are used: a word whose upper half has flags.
const HEADER: usize = 16;
const COMMIT: usize = 8;
const USED: u64 = (1 << 20) - 1;

/// Kinds of entries besides the lengths of short records, in words of 4 bytes.
const LONG: u32 = 0;
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
const DELTA_BITS: u32 = 27;
/// A time stamp tells these bits.
const STAMP_BITS: u32 = 59;

/// A record of a tracepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceRecord<'a> {
    /// On the clock of the buffer.
    pub(crate) at_ns: u64,
    /// The fields, as the tracepoint lays them out.
    pub(crate) raw: &'a [u8],
}

/// Gives every record in the bytes of a page; nothing of what they cannot mean.
pub(super) fn records(page: &[u8], mut take: impl FnMut(TraceRecord<'_>)) {
    let number = |at: usize| Some(u64::from_le_bytes(*page.get(at..)?.first_chunk()?));
    let (Some(mut at_ns), Some(commit)) = (number(0), number(COMMIT)) else { return };
    let used = (commit & USED) as usize;
    let mut rest = page.get(HEADER..).unwrap_or_default();
    rest = rest.get(..used).unwrap_or(rest);
    while let Some((entry, behind)) = entry(rest) {
        match entry {
            Entry::Record { delta_ns, raw } => {
                at_ns = at_ns.wrapping_add(delta_ns);
                take(TraceRecord { at_ns, raw });
            }
            Entry::Later(delta_ns) => at_ns = at_ns.wrapping_add(delta_ns),
            Entry::Time(stamp) => at_ns = at_ns >> STAMP_BITS << STAMP_BITS | stamp,
            Entry::Nothing => {}
        }
        rest = behind;
    }
}

enum Entry<'a> {
    Record { delta_ns: u64, raw: &'a [u8] },
    Later(u64),
    Time(u64),
    Nothing,
}

/// The first entry, and what is behind it.
fn entry(bytes: &[u8]) -> Option<(Entry<'_>, &[u8])> {
    let (head, rest) = bytes.split_first_chunk()?;
    let head = u32::from_le_bytes(*head);
    let (kind, delta) = (head & 31, head >> 5);
    let delta_ns = u64::from(delta);
    let word = || {
        let (word, behind) = rest.split_first_chunk()?;
        Some((u32::from_le_bytes(*word), behind))
    };
    let long_time = |word: u32| u64::from(word) << DELTA_BITS | delta_ns;
    Some(match kind {
        PADDING if delta == 0 => return None,
        PADDING => {
            // Its length includes the word itself.
            let (length, _) = word()?;
            (Entry::Nothing, rest.get(length as usize..).filter(|_| length > 0)?)
        }
        TIME_EXTEND => word().map(|(word, behind)| (Entry::Later(long_time(word)), behind))?,
        TIME_STAMP => word().map(|(word, behind)| (Entry::Time(long_time(word)), behind))?,
        LONG => {
            let (length, behind) = word()?;
            let raw = behind.get(..(length as usize).checked_sub(4)?)?;
            let end = raw.len().next_multiple_of(4);
            (Entry::Record { delta_ns, raw }, behind.get(end..)?)
        }
        words => {
            let (raw, behind) = rest.split_at_checked(4 * words as usize)?;
            (Entry::Record { delta_ns, raw }, behind)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(at_ns: u64, entries: &[u32]) -> Vec<u8> {
        let mut bytes = at_ns.to_le_bytes().to_vec();
        // A flag says that records were lost before.
        bytes.extend(((4 * entries.len() as u64) | (1 << 31)).to_le_bytes());
        bytes.extend(entries.iter().flat_map(|word| word.to_le_bytes()));
        bytes.resize(4096, 0xee);
        bytes
    }

    fn found(page: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut all = Vec::new();
        records(page, |record| all.push((record.at_ns, record.raw.to_vec())));
        all
    }

    #[test]
    fn all_kinds_of_entries_are_read() {
        let entry = |kind: u32, delta: u32| kind | delta << 5;
        let entries = [
            entry(2, 5),
            1,
            2,
            // 2^27 + 3 ns later.
            entry(TIME_EXTEND, 3),
            1,
            entry(LONG, 1),
            4 + 6,
            3,
            4,
            entry(PADDING, 1),
            8,
            9,
            entry(TIME_STAMP, 7),
            2,
            entry(1, 1),
            5,
            entry(PADDING, 0),
            entry(1, 1),
            6,
        ];
        let later = 1000 + 5 + (1 << 27) + 3 + 1;
        let expected = vec![
            (1005, vec![1, 0, 0, 0, 2, 0, 0, 0]),
            (later, vec![3, 0, 0, 0, 4, 0]),
            ((2 << 27) + 7 + 1, vec![5, 0, 0, 0]),
        ];
        assert_eq!(found(&page(1000, &entries)), expected);
        // What is behind the used bytes is none.
        assert_eq!(found(&page(1000, &entries[..2])), []);
        assert_eq!(found(&page(1000, &entries[..3])), expected[..1]);
    }

    #[test]
    fn other_bytes_never_panic() {
        for kind in 0..32_u32 {
            for word in [0, 1, 3, 4, 5, 4095, u32::MAX] {
                for delta in [0, 1, (1 << DELTA_BITS) - 1] {
                    let bytes = page(u64::MAX, &[kind | delta << 5, word, 0, 7]);
                    for length in 0..HEADER + 16 {
                        found(&bytes[..length]);
                    }
                    found(&bytes);
                }
            }
        }
    }
}
