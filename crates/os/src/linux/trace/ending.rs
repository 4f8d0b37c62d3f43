//! The end of a traced launch: what is left running, and the report.

use super::TracedLaunch;
use super::ptrace::{self, Resume, Tid};
use super::session::Session;
use crate::linux::LaunchError;
use model::{Ending, PhaseTrace, Reading};

impl Session<'_> {
    /// Kills whatever the launched process left running and waits until it is gone.
    pub fn end_descendants(&mut self) -> Result<u32, LaunchError> {
        let running = self.processes.iter().filter(|p| p.threads > 0 && !p.exiting);
        let running: Vec<u32> = running.map(|process| process.record.pid).collect();
        if let Some(recording) = &mut self.recording {
            let program = |pid: &u32| ptrace::proc_link(*pid as Tid, "exe").unwrap_or_default();
            let left: Vec<String> = running.iter().map(program).collect();
            recording.note_left(&left, "to record a daemon, start it in the foreground");
        }
        self.tasks.keys().chain(self.early.keys()).for_each(|&tid| ptrace::kill(tid));
        while let Some((tid, status)) = ptrace::wait_any()? {
            if libc::WIFSTOPPED(status) {
                if !self.tasks.contains_key(&tid) {
                    ptrace::kill(tid);
                }
                // Its account can be read only as long as it is there.
                let at_us = self.now_us();
                self.on_waited(tid, at_us);
                ptrace::resume(tid, Resume::Continue(0));
            } else {
                let at_us = self.now_us();
                self.on_end(tid, at_us);
            }
        }
        Ok(running.len() as u32)
    }

    pub fn report(self, total_us: f64, ending: Ending, left_running: u32) -> TracedLaunch {
        let mut file_calls = self.file_calls;
        file_calls.sort_by(|one, other| one.at_us.total_cmp(&other.at_us));
        let mut processes: Vec<_> =
            self.processes.into_iter().map(|process| process.record).collect();
        for image in processes.iter_mut().flat_map(|process| &mut process.images) {
            image.marks.sort_by(|one, other| one.at_us.total_cmp(&other.at_us));
        }
        let cpuids = if self.request.count_cpuid {
            Reading::Value(self.cpuids.into_iter().filter(|(_, count)| *count > 0).collect())
        } else {
            Reading::unavailable("CPUID instructions were not counted in this launch", "")
        };
        let trace = PhaseTrace { total_us, processes, stops: self.stops, cpuids, file_calls };
        let Session { threads, waits, variables, pages, .. } = self;
        TracedLaunch { trace, threads, waits, variables, pages, ending, left_running }
    }
}
