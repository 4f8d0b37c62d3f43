//! Programs that call ptrace themselves. A thread has one tracer only, and that is the recorder.
//!
//! LeakSanitizer ends a program with a process that shares its memory, stops its threads, reads
//! their registers, and lets them go on. The recorder does that for it. To others the kernel says
//! that tracing is not permitted, and a note says why.

use crate::linux::trace::arch;
use crate::linux::trace::ptrace::{self, Resume, Tid};
use crate::linux::trace::session::Session;
use model::MappedVa;
use std::io;

/// The largest set of registers that is copied: AMX needs 11 KiB.
const MOST_REGISTER_BYTES: u64 = 64 * 1024;
/// NT_PRSTATUS (linux/elf.h): the set that PTRACE_GETREGS gives.
const GENERAL_REGISTERS: u64 = 1;
/// What waitpid(2) reports of a thread that SIGSTOP has stopped.
const STOPPED: i32 = libc::SIGSTOP << 8 | 0x7f;

/// A thread that another process of the launch traces.
#[derive(Clone, Copy, Debug)]
pub struct Hold {
    /// That process.
    tracer: Tid,
    state: HoldState,
    /// The tracer waits for the stop, and wants its status here.
    awaited: Option<MappedVa>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HoldState {
    /// It was asked to stop.
    Asked,
    /// It has stopped.
    Stopped,
    /// It has stopped, and the tracer knows.
    Reported,
}

impl Session<'_> {
    /// `tid` is about to call ptrace.
    pub fn on_ptrace(
        &mut self,
        tid: Tid,
        [request, target, address, data, ..]: [u64; 6],
    ) -> io::Result<Resume> {
        let (request, target) = (request as libc::c_uint, target as Tid);
        let result = match request {
            libc::PTRACE_ATTACH if self.may_hold(tid, target) => self.hold(tid, target),
            _ if self.holds(tid, target) => self.serve(tid, target, request, address, data),
            _ => {
                self.note_refusal(tid, request, target);
                return Ok(Resume::Continue(0));
            }
        };
        arch::answer(tid, result.map_or_else(|error| error_number(&error), |()| 0))?;
        Ok(Resume::Continue(0))
    }

    /// `tid` is about to wait for what it may trace.
    pub fn on_wait_for_tracee(
        &mut self,
        tid: Tid,
        [target, status, options, ..]: [u64; 6],
    ) -> io::Result<Resume> {
        let target = target as Tid;
        let hold = self.tasks.get_mut(&target).and_then(|task| task.hold.as_mut());
        let Some(hold) = hold.filter(|hold| hold.tracer == tid) else {
            return Ok(Resume::Continue(0));
        };
        match hold.state {
            HoldState::Asked if options & libc::WNOHANG as u64 != 0 => arch::answer(tid, 0)?,
            HoldState::Asked => {
                hold.awaited = Some(MappedVa(status));
                return Ok(Resume::Leave);
            }
            HoldState::Stopped => {
                hold.state = HoldState::Reported;
                report(tid, target, MappedVa(status))?;
            }
            HoldState::Reported => {}
        }
        Ok(Resume::Continue(0))
    }

    /// SIGSTOP has stopped `tid`; `None` where nobody in the launch has asked for that.
    pub fn on_held(&mut self, tid: Tid) -> Option<Resume> {
        let hold = self.tasks.get_mut(&tid)?.hold.as_mut()?;
        if hold.state != HoldState::Asked {
            return None;
        }
        hold.state = HoldState::Stopped;
        if let Some(status) = hold.awaited.take() {
            hold.state = HoldState::Reported;
            let tracer = hold.tracer;
            // A tracer that has been killed only has to go on.
            let _ = report(tracer, tid, status);
            self.resume(tracer, Resume::Continue(0));
        }
        Some(Resume::Leave)
    }

    /// `tid` is gone: what it holds goes on, and who waits for it learns that.
    pub fn end_holds(&mut self, tid: Tid) {
        let hold = self.tasks.get_mut(&tid).and_then(|task| task.hold.take());
        if let Some(Hold { tracer, awaited: Some(_), .. }) = hold {
            let _ = arch::answer(tracer, (-libc::ECHILD).into());
            self.resume(tracer, Resume::Continue(0));
        }
        let held = self.tasks.iter().filter(|(_, task)| task.hold.is_some_and(|h| h.tracer == tid));
        let held: Vec<Tid> = held.map(|(&tid, _)| tid).collect();
        held.into_iter().for_each(|target| self.release(target, 0));
    }

