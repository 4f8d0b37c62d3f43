//! Breakpoints of one address space.
//!
//! Every breakpoint but those at CPUID instructions and behind a bundle's initializers and finalizers is hit
//! once: the hit puts the original byte back, so nothing has to be stepped over and no thread can miss an
//! instruction.

use super::arch;
use super::functions::Watch;
use super::ptrace::{self, Tid};
use model::{MappedVa, StartStep};
use std::collections::HashMap;
use std::io;

/// What a breakpoint is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakpointPurpose {
    /// The loader's hook: modules have been relocated.
    Relocated,
    /// The image's entry point.
    Entry,
    /// `__libc_start_main`, whose first argument is `main`.
    StartMain,
    /// `main`.
    Main,
    /// `exit`.
    Exit,
    /// A step of a bundle's start.
    Step(StartStep),
    /// A CPUID instruction of the module with this index.
    Cpuid(usize),
}

#[derive(Clone, Copy)]
struct Breakpoint {
    original: u8,
    purpose: BreakpointPurpose,
    planted: bool,
}

/// An address space and its breakpoints.
pub struct Space {
    /// Index of the process that executed the image in it. A vfork child only borrows it.
    pub owner: usize,
    points: HashMap<MappedVa, Breakpoint>,
    /// Words of code as they stand with the breakpoints in them, by address.
    words: HashMap<MappedVa, u64>,
    /// Breakpoints at functions, of a recording.
    pub watch: Watch,
}

impl Space {
    /// A fresh address space.
    pub fn new(owner: usize) -> Self {
        let watch = Watch::default();
        Space { owner, points: HashMap::new(), words: HashMap::new(), watch }
    }

    /// A copy of `parent` with the functions' breakpoints that are in the copied memory.
    pub fn forked(owner: usize, parent: &Space) -> Self {
        Space { watch: parent.watch.forked(), ..Space::new(owner) }
    }

    /// Plants a breakpoint through the stopped thread `tid`. One that is there already stays.
    pub fn plant(
        &mut self,
        tid: Tid,
        address: MappedVa,
        purpose: BreakpointPurpose,
    ) -> io::Result<()> {
        if self.points.get(&address).is_some_and(|point| point.planted) {
            return Ok(());
        }
        let original = self.replace_byte(tid, address, arch::BREAKPOINT)?;
        self.points.insert(address, Breakpoint { original, purpose, planted: true });
        Ok(())
    }

    /// Purpose of the breakpoint at `address` and whether it is still there. One that is gone
    /// may yet be reported by a thread that executed it at the same moment as another.
    pub fn at(&self, address: MappedVa) -> Option<(BreakpointPurpose, bool)> {
        self.points.get(&address).map(|point| (point.purpose, point.planted))
    }

    /// Puts the original byte back.
    pub fn remove(&mut self, tid: Tid, address: MappedVa) -> io::Result<()> {
        let Some(&point) = self.points.get(&address) else { return Ok(()) };
        self.replace_byte(tid, address, point.original)?;
        self.points.insert(address, Breakpoint { planted: false, ..point });
        Ok(())
    }

    /// Writes one byte of code and gives the byte that was there.
    fn replace_byte(&mut self, tid: Tid, address: MappedVa, byte: u8) -> io::Result<u8> {
        let (aligned, shift) = split(address);
        let word = match self.words.get(&aligned) {
            Some(&word) => word,
            None => ptrace::code_word(tid, aligned)?,
        };
        let new = with_byte(word, shift, byte);
        ptrace::set_code_word(tid, aligned, new)?;
        self.words.insert(aligned, new);
        Ok((word >> shift) as u8)
    }

    /// Plants a breakpoint that was removed to step over its instruction.
    pub fn replant(&mut self, tid: Tid, address: MappedVa) -> io::Result<()> {
        match self.points.get(&address) {
            Some(point) => self.plant(tid, address, point.purpose),
            None => Ok(()),
        }
    }

    /// Removes every breakpoint at a CPUID instruction.
    pub fn remove_cpuids(&mut self, tid: Tid) -> io::Result<()> {
        let is_cpuid = |point: &Breakpoint| {
            point.planted && matches!(point.purpose, BreakpointPurpose::Cpuid(_))
        };
        let planted: Vec<MappedVa> =
            self.points.iter().filter(|(_, p)| is_cpuid(p)).map(|(&address, _)| address).collect();
        planted.into_iter().try_for_each(|address| self.remove(tid, address))
    }

    /// The bytes to put back in a copy of this space, whatever was planted when it was copied.
    pub fn originals(&self) -> Vec<(MappedVa, u8)> {
        self.points.iter().map(|(&address, point)| (address, point.original)).collect()
    }
}

/// Puts a byte of code back in a copy of a space, where a breakpoint may or may not have been.
pub fn restore(tid: Tid, address: MappedVa, original: u8) -> io::Result<()> {
    let (aligned, shift) = split(address);
    let word = ptrace::code_word(tid, aligned)?;
    let new = with_byte(word, shift, original);
    if new == word { Ok(()) } else { ptrace::set_code_word(tid, aligned, new) }
}

/// Address of the word that holds a byte, and the byte's place in it.
fn split(address: MappedVa) -> (MappedVa, u64) {
    (MappedVa(address.0 & !7), (address.0 & 7) * 8)
}

fn with_byte(word: u64, shift: u64, byte: u8) -> u64 {
    (word & !(0xff << shift)) | (u64::from(byte) << shift)
}
