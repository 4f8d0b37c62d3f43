//! The functions that led to a wait, from the stack that was kept of it.

use crate::elf::hot::demangled;
use crate::names::base_name;
use image::unwind::{Frame, RegisterValues, Unwinder};
use model::{MappedVa, text};
use os::trace::{FileMapping, WaitStack};
use std::collections::HashMap;
use std::path::Path;

/// Callers that are named.
const CALLERS: usize = 6;
/// Frames that are looked at: loops end.
const FRAMES: usize = 24;

/// Names the callers of waits; what is known of a file is kept.
#[derive(Default)]
pub(super) struct Callers {
    unwinder: Unwinder,
    names: HashMap<(String, u64), Option<String>>,
}

impl Callers {
    /// Functions that led to the wait, the innermost first; none where no table tells.
    pub(super) fn of(&mut self, stack: &WaitStack) -> Vec<String> {
        let mut registers: RegisterValues = stack.registers.map(Some);
        let mut frame = Frame::Innermost;
        let mut names: Vec<String> = Vec::new();
        for _ in 0..FRAMES {
            let Some((path, offset)) = registers[16].and_then(|at| place(&stack.code, at)) else {
                break;
            };
            let within = if frame == Frame::Caller { offset.saturating_sub(1) } else { offset };
            if let Some(name) = self.name(path, within)
                && names.last() != Some(&name)
            {
                names.push(name);
            }
            if names.len() == CALLERS {
                break;
            }
            let word = |address| word(stack, address);
            let next =
                self.unwinder.caller(Path::new(&text::name(path)), offset, frame, &registers, word);
            let Some(next) = next else { break };
            // The stack grows downwards: a caller's frame is above.
            if next[7] <= registers[7] {
                break;
            }
            (registers, frame) = (next, Frame::Caller);
        }
        names
    }

    /// The function there; where it has no name, its file and address.
    fn name(&mut self, path: &str, offset: u64) -> Option<String> {
        let key = (path.to_owned(), offset);
        let found = self.names.entry(key).or_insert_with(|| {
            let folder = Path::new(image::DEBUG_FOLDER);
            let placed =
                image::functions(Path::new(&text::name(path)), folder, &[offset]).ok()?.pop()??;
            Some(match placed.function {
                Some(function) => match &function.name {
                    Some(name) => demangled(name),
                    None => format!("{}+{:#x}", base_name(path), function.address),
                },
                None => format!("{}+{:#x}", base_name(path), placed.address),
            })
        });
        found.clone()
    }
}

/// The file at an address, and the offset in it.
fn place(code: &[FileMapping], address: u64) -> Option<(&str, u64)> {
    let address = MappedVa(address);
    let mapping = code.iter().find(|mapping| mapping.memory.contains(&address))?;
    Some((&mapping.path, (mapping.offset + (address - mapping.memory.start)).0))
}

/// A word of the stack.
fn word(stack: &WaitStack, address: u64) -> Option<u64> {
    let start = usize::try_from(address.checked_sub(stack.registers[7])?).ok()?;
    let bytes = stack.memory.get(start..start.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}
