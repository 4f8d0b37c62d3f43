//! The system calls at which a recorded program is stopped: those that map code, and those that
//! change what becomes of SIGTRAP.

use super::programs::NewCode;
use super::trap_signal::{ACTION_BYTES, SignalSet, TrapAction};
use crate::linux::trace::arch;
use crate::linux::trace::filter::{FilteredCall, Reason};
use crate::linux::trace::ptrace::{self, Resume, Tid};
use crate::linux::trace::session::Session;
use model::MappedVa;
use std::io;

/// What the end of a system call is awaited for.
#[derive(Clone, Debug)]
pub enum Awaited {
    /// Code is mapped.
    Code(NewCode),
    /// The action of SIGTRAP is read, and perhaps replaced.
    TrapAction { new: Option<TrapAction>, old: Option<MappedVa> },
    /// A signal handler returns, and with it the signals that were blocked before.
    Mask,
    /// A clone, whose flags were these before one of them was cleared.
    Clone(u64),
}

/// The stops of a recording.
pub fn stops() -> Vec<FilteredCall> {
    vec![
        FilteredCall::map_code(),
        FilteredCall::protect_code(),
        FilteredCall::action_of(libc::SIGTRAP),
        FilteredCall::set_mask(),
        FilteredCall::any(libc::SYS_rt_sigreturn, Reason::Mask),
        FilteredCall::undumpable(),
        FilteredCall::untraced_clone(),
        // Its flags are in memory, which filters do not see.
        FilteredCall::any(libc::SYS_clone3, Reason::Clone),
        FilteredCall::any(libc::SYS_ptrace, Reason::Trace),
        FilteredCall::any(libc::SYS_mremap, Reason::MoveMemory),
        FilteredCall::wait_for_all_kinds(),
    ]
}

impl Session<'_> {
    /// A filtered call of a recording is entered.
    pub fn on_recorded_call(&mut self, tid: Tid, reason: Reason) -> io::Result<Resume> {
        let registers = ptrace::registers(tid)?;
        let arguments = arch::syscall_arguments(&registers);
        let awaited = match reason {
            Reason::MapCode => Awaited::Code(NewCode::of(arguments)),
            Reason::ProtectCode => {
                let [start, bytes, ..] = arguments;
                let start = MappedVa(start);
                self.on_code_protected(tid, start..start.saturating_add(bytes));
                return Ok(Resume::Continue(0));
            }
            Reason::TrapAction => awaited_action(tid, arguments),
            Reason::Mask if arch::syscall_number(&registers) == libc::SYS_rt_sigprocmask => {
                self.on_set_mask(tid, arguments);
                return Ok(Resume::Continue(0));
            }
            Reason::Mask => Awaited::Mask,
            Reason::Undumpable => {
                self.unwatch(tid);
                return Ok(Resume::Continue(0));
            }
            Reason::Clone => match keep_traced(tid, arch::clone_flags(tid, &registers))? {
                Some(flags) => Awaited::Clone(flags),
                None => return Ok(Resume::Continue(0)),
            },
            Reason::MoveMemory => {
                self.on_move(tid, arguments);
                return Ok(Resume::Continue(0));
            }
            Reason::Trace => return self.on_ptrace(tid, arguments),
            Reason::AwaitTracee => return self.on_wait_for_tracee(tid, arguments),
            _ => return Ok(Resume::Continue(0)),
        };
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.trap.awaited = Some(awaited);
        }
        Ok(Resume::ToSyscallExit)
    }

    /// The call has been made.
    pub fn on_recorded_answer(&mut self, tid: Tid) -> io::Result<Resume> {
        let awaited = self.tasks.get_mut(&tid).and_then(|task| task.trap.awaited.take());
        match awaited {
            Some(Awaited::Code(new)) => self.on_code_mapped(tid, new)?,
            Some(Awaited::TrapAction { new, old }) => self.on_action(tid, new, old)?,
            Some(Awaited::Mask) => self.learn_mask(tid)?,
            // It has failed: who makes a child stops for its birth first.
            Some(Awaited::Clone(flags)) => arch::set_clone_flags(tid, flags)?,
            None => {}
        }
        Ok(Resume::Continue(0))
    }

    /// `tid` has made a child, or is it: the flags are again what the program asked for.
    pub fn mend_clone(&mut self, tid: Tid) {
        let awaited = self.tasks.get_mut(&tid).map(|task| &mut task.trap.awaited);
        let is_clone = |awaited: &mut Awaited| matches!(awaited, Awaited::Clone(_));
        if let Some(Awaited::Clone(flags)) = awaited.and_then(|it| it.take_if(is_clone)) {
            // Who has been killed meanwhile needs no flags.
            let _ = arch::set_clone_flags(tid, flags);
        }
    }

    /// rt_sigprocmask: what it will make of SIGTRAP.
    fn on_set_mask(&mut self, tid: Tid, [how, set, ..]: [u64; 6]) {
        let Some([set]) = ptrace::read_words::<1>(tid, MappedVa(set)) else { return };
        let has_trap = SignalSet(set).contains(libc::SIGTRAP);
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        match i32::try_from(how) {
            Ok(libc::SIG_BLOCK) => task.trap.blocked |= has_trap,
            Ok(libc::SIG_UNBLOCK) => task.trap.blocked &= !has_trap,
            Ok(libc::SIG_SETMASK) => task.trap.blocked = has_trap,
            _ => {}
        }
    }

    /// mremap: code is about to get another address, where nobody would know of its breakpoints.
    fn on_move(&mut self, tid: Tid, [from, bytes, ..]: [u64; 6]) {
        let memory = MappedVa(from)..MappedVa(from).saturating_add(bytes);
        let Some(task) = self.tasks.get(&tid) else { return };
        let Some(space) = self.spaces.get_mut(task.space) else { return };
        if !space.watch.lift_in(tid, &memory) {
            return;
        }
        let program = ptrace::proc_link(tid, "exe").unwrap_or_default();
        if let Some(recording) = &mut self.recording {
            recording.note(format!(
                "'{program}' moved code to another address (mremap); its calls from then on are not \
                 recorded"
            ));
        }
    }

    /// The process is about to take its memory from its tracer: no breakpoint may stay.
    fn unwatch(&mut self, tid: Tid) {
        let Some(task) = self.tasks.get(&tid) else { return };
        if let Some(space) = self.spaces.get_mut(task.space) {
            space.watch.lift_all(tid);
        }
        let pid = self.processes.get(task.process).map_or(0, |process| process.record.pid);
        if let Some(recording) = &mut self.recording {
            recording.note(format!(
                "process {pid} made itself undumpable; its calls from then on are not recorded"
            ));
        }
    }
}

/// Has a child traced that was to be untraced: there are breakpoints in the memory that it shares
/// or copies, and filtered calls fail without a tracer. Gives the flags as they were.
fn keep_traced(tid: Tid, flags: u64) -> io::Result<Option<u64>> {
    let traced = flags & !(libc::CLONE_UNTRACED as u64);
    if traced == flags {
        return Ok(None);
    }
    arch::set_clone_flags(tid, traced)?;
    Ok(Some(flags))
}

fn awaited_action(tid: Tid, [_, new, old, ..]: [u64; 6]) -> Awaited {
    let action = || {
        let mut bytes = [0; ACTION_BYTES];
        let complete = ptrace::read_memory(tid, MappedVa(new), &mut bytes) == ACTION_BYTES;
        complete.then(|| TrapAction::of(bytes))
    };
    Awaited::TrapAction {
        new: if new == 0 { None } else { action() },
        old: (old != 0).then_some(MappedVa(old)),
    }
}
