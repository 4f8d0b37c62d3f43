//! Breakpoints of one address space.
//!
//! Every breakpoint but those at CPUID instructions is hit once: the hit puts the original byte
//! back, so nothing has to be stepped over and no thread can miss an instruction.

use super::arch;
use super::ptrace::{self, Tid};
use std::collections::HashMap;
use std::io;

/// What a breakpoint is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
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
    /// A CPUID instruction of the module with this index.
    Cpuid(usize),
}

#[derive(Clone, Copy)]
struct Breakpoint {
    original: u8,
    purpose: Purpose,
    planted: bool,
}

/// An address space and its breakpoints.
pub struct Space {
    /// Index of the process that executed the image in it. A vfork child only borrows it.
    pub owner: usize,
    points: HashMap<u64, Breakpoint>,
}

impl Space {
    /// A fresh address space.
    pub fn new(owner: usize) -> Self {
        Space { owner, points: HashMap::new() }
    }

    /// Plants a breakpoint through the stopped thread `tid`. One that is there already stays.
    pub fn plant(&mut self, tid: Tid, address: u64, purpose: Purpose) -> io::Result<()> {
        if self.points.get(&address).is_some_and(|point| point.planted) {
            return Ok(());
        }
        let original = ptrace::replace_byte(tid, address, arch::BREAKPOINT)?;
        self.points.insert(address, Breakpoint { original, purpose, planted: true });
        Ok(())
    }

    /// Purpose of the breakpoint at `address` and whether it is still there. One that is gone
    /// may yet be reported by a thread that executed it at the same moment as another.
    pub fn at(&self, address: u64) -> Option<(Purpose, bool)> {
        self.points.get(&address).map(|point| (point.purpose, point.planted))
    }

    /// Puts the original byte back.
    pub fn remove(&mut self, tid: Tid, address: u64) -> io::Result<()> {
        if let Some(point) = self.points.get_mut(&address) {
            ptrace::replace_byte(tid, address, point.original)?;
            point.planted = false;
        }
        Ok(())
    }

    /// Plants a breakpoint that was removed to step over its instruction.
    pub fn replant(&mut self, tid: Tid, address: u64) -> io::Result<()> {
        match self.points.get(&address) {
            Some(point) => self.plant(tid, address, point.purpose),
            None => Ok(()),
        }
    }

    /// Removes every breakpoint at a CPUID instruction.
    pub fn remove_cpuids(&mut self, tid: Tid) -> io::Result<()> {
        for (&address, point) in &mut self.points {
            if point.planted && matches!(point.purpose, Purpose::Cpuid(_)) {
                ptrace::replace_byte(tid, address, point.original)?;
                point.planted = false;
            }
        }
        Ok(())
    }

    /// The bytes to put back in a copy of this space, whatever was planted when it was copied.
    pub fn originals(&self) -> Vec<(u64, u8)> {
        self.points.iter().map(|(&address, point)| (address, point.original)).collect()
    }
}
