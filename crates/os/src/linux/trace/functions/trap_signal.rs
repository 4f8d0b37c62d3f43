//! SIGTRAP stays what the program made of it.
//!
//! Where a breakpoint is hit while SIGTRAP is blocked or ignored, the kernel unblocks it and takes
//! its handler away (force_sig_info_to_task in kernel/signal.c). Both are put right again: the
//! mask at once, the action when the program could notice.

use super::filtered::Awaited;
use crate::linux::trace::arch;
use crate::linux::trace::ptrace::{self, Resume, Tid};
use crate::linux::trace::session::Session;
use model::MappedVa;
use std::io;

/// Size of the kernel's `struct sigaction` with a mask of eight bytes.
pub const ACTION_BYTES: usize = 32;

/// What is known of SIGTRAP in a thread.
#[derive(Clone, Debug, Default)]
pub struct TrapState {
    /// The program has blocked it.
    pub blocked: bool,
    /// A signal has just been delivered, and the next stop is at the start of its handler.
    pub delivered: bool,
    /// What the end of the present system call is awaited for.
    pub awaited: Option<Awaited>,
    /// What is known of a SIGTRAP of the program that was pending when a breakpoint was hit.
    pub owed: Option<libc::siginfo_t>,
}

impl TrapState {
    /// What a new thread or process begins with.
    pub fn inherited(&self) -> TrapState {
        let awaited = self.awaited.clone().filter(|call| matches!(call, Awaited::Clone(_)));
        TrapState { blocked: self.blocked, awaited, ..TrapState::default() }
    }
}

/// What a process does about SIGTRAP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrapAction {
    /// It ends.
    #[default]
    Default,
    /// Nothing.
    Ignore,
    /// It calls a function: the kernel's structure.
    Handle([u8; ACTION_BYTES]),
}

impl TrapAction {
    /// From the kernel's structure, which begins with the handler.
    pub fn of(bytes: [u8; ACTION_BYTES]) -> TrapAction {
        const DEFAULT: u64 = libc::SIG_DFL as u64;
        const IGNORE: u64 = libc::SIG_IGN as u64;
        match bytes.first_chunk().map(|word| u64::from_le_bytes(*word)) {
            Some(DEFAULT) | None => TrapAction::Default,
            Some(IGNORE) => TrapAction::Ignore,
            Some(_) => TrapAction::Handle(bytes),
        }
    }

    fn bytes(self) -> [u8; ACTION_BYTES] {
        let mut bytes = [0; ACTION_BYTES];
        match self {
            TrapAction::Default => {}
            TrapAction::Ignore => bytes[0] = libc::SIG_IGN as u8,
            TrapAction::Handle(action) => bytes = action,
        }
        bytes
    }
}

/// The action of a process, and whether a breakpoint has made the kernel forget it.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrapDisposition {
    pub action: TrapAction,
    pub lost: bool,
}

impl TrapDisposition {
    /// What is left of it after execve: handlers are gone.
    pub fn executed(self) -> Self {
        let action = match self.action {
            TrapAction::Ignore => TrapAction::Ignore,
            _ => TrapAction::Default,
        };
        TrapDisposition { action, ..self }
    }
}

/// A set of signals as the kernel has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalSet(pub u64);

impl SignalSet {
    pub fn contains(self, signal: i32) -> bool {
        self.0 >> (signal - 1) & 1 == 1
    }

    fn with(self, signal: i32) -> SignalSet {
        SignalSet(self.0 | 1 << (signal - 1))
    }
}

impl Session<'_> {
    /// A fork begins with what its parent does about SIGTRAP.
    pub fn inherit_recording(&mut self, parent: usize, child: usize) {
        let Some(recording) = &mut self.recording else { return };
        recording.forked(parent, child);
        let trap = self.processes.get(parent).map(|parent| parent.trap);
        if let (Some(trap), Some(child)) = (trap, self.processes.get_mut(child)) {
            child.trap = trap;
        }
    }

    /// Reads which signals `tid` blocks, at a stop before any breakpoint could change that.
    pub fn learn_mask(&mut self, tid: Tid) -> io::Result<()> {
        let blocked = SignalSet(ptrace::signal_mask(tid)?).contains(libc::SIGTRAP);
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.trap.blocked = blocked;
        }
        Ok(())
    }

    /// `tid` has hit a breakpoint: blocks SIGTRAP again where it was blocked.
    pub fn mend_trap(&mut self, tid: Tid) -> io::Result<()> {
        let Some(task) = self.tasks.get(&tid) else { return Ok(()) };
        let (blocked, process) = (task.trap.blocked, task.process);
        let Some(process) = self.processes.get_mut(process) else { return Ok(()) };
        if blocked || process.trap.action == TrapAction::Ignore {
            process.trap.lost = process.trap.action != TrapAction::Default;
        }
        if blocked {
            let mask = SignalSet(ptrace::signal_mask(tid)?).with(libc::SIGTRAP);
            ptrace::set_signal_mask(tid, mask.0)?;
        }
        Ok(())
    }

    /// `tid` has hit a breakpoint or made a step. Where a SIGTRAP of the program was pending, the
    /// kernel keeps one only, and reports that: it becomes pending again.
    pub fn keep_pending_trap(&mut self, tid: Tid) -> io::Result<()> {
        let information = ptrace::signal_information(tid)?;
        // The kernel's own codes are above (sigaction(2), `si_code`).
        if information.si_code > libc::SI_USER {
            return Ok(());
        }
        let Some(task) = self.tasks.get_mut(&tid) else { return Ok(()) };
        task.trap.owed.get_or_insert(information);
        let process = self.processes.get(task.process).map_or(0, |process| process.record.pid);
        ptrace::signal_thread(process as Tid, tid, libc::SIGTRAP)
    }

    /// rt_sigaction of SIGTRAP has been made.
    pub fn on_action(
        &mut self,
        tid: Tid,
        new: Option<TrapAction>,
        old: Option<MappedVa>,
    ) -> io::Result<()> {
        if arch::syscall_result(&ptrace::registers(tid)?) != 0 {
            return Ok(());
        }
        let process = self.tasks.get(&tid).map(|task| task.process);
        let Some(process) = process.and_then(|index| self.processes.get_mut(index)) else {
            return Ok(());
        };
        if let (true, Some(old)) = (process.trap.lost, old) {
            ptrace::write_memory(tid, old, &process.trap.action.bytes())?;
        }
        if let Some(action) = new {
            process.trap = TrapDisposition { action, lost: false };
        }
        Ok(())
    }

    /// A SIGTRAP that no breakpoint of ours has caused is the program's own.
    pub fn on_own_trap(&mut self, tid: Tid) -> io::Result<Resume> {
        let owed = self.tasks.get_mut(&tid).and_then(|task| task.trap.owed.take());
        if let Some(information) = owed {
            ptrace::set_signal_information(tid, &information)?;
        }
        let process = self.tasks.get(&tid).map(|task| task.process);
        let Some(process) = process.and_then(|index| self.processes.get_mut(index)) else {
            return Ok(Resume::Continue(libc::SIGTRAP));
        };
        let TrapDisposition { action, lost } = process.trap;
        match action {
            TrapAction::Handle(action) if lost => {
                process.trap.lost = false;
                arch::set_trap_action(tid, &action)?;
                Ok(Resume::Deliver(libc::SIGTRAP))
            }
            // One that was sent. The kernel would end the process, as it has forgotten.
            TrapAction::Ignore if lost && !ptrace::is_breakpoint_stop(tid) => {
                Ok(Resume::Continue(0))
            }
            _ => Ok(Resume::Deliver(libc::SIGTRAP)),
        }
    }
}
