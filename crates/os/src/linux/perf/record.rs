//! Records of a perf ring: perf_event_open(2), "MMAP layout".
//!
//! Every event here samples IDENTIFIER, IP, TID, TIME and ADDR (tracepoints also RAW) and appends
//! TID, TIME and IDENTIFIER to the other records (`sample_id_all`).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

const LOST: u32 = 2;
const COMM: u32 = 3;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
const LOST_SAMPLES: u32 = 13;
/// Who was executing, in the lowest bits of `misc`.
const MISC_MODE: u16 = 7;
const MISC_KERNEL: u16 = 1;
const MISC_COMM_EXEC: u16 = 1 << 13;
/// TID, TIME and IDENTIFIER at the end of a record that is no sample.
const TRAILER_BYTES: usize = 24;

/// What a record says; times are nanoseconds of the launch clock.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Record {
    /// Memory was mapped: a file, or something in `//` or `[]`.
    Mapped {
        pid: u32,
        at_ns: u64,
        start: u64,
        bytes: u64,
        file_offset: u64,
        device: (u32, u32),
        inode: u64,
        executable: bool,
        path: String,
    },
    /// execve has replaced the process's memory.
    Executed { pid: u32, at_ns: u64 },
    /// A process was created.
    Forked { pid: u32, parent: u32, at_ns: u64 },
    /// An event occurred.
    Sample {
        identifier: u64,
        /// Address of the instruction, and whether it is the kernel's.
        instruction: u64,
        kernel: bool,
        pid: u32,
        thread: u32,
        at_ns: u64,
        /// The memory that the event is about.
        address: u64,
        raw: Vec<u8>,
    },
    /// The ring was full: so many records are missing.
    Lost(u64),
}

impl Record {
    /// The record in `bytes`, header included; `None` for types that are of no interest and
    /// for records that are too short.
    pub(super) fn parse(bytes: &[u8]) -> Option<Record> {
        let mut fields = Fields(bytes);
        let kind = fields.u32()?;
        let misc = (fields.u32()? & 0xffff) as u16;
        match kind {
            MMAP2 => mapped(fields, at_ns(bytes)?),
            COMM if misc & MISC_COMM_EXEC != 0 => {
                Some(Record::Executed { pid: fields.u32()?, at_ns: at_ns(bytes)? })
            }
            FORK => {
                let (pid, parent) = (fields.u32()?, fields.u32()?);
                // Threads are announced as well; they share their process's memory.
                (pid != parent).then_some(Record::Forked { pid, parent, at_ns: at_ns(bytes)? })
            }
            SAMPLE => sample(fields, misc & MISC_MODE == MISC_KERNEL),
            LOST => {
                fields.u64()?;
                Some(Record::Lost(fields.u64()?))
            }
            LOST_SAMPLES => Some(Record::Lost(fields.u64()?)),
            _ => None,
        }
    }
}

fn mapped(mut fields: Fields<'_>, at_ns: u64) -> Option<Record> {
    let pid = fields.u32()?;
    let _thread = fields.u32()?;
    let (start, bytes, file_offset) = (fields.u64()?, fields.u64()?, fields.u64()?);
    let device = (fields.u32()?, fields.u32()?);
    let inode = fields.u64()?;
    let _generation = fields.u64()?;
    let protection = fields.u32()?;
    let _flags = fields.u32()?;
    let name = fields.0.get(..fields.0.len().checked_sub(TRAILER_BYTES)?)?;
    let name = name.split(|&byte| byte == 0).next()?;
    Some(Record::Mapped {
        pid,
        at_ns,
        start,
        bytes,
        file_offset,
        device,
        inode,
        executable: protection & libc::PROT_EXEC as u32 != 0,
        path: model::text::text(OsStr::from_bytes(name)),
    })
}

fn sample(mut fields: Fields<'_>, kernel: bool) -> Option<Record> {
    let (identifier, instruction) = (fields.u64()?, fields.u64()?);
    let (pid, thread) = (fields.u32()?, fields.u32()?);
    let (at_ns, address) = (fields.u64()?, fields.u64()?);
    let raw = match fields.u32() {
        Some(length) => fields.0.get(..length as usize)?.to_vec(),
        None => Vec::new(),
    };
    Some(Record::Sample { identifier, instruction, kernel, pid, thread, at_ns, address, raw })
}

/// TIME of the trailer.
fn at_ns(record: &[u8]) -> Option<u64> {
    let trailer = record.get(record.len().checked_sub(TRAILER_BYTES)?..)?;
    Fields(trailer.get(8..)?).u64()
}

/// Numbers read from the front, in the machine's byte order.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u32(&mut self) -> Option<u32> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_ne_bytes(*head))
    }

    fn u64(&mut self) -> Option<u64> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_ne_bytes(*head))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of `kind` with 32-bit `words` as its body.
    fn bytes(kind: u32, misc: u16, words: &[u32]) -> Vec<u8> {
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(misc.to_ne_bytes());
        bytes.extend(((8 + words.len() * 4) as u16).to_ne_bytes());
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes
    }

    #[test]
    fn reads_samples_forks_and_losses() {
        let words = [5, 0, 0x400, 0, 70, 71, 9, 0, 0x1000, 0];
        for (misc, kernel) in [(MISC_KERNEL, true), (2, false)] {
            let expected = Record::Sample {
                identifier: 5,
                instruction: 0x400,
                kernel,
                pid: 70,
                thread: 71,
                at_ns: 9,
                address: 0x1000,
                raw: Vec::new(),
            };
            assert_eq!(Record::parse(&bytes(SAMPLE, misc, &words)), Some(expected));
        }
        let trailer = [70, 70, 8, 0, 5, 0];
        let fork = bytes(FORK, 0, &[&[71, 70, 71, 70, 8, 0], &trailer[..]].concat());
        assert_eq!(Record::parse(&fork), Some(Record::Forked { pid: 71, parent: 70, at_ns: 8 }));
        let thread = bytes(FORK, 0, &[&[70, 70, 71, 70, 8, 0], &trailer[..]].concat());
        assert_eq!(Record::parse(&thread), None);
        assert_eq!(Record::parse(&bytes(LOST, 0, &[5, 0, 3, 0])), Some(Record::Lost(3)));
    }

    #[test]
    fn short_records_are_refused() {
        let whole = bytes(MMAP2, 0, &[1; 30]);
        assert!(matches!(Record::parse(&whole), Some(Record::Mapped { .. })));
        for length in 0..88 {
            assert_eq!(Record::parse(&whole[..length]), None, "{length}");
        }
    }
}
