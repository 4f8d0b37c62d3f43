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
        match self.hit_at(tid, space, address) {
            Some(hit) if hit.planted => self.on_function(tid, address, hit),
            // Another thread has hit it at the same moment.
            Some(hit) if ptrace::is_breakpoint_stop(tid) => {
                arch::set_instruction_pointer(tid, address)?;
                self.mend_trap(tid)?;
                if self.counts_calls() {
                    self.count_call(tid, hit);
                }
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

    /// Whether `tid`, which was to execute the instruction at `stepped` alone, is still at it: a
    /// string instruction stops after each repetition. It goes on then, and that is one call.
    pub fn goes_on_stepping(
        &mut self,
        tid: Tid,
        stepped: Option<MappedVa>,
        status: libc::c_int,
    ) -> bool {
        let (Some(address), Some(_)) = (stepped, &self.recording) else { return false };
        let is_trap = status >> 16 == 0 && libc::WSTOPSIG(status) == libc::SIGTRAP;
        if !is_trap || !arch::instruction_pointer(tid).is_ok_and(|next| next == address) {
            return false;
        }
        // A thread that has been killed meanwhile only has to go on.
        let _ = self.mend_trap(tid).and_then(|()| self.keep_pending_trap(tid));
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.stepping = stepped;
        }
        true
    }

    /// The function that `tid` calls at `address`.
    fn hit_at(&mut self, tid: Tid, space: usize, address: MappedVa) -> Option<Hit> {
        let watch = &mut self.spaces.get_mut(space)?.watch;
        let hit = watch.at(address)?;
        watch.is_ours(tid, address, hit.place).then_some(hit)
    }

    /// `tid` has executed a breakpoint instruction that is none of the recorder's. In memory that is
    /// not watched it may be in a copy of a function.
    fn on_foreign_breakpoint(&mut self, tid: Tid, space: usize, address: MappedVa) {
        let space = self.spaces.get(space);
        let is_watched = space.is_some_and(|space| space.watch.contains(address));
        let had_breakpoint = space.is_some_and(|space| space.watch.had_breakpoint(address));
        let program = ptrace::proc_link(tid, "exe").unwrap_or_default();
        let Some(recording) = &mut self.recording else { return };
        recording.foreign_breakpoint = true;
        if had_breakpoint {
            recording.note_copied_breakpoint(&program);
        } else if !is_watched {
            recording.note_foreign_breakpoint(&program);
        }
    }

    fn on_function(&mut self, tid: Tid, address: MappedVa, hit: Hit) -> io::Result<Resume> {
        let Some(task) = self.tasks.get(&tid) else { return Ok(Resume::Continue(0)) };
        let (space, blocked) = (task.space, task.trap.blocked);
        if let Some(space) = self.spaces.get_mut(space) {
            space.watch.lift(tid, address, hit.place)?;
        }
        arch::set_instruction_pointer(tid, address)?;
        self.mend_trap(tid)?;
        // A SIGTRAP that is not blocked is never pending while the program executes anything.
        if blocked || self.counts_calls() {
            self.keep_pending_trap(tid)?;
        }
        if !self.count_call(tid, hit) {
            return Ok(Resume::Continue(0));
        }
        self.note_uncounted(space);
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.stepping = Some(address);
        }
        Ok(Resume::Step)
    }

    /// Whether every call is counted, and functions keep their breakpoints.
    fn counts_calls(&self) -> bool {
        self.recording.as_ref().is_some_and(|recording| recording.count_limit.is_some())
    }

    /// Records the call; whether the function's calls are to be counted further.
    fn count_call(&mut self, tid: Tid, hit: Hit) -> bool {
        let process = self.tasks.get(&tid).map_or(0, |task| task.process);
        let pid = self.processes.get(process).map_or(0, |process| process.record.pid);
        self.recording.as_mut().is_some_and(|recording| recording.call(process, pid, hit))
    }

    /// Says that counts are too low, where other threads may call the function while its breakpoint
    /// is lifted.
    fn note_uncounted(&mut self, space: usize) {
        if self.tasks.values().filter(|task| task.space == space).count() < 2 {
            return;
        }
        if let Some(recording) = &mut self.recording {
            let note = "threads called functions while calls of other threads were counted: counts of \
                        programs with several threads are lower bounds";
            recording.note(note.to_owned());
        }
    }
}
