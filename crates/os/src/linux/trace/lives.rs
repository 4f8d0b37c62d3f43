//! Births, new images and deaths of the threads and processes of a traced launch.

use super::arch;
use super::breakpoints::Space;
use super::functions::TrapDisposition;
use super::maps::FileMapping;
use super::marks::Executed;
use super::ptrace::{self, Resume, Tid};
use super::session::{Session, Task};
use model::{MarkKind, ThreadLife, TracedProcess};
use std::io;

/// A traced process.
pub(super) struct Process {
    pub record: TracedProcess,
    pub threads: usize,
    pub exiting: bool,
    /// What is known of the image that it executes now.
    pub executed: Option<Executed>,
    /// What was mapped of it, if it is a bundle.
    pub bundle_parts: Vec<FileMapping>,
    /// What it does about SIGTRAP, as far as a recording has to know.
    pub trap: TrapDisposition,
}

impl Session<'_> {
    /// A fork, vfork or clone by `tid` has succeeded.
    pub fn on_birth(&mut self, tid: Tid, at_us: f64) -> io::Result<Resume> {
        let child = ptrace::event_message(tid)? as Tid;
        let flags = arch::clone_flags(tid, &ptrace::registers(tid)?);
        let Some(parent) = self.tasks.get(&tid) else { return Ok(Resume::Continue(0)) };
        let (parent, shared, trap) = (parent.process, parent.space, parent.trap.inherited());
        self.mend_clone(tid);
        let process = if flags & libc::CLONE_THREAD as u64 != 0 {
            if let Some(process) = self.processes.get_mut(parent) {
                process.threads += 1;
            }
            parent
        } else {
            let process = self.add_process(child, Some(parent), at_us);
            self.inherit_recording(parent, process);
            process
        };
        let mut task = Task { trap, ..Task::new(process, shared, at_us) };
        let mut copied = Vec::new();
        if flags & libc::CLONE_VM as u64 == 0 {
            task.space = self.spaces.len();
            if let Some(shared) = self.spaces.get(shared) {
                copied = shared.originals();
                let space = Space::forked(process, shared);
                self.spaces.push(space);
            }
        }
        task.born = Some(copied);
        self.tasks.insert(child, task);
        if let Some(status) = self.early.remove(&child) {
            let resume = self.on_stop(child, status, at_us);
            self.resume(child, resume);
        }
        Ok(Resume::Continue(0))
    }

    pub fn add_process(&mut self, pid: Tid, parent: Option<usize>, started_us: f64) -> usize {
        let record = TracedProcess {
            pid: pid.unsigned_abs(),
            parent,
            started_us,
            ended_us: started_us,
            images: Vec::new(),
        };
        let trap = TrapDisposition::default();
        let (executed, bundle_parts) = (None, Vec::new());
        let process = Process { record, threads: 1, exiting: false, executed, bundle_parts, trap };
        self.processes.push(process);
        self.processes.len() - 1
    }

    /// execve by a thread ends the others and takes over the process's id.
    pub fn on_exec(&mut self, tid: Tid, at_us: f64) -> io::Result<Resume> {
        let caller = ptrace::event_message(tid).map_or(tid, |caller| caller as Tid);
        let Some(mut task) = self.tasks.remove(&caller).or_else(|| self.tasks.remove(&tid)) else {
            return Ok(Resume::Continue(0));
        };
        let process = task.process;
        let others: Vec<Tid> =
            self.tasks.iter().filter(|(_, t)| t.process == process).map(|(id, _)| *id).collect();
        others.into_iter().for_each(|other| self.end_thread(other, at_us));
        if let Some(process) = self.processes.get_mut(process) {
            process.threads = 1;
            // The end of the leading thread for the sake of execve was not the process's.
            process.exiting = false;
            if let Some(image) = process.record.images.last_mut() {
                image.marks.retain(|mark| mark.kind != MarkKind::Exiting);
                image.faults.retain(|(kind, _)| *kind != MarkKind::Exiting);
            }
        }
        if let Some(call) = task.call.take() {
            self.record_call(process, call, 0);
        }
        task.space = self.spaces.len();
        self.spaces.push(Space::new(process));
        let exec_called = task.exec_called.take();
        self.tasks.insert(tid, task);
        self.on_new_image(tid, process, exec_called, at_us);
        if self.recording.is_some() {
            self.watch_program(tid, process);
        }
        Ok(Resume::Continue(0))
    }

    /// A thread ends; with it the process, unless it called exit(2) and leaves others.
    pub fn on_exit(&mut self, tid: Tid, at_us: f64) -> io::Result<Resume> {
        let Some(process) = self.tasks.get(&tid).map(|task| task.process) else {
            return Ok(Resume::Continue(0));
        };
        self.on_waited(tid, at_us);
        let Some(state) = self.processes.get_mut(process) else { return Ok(Resume::Continue(0)) };
        let only_thread =
            state.threads > 1 && arch::syscall_number(&ptrace::registers(tid)?) == libc::SYS_exit;
        if !only_thread && !state.exiting {
            state.exiting = true;
            self.mark(process, MarkKind::Exiting, at_us);
            self.count_faults(process, MarkKind::Exiting);
            self.look_at_pages(tid, process);
        } else if only_thread && let Some(task) = self.tasks.get_mut(&tid) {
            // The end of a leading thread is reported after that of the last one.
            task.gone_us = Some(at_us);
        }
        Ok(Resume::Continue(0))
    }

    /// A thread is gone: its life is over, and its wait with it.
    fn end_thread(&mut self, tid: Tid, at_us: f64) {
        self.on_waited(tid, at_us);
        self.end_holds(tid);
        let Some(task) = self.tasks.remove(&tid) else { return };
        let Some(process) = self.processes.get(task.process) else { return };
        self.threads.push(ThreadLife {
            pid: process.record.pid,
            thread: tid.unsigned_abs(),
            started_us: task.started_us,
            ended_us: task.gone_us.unwrap_or(at_us),
        });
    }

    pub fn on_end(&mut self, tid: Tid, at_us: f64) {
        let Some(process) = self.tasks.get(&tid).map(|task| task.process) else { return };
        self.end_thread(tid, at_us);
        if let Some(process) = self.processes.get_mut(process) {
            process.threads = process.threads.saturating_sub(1);
            process.record.ended_us = at_us;
        }
    }
}
