//! What the kernel hands to a new image on its stack (psABI 3.4.1, "Initial Stack").

use super::ptrace::{self, Tid};
use model::text::text;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

const AT_BASE: u64 = 7;
const AT_ENTRY: u64 = 9;
const AT_EXECFN: u64 = 31;
const WORD: usize = 8;
const FIRST_READ: usize = 4096;
/// ARG_MAX is a quarter of the stack's limit; a launch with more arguments is cut here.
const LONGEST: usize = 4 << 20;

/// The parts of the initial stack that tracing uses.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StartStack {
    /// Arguments.
    pub argv: Vec<String>,
    /// AT_ENTRY: the program's entry point as mapped.
    pub entry: u64,
    /// AT_BASE: where the loader is mapped; 0 where there is none.
    pub loader_base: u64,
    /// The environment asks for LD_AUDIT.
    pub audited: bool,
}

/// Reads the stack of `tid`, which has just executed a 64-bit image.
pub fn read(tid: Tid, stack_pointer: u64) -> Option<StartStack> {
    let mut words = read_part(tid, stack_pointer, FIRST_READ);
    let layout = match Layout::of(&words) {
        Some(layout) => layout,
        None => {
            words = read_part(tid, stack_pointer, LONGEST);
            Layout::of(&words)?
        }
    };
    let auxiliary = |tag| layout.auxiliary.iter().find(|pair| pair.0 == tag).map(|pair| pair.1);
    let strings = read_strings(tid, &layout, auxiliary(AT_EXECFN));
    let mut rest = strings.as_slice();
    let mut argv = Vec::with_capacity(layout.arguments.len());
    for _ in &layout.arguments {
        let Some(end) = rest.iter().position(|&byte| byte == 0) else { break };
        argv.push(text(OsStr::from_bytes(&rest[..end])));
        rest = &rest[end + 1..];
    }
    Some(StartStack {
        argv,
        entry: auxiliary(AT_ENTRY)?,
        loader_base: auxiliary(AT_BASE).unwrap_or(0),
        audited: rest.split(|&byte| byte == 0).any(|variable| variable.starts_with(b"LD_AUDIT=")),
    })
}

struct Layout {
    arguments: Vec<u64>,
    auxiliary: Vec<(u64, u64)>,
}

impl Layout {
    /// `None` where the words end too soon.
    fn of(words: &[u64]) -> Option<Self> {
        let (&count, rest) = words.split_first()?;
        let count = usize::try_from(count).ok()?;
        let arguments = rest.get(..count)?.to_vec();
        let environment = rest.get(count.checked_add(1)?..)?;
        let end = environment.iter().position(|&word| word == 0)?;
        let mut auxiliary = Vec::new();
        for pair in environment.get(end + 1..)?.chunks_exact(2) {
            if pair[0] == 0 {
                return Some(Layout { arguments, auxiliary });
            }
            auxiliary.push((pair[0], pair[1]));
        }
        None
    }
}

fn read_part(tid: Tid, address: u64, bytes: usize) -> Vec<u64> {
    let mut buffer = vec![0; bytes];
    let read = ptrace::read_memory(tid, address, &mut buffer);
    let words = buffer[..read].chunks_exact(WORD);
    words.map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap_or_default())).collect()
}

/// Arguments and environment: the kernel writes them one after another, up to AT_EXECFN's.
fn read_strings(tid: Tid, layout: &Layout, end: Option<u64>) -> Vec<u8> {
    let (Some(&start), Some(end)) = (layout.arguments.first(), end) else { return Vec::new() };
    let length = usize::try_from(end.saturating_sub(start)).unwrap_or(0).min(LONGEST);
    let mut bytes = vec![0; length];
    let read = ptrace::read_memory(tid, start, &mut bytes);
    bytes.truncate(read);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_taken_apart_and_a_cut_one_refused() {
        let words = [2, 100, 102, 0, 104, 106, 0, AT_BASE, 7000, AT_ENTRY, 9000, 0, 0];
        let layout = Layout::of(&words).unwrap();
        assert_eq!(layout.arguments, [100, 102]);
        assert_eq!(layout.auxiliary, [(AT_BASE, 7000), (AT_ENTRY, 9000)]);
        for cut in 0..words.len() - 2 {
            assert!(Layout::of(&words[..cut]).is_none(), "{cut}");
        }
        assert!(Layout::of(&[u64::MAX, 1, 2]).is_none());
    }
}
