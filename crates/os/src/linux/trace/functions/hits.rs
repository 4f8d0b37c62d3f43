//! A breakpoint is hit: the function is called.

use super::watched::Hit;
use crate::linux::trace::arch;
use crate::linux::trace::ptrace::{self, Resume, Tid};
use crate::linux::trace::session::Session;
use model::MappedVa;
use std::io;

impl Session<'_> {
    /// `tid` of a recorded launch stopped by SIGTRAP; `stepped` where it has just executed an
    /// instruction under a breakpoint that was lifted for it.
    pub fn on_recorded_trap(&mut self, tid: Tid, stepped: bool) -> io::Result<Resume> {
        let Some(task) = self.tasks.get_mut(&tid) else { return Ok(Resume::Continue(0)) };
        let (space, delivered) = (task.space, std::mem::take(&mut task.trap.delivered));
        if delivered && ptrace::is_notification(tid) {
            // The handler has its own set of blocked signals.
            self.learn_mask(tid)?;
            return Ok(Resume::Continue(0));
        }
        if (stepped || delivered) && !ptrace::is_breakpoint_stop(tid) {
            self.mend_trap(tid)?;
            self.keep_pending_trap(tid)?;
            return Ok(Resume::Continue(0));
        }
        let address = arch::breakpoint_address(tid)?;
        let hit = self.spaces.get(space).and_then(|space| space.watch.at(address));
        match hit {
            Some(hit) if hit.planted => self.on_function(tid, address, hit),
            // Another thread has hit it at the same moment.
            Some(_) if ptrace::is_breakpoint_stop(tid) => {
                arch::set_instruction_pointer(tid, address)?;
                self.mend_trap(tid)?;
                Ok(Resume::Continue(0))
            }
            _ => {
                if ptrace::is_breakpoint_stop(tid) {
                    self.on_foreign_breakpoint(tid, space, address);
                }
                self.on_own_trap(tid)
            }
        }
    }

    /// `tid` has executed a breakpoint instruction that is none of the recorder's. In memory that is
    /// not watched it may be in a copy of a function.
    fn on_foreign_breakpoint(&mut self, tid: Tid, space: usize, address: MappedVa) {
        let space = self.spaces.get(space);
        let is_watched = space.is_some_and(|space| space.watch.contains(address));
        let program = ptrace::proc_link(tid, "exe").unwrap_or_default();
        let Some(recording) = &mut self.recording else { return };
        recording.foreign_breakpoint = true;
        if !is_watched {
            recording.note(format!(
                "'{program}' executed a breakpoint instruction outside of the recorded modules: it \
                 is the program's own, or it copied a function with the recorder's breakpoint in it \
                 and behaves differently than usual"
            ));
        }
    }

    fn on_function(&mut self, tid: Tid, address: MappedVa, hit: Hit) -> io::Result<Resume> {
        let Some(task) = self.tasks.get(&tid) else { return Ok(Resume::Continue(0)) };
        let (process, space) = (task.process, task.space);
        if let Some(space) = self.spaces.get_mut(space) {
            space.watch.lift(tid, address)?;
        }
        arch::set_instruction_pointer(tid, address)?;
        self.mend_trap(tid)?;
        self.keep_pending_trap(tid)?;
        let pid = self.processes.get(process).map_or(0, |process| process.record.pid);
        let Some(recording) = &mut self.recording else { return Ok(Resume::Continue(0)) };
        let goes_on = recording.call(process, pid, hit);
        if !goes_on {
            return Ok(Resume::Continue(0));
        }
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.stepping = Some(address);
        }
        Ok(Resume::Step)
    }
}
