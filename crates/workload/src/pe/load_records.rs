//! What the program of [`super::loads`] writes: a record of fixed size, then a path in UTF-16.

use super::loads::PATH_CHARACTERS;

/// What begins a record, so that what libraries print is told from records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadMark(pub [u8; 16]);

/// Bytes of a record without its path.
pub(super) const RECORD_BYTES: u32 = 80;

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
    /// Modules that came into the process.
    pub modules: u64,
    /// The library's path as Windows knows it.
    pub path: Vec<u16>,
}

/// The records in what the program has written, in their order; what is not one is skipped.
pub fn records(bytes: &[u8], mark: LoadMark) -> Vec<LoadRecord> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while let Some(at) = find(rest, &mark.0) {
        let behind = &rest[at..];
        match record(behind) {
            Some((record, size)) => {
                found.push(record);
                rest = &behind[size..];
            }
            None => rest = &behind[mark.0.len()..],
        }
    }
    found
}

/// Where `mark` is.
fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    bytes.windows(mark.len()).position(|window| window == mark)
}

/// The record at the beginning of `bytes` and its size; none where it is not whole.
fn record(bytes: &[u8]) -> Option<(LoadRecord, usize)> {
    let four = |at: u32| Some(u32::from_le_bytes(*bytes.get(at as usize..)?.first_chunk()?));
    let eight = |at: u32| Some(u64::from_le_bytes(*bytes.get(at as usize..)?.first_chunk()?));
    let characters = four(field::CHARACTERS)?;
    if characters > PATH_CHARACTERS {
        return None;
    }
    let size = RECORD_BYTES as usize + 2 * characters as usize;
    let (units, _) = bytes.get(RECORD_BYTES as usize..size)?.as_chunks::<2>();
    let ticks = eight(field::AFTER)?.saturating_sub(eight(field::BEFORE)?);
    let loaded = eight(field::LIBRARY)? != 0;
    let modules = four(field::MODULES_AFTER)?.saturating_sub(four(field::MODULES_BEFORE)?);
    let record = LoadRecord {
        number: usize::try_from(eight(field::NUMBER)?).ok().filter(|number| *number != usize::MAX),
        us: ticks as f64 * 1e6 / eight(field::FREQUENCY)?.max(1) as f64,
        error: if loaded { None } else { Some(four(field::ERROR)?) },
        modules: u64::from(modules / 8),
        // Without a library it is the program's own.
        path: match loaded {
            true => units.iter().map(|unit| u16::from_le_bytes(*unit)).collect(),
            false => Vec::new(),
        },
    };
    Some((record, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: LoadMark = LoadMark(*b"sixteen bytes...");

    fn written(number: u64, library: u64, path: &str) -> Vec<u8> {
        let mut bytes = vec![0; RECORD_BYTES as usize];
        let mut put = |at: u32, value: &[u8]| {
            bytes[at as usize..at as usize + value.len()].copy_from_slice(value);
        };
        put(0, &MARK.0);
        put(field::NUMBER, &number.to_le_bytes());
        put(field::BEFORE, &100_u64.to_le_bytes());
        put(field::AFTER, &350_u64.to_le_bytes());
        put(field::FREQUENCY, &10_000_000_u64.to_le_bytes());
        put(field::LIBRARY, &library.to_le_bytes());
        put(field::ERROR, &126_u32.to_le_bytes());
        put(field::CHARACTERS, &(path.len() as u32).to_le_bytes());
        put(field::MODULES_BEFORE, &24_u32.to_le_bytes());
        put(field::MODULES_AFTER, &40_u32.to_le_bytes());
        bytes.extend(path.encode_utf16().flat_map(u16::to_le_bytes));
        bytes
    }

    #[test]
    fn records_are_told_from_what_libraries_print() {
        let parts: [&[u8]; 5] = [
            &written(u64::MAX, 0, ""),
            b"a library says hello\n",
            &written(0, 7, "C:\\a.dll"),
            &written(1, 0, "Z:\\x.exe"),
            &MARK.0,
        ];
        let found = records(&parts.concat(), MARK);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].number, None);
        let path = "C:\\a.dll".encode_utf16().collect();
        let first = LoadRecord { number: Some(0), us: 25.0, error: None, modules: 2, path };
        assert_eq!(found[1], first);
        assert_eq!((found[2].error, found[2].path.len()), (Some(126), 0));
        // Cut off anywhere, it gives fewer and never another one.
        let whole = parts.concat();
        for end in 0..whole.len() {
            assert!(found.starts_with(&records(&whole[..end], MARK)));
        }
    }
}