    /// Whether the recorder can do for `tid` what tracing `target` takes: they share their memory,
    /// but are two processes.
    fn may_hold(&self, tid: Tid, target: Tid) -> bool {
        let (Some(tracer), Some(target)) = (self.tasks.get(&tid), self.tasks.get(&target)) else {
            return false;
        };
        tracer.space == target.space && tracer.process != target.process && target.hold.is_none()
    }

    /// Whether `tid` has `target` stopped.
    fn holds(&self, tid: Tid, target: Tid) -> bool {
        let hold = self.tasks.get(&target).and_then(|task| task.hold);
        hold.is_some_and(|hold| hold.tracer == tid && hold.state != HoldState::Asked)
    }

    fn hold(&mut self, tracer: Tid, target: Tid) -> io::Result<()> {
        let Some(task) = self.tasks.get_mut(&target) else {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        };
        let process = self.processes.get(task.process).map_or(0, |process| process.record.pid);
        ptrace::signal_thread(process as Tid, target, libc::SIGSTOP)?;
        task.hold = Some(Hold { tracer, state: HoldState::Asked, awaited: None });
        Ok(())
    }

    /// Does what `tid` asks for of `target`, which it holds.
    fn serve(
        &mut self,
        tid: Tid,
        target: Tid,
        request: libc::c_uint,
        address: u64,
        data: u64,
    ) -> io::Result<()> {
        match request {
            libc::PTRACE_DETACH => self.release(target, data as i32),
            libc::PTRACE_KILL => ptrace::kill(target),
            libc::PTRACE_GETREGS => {
                let mut registers = [0; size_of::<arch::Registers>()];
                ptrace::register_set(target, GENERAL_REGISTERS, &mut registers)?;
                ptrace::write_memory(tid, MappedVa(data), &registers)?;
            }
            libc::PTRACE_GETREGSET => copy_register_set(tid, target, address, MappedVa(data))?,
            _ => return Err(io::Error::from_raw_os_error(libc::EIO)),
        }
        Ok(())
    }

    /// Lets `target` go on, with this signal delivered.
    fn release(&mut self, target: Tid, signal: i32) {
        let Some(task) = self.tasks.get_mut(&target) else { return };
        let was_stopped = task.hold.take().is_some_and(|hold| hold.state != HoldState::Asked);
        if was_stopped {
            let how = if signal == 0 { Resume::Continue(0) } else { Resume::Deliver(signal) };
            self.resume(target, how);
        }
    }

    /// Says why ptrace fails, where it does so because of the recorder.
    fn note_refusal(&mut self, tid: Tid, request: libc::c_uint, target: Tid) {
        let attaches = matches!(request, libc::PTRACE_ATTACH | libc::PTRACE_SEIZE);
        let taken = attaches && self.tasks.contains_key(&target);
        if !taken && request != libc::PTRACE_TRACEME {
            return;
        }
        let program = ptrace::proc_link(tid, "exe").unwrap_or_default();
        if let Some(recording) = &mut self.recording {
            recording.note(format!(
                "'{program}' uses ptrace, which fails in a traced launch: a process has only one \
                 tracer; launch the program without its debugger or strace"
            ));
        }
    }
}

/// Tells `tracer` that `target` has stopped.
fn report(tracer: Tid, target: Tid, status: MappedVa) -> io::Result<()> {
    if status != MappedVa::ZERO {
        ptrace::write_memory(tracer, status, &STOPPED.to_le_bytes())?;
    }
    arch::answer(tracer, target.into())
}

/// PTRACE_GETREGSET: `part` is the address of a `struct iovec` in the memory of `tid`.
fn copy_register_set(tid: Tid, target: Tid, set: u64, part: MappedVa) -> io::Result<()> {
    let fault = || io::Error::from_raw_os_error(libc::EFAULT);
    let [base, bytes] = ptrace::read_words::<2>(tid, part).ok_or_else(fault)?;
    let mut registers = vec![0; bytes.min(MOST_REGISTER_BYTES) as usize];
    let size = ptrace::register_set(target, set, &mut registers)?;
    ptrace::write_memory(tid, MappedVa(base), &registers[..size.min(registers.len())])?;
    ptrace::write_memory(tid, part.wrapping_add(8), &(size as u64).to_le_bytes())
}

/// What a system call gives for an error.
fn error_number(error: &io::Error) -> i64 {
    (-error.raw_os_error().unwrap_or(libc::EIO)).into()
}
