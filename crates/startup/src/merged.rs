//! What is merged in a bundle, and what its start does, read back from its preamble.

use crate::code::ahead;
use crate::read::Bytes;
use crate::shared::{self, Header};
use crate::{Functions, code, entry, start};
use std::path::PathBuf;

/// What a preamble says of its bundle. Offsets are in bytes, from the preamble's first byte to the
/// thing in memory, and may be negative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreambleOutline {
    /// The program, by the path by which it was found.
    pub original: PathBuf,
    /// What is started where the bundle is stale, if not that.
    pub instead: Option<PathBuf>,
    /// The merged modules, in the order of their addresses.
    pub modules: Vec<PreambleModule>,
    /// What initializes the libraries.
    pub initializers: Functions,
    /// What finalizes them.
    pub finalizers: Functions,
    /// How many functions outside the preamble finds itself, whose table it then protects.
    pub filled: u64,
    /// Relative relocations that the preamble applies itself, packed.
    pub packed: Functions,
    /// The function that checks what was merged.
    pub check: i64,
    /// The function that reads the bundle ahead, where it does.
    pub read_ahead: Option<i64>,
    /// The instruction to which every function that initializes a library returns: `add rbx, 8`.
    pub initialized: i64,
    /// Where it finalizes the libraries.
    pub finish: Option<Finish>,
}

/// Where a preamble finalizes the libraries, in bytes from its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finish {
    /// The first instruction.
    pub begin: i64,
    /// The instruction to which every function that finalizes a library returns: a jump.
    pub finalized: i64,
    /// Where it leads.
    pub next: i64,
}

/// A module that a preamble knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreambleModule {
    /// Path of its file; `None` for the program.
    pub path: Option<PathBuf>,
    /// Its first byte in memory.
    pub start: i64,
    /// Behind its last one.
    pub end: i64,
}

/// `call [rbx]`, by which start.s calls what initializes a library.
const CALL: [u8; 2] = [0xff, 0x13];
/// `add rbx, 8` behind it.
const ADD: [u8; 4] = [0x48, 0x83, 0xc3, 0x08];

/// `call [r12 + 8 * rbp]`, by which start.s calls what finalizes a library, and the jump behind it.
const FINALIZE: [u8; 5] = [0x41, 0xff, 0x14, 0xec, 0xeb];
/// Bytes from `mov r12, [rip + …]`, the first instruction of finalizing, to where the jump leads.
const PROLOGUE: usize = 17;
/// That instruction, without its offset.
const FIRST: [u8; 3] = [0x4c, 0x8b, 0x25];

impl PreambleOutline {
    /// Reads a preamble that this version of headstart has made; `None` for any other bytes.
    pub fn read(preamble: &[u8]) -> Option<PreambleOutline> {
        let header = Header::read(preamble.strip_prefix(code())?)?;
        let bytes = Bytes(preamble);
        let functions = |offset, count| Functions { offset, count };
        let offset = |place: u64| i64::try_from(place).ok();
        Some(PreambleOutline {
            original: bytes.path(header.original, 0)?,
            instead: match header.instead {
                0 => None,
                instead => Some(bytes.path(instead, 0)?),
            },
            modules: bytes.list(
                header.modules,
                header.module_count,
                shared::Module::SIZE,
                module,
            )?,
            initializers: functions(header.initializers, header.initializer_count),
            finalizers: functions(header.finalizers, header.finalizer_count),
            filled: header.fill_count,
            packed: functions(header.packed, header.packed_count),
            check: offset(entry())?,
            read_ahead: if header.ahead == 0 { None } else { offset(ahead()) },
            initialized: offset(initialized()?)?,
            finish: finish(),
        })
    }
}

fn module(bytes: &Bytes, record: &[u8]) -> Option<PreambleModule> {
    let module = shared::Module::read(record)?;
    let path = match module.name {
        0 => None,
        name => Some(bytes.path(name, 0)?),
    };
    Some(PreambleModule { path, start: module.start, end: module.end })
}

/// Where the functions return to, in the code.
fn initialized() -> Option<u64> {
    let from = usize::try_from(start()).ok()?;
    let call = [&CALL[..], &ADD].concat();
    let found = code().get(from..)?.windows(call.len()).position(|bytes| bytes == call)?;
    Some((from + found + CALL.len()) as u64)
}

/// Where the libraries are finalized, in the code.
fn finish() -> Option<Finish> {
    let from = usize::try_from(start()).ok()?;
    let call = code().get(from..)?.windows(FINALIZE.len()).position(|bytes| bytes == FINALIZE)?;
    let finalized = from + call + FINALIZE.len() - 1;
    let back = i8::from_ne_bytes([*code().get(finalized + 1)?]);
    let next = (finalized + 2).checked_add_signed(back.into())?;
    let begin = next.checked_sub(PROLOGUE)?;
    let place = |at: usize| i64::try_from(at).ok();
    code().get(begin..)?.starts_with(&FIRST).then_some(())?;
    Some(Finish { begin: place(begin)?, finalized: place(finalized)?, next: place(next)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Addresses, MergedModule, Preamble, Start, Symbols, Tables};

    fn merged(path: Option<&str>, start: i64) -> MergedModule {
        MergedModule {
            path: path.map(PathBuf::from),
            identity: None,
            start,
            end: start + 0x1000,
            base: start,
            thread: 0,
            symbols: Symbols::default(),
            behind_outside: false,
        }
    }

    fn preamble() -> Vec<u8> {
        let tables = Tables {
            original: "/usr/bin/p".into(),
            original_file: "/usr/lib/p".into(),
            own_name: "run".into(),
            modules: vec![merged(None, -0x9000), merged(Some("/lib/libz.so.1"), -0x8000)],
            ..Tables::default()
        };
        let initializers = Functions { offset: 0x2000, count: 3 };
        let start = Start { initializers, ..Start::default() };
        Preamble::new(&tables).unwrap().bytes(&Addresses { start, ..Addresses::default() })
    }

    #[test]
    fn what_was_merged_is_read_back() {
        let read = PreambleOutline::read(&preamble()).unwrap();
        assert_eq!(read.original, PathBuf::from("/usr/bin/p"));
        let module = |path: Option<&str>, start| {
            let path = path.map(PathBuf::from);
            PreambleModule { path, start, end: start + 0x1000 }
        };
        assert_eq!(read.modules, [module(None, -0x9000), module(Some("/lib/libz.so.1"), -0x8000)]);
        assert_eq!(read.initializers, Functions { offset: 0x2000, count: 3 });
        assert_eq!((read.check, read.read_ahead), (entry() as i64, None));
    }

    #[test]
    fn functions_return_to_one_place() {
        let call = [&CALL[..], &ADD].concat();
        let calls = code().windows(call.len()).filter(|bytes| *bytes == call);
        assert_eq!(calls.count(), 1);
        let at = initialized().unwrap() as usize;
        assert_eq!(code()[at..at + ADD.len()], ADD);
    }

    #[test]
    fn finalizers_return_to_one_jump() {
        assert_eq!(code().windows(FINALIZE.len()).filter(|bytes| *bytes == FINALIZE).count(), 1);
        let found = finish().unwrap();
        assert!(found.begin < found.next && found.next < found.finalized, "{found:?}");
        // sub rbp, 1
        assert_eq!(code()[found.next as usize..][..4], [0x48, 0x83, 0xed, 0x01]);
    }

    #[test]
    fn other_bytes_are_no_preamble_and_never_panic() {
        let bytes = preamble();
        assert_eq!(PreambleOutline::read(&bytes[1..]), None);
        for at in code().len()..bytes.len() {
            for value in [0, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                let _ = PreambleOutline::read(&damaged);
            }
        }
    }
}
