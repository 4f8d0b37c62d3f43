//! The job that headstart itself was started in, whose limits apply to its launches.

use super::{Outcome, under_wine};
use model::Check;
use std::io;
use std::ptr::{from_mut, null_mut};
use windows_sys::Win32::System::JobObjects::{
    IsProcessInJob, JOB_OBJECT_CPU_RATE_CONTROL_ENABLE, JOB_OBJECT_LIMIT,
    JOB_OBJECT_LIMIT_ACTIVE_PROCESS, JOB_OBJECT_LIMIT_AFFINITY, JOB_OBJECT_LIMIT_JOB_MEMORY,
    JOB_OBJECT_LIMIT_JOB_TIME, JOB_OBJECT_LIMIT_PRIORITY_CLASS, JOB_OBJECT_LIMIT_PROCESS_MEMORY,
    JOB_OBJECT_LIMIT_PROCESS_TIME, JOB_OBJECT_LIMIT_SCHEDULING_CLASS, JOB_OBJECT_LIMIT_WORKINGSET,
    JOBOBJECT_CPU_RATE_CONTROL_INFORMATION, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectCpuRateControlInformation, JobObjectExtendedLimitInformation,
    QueryInformationJobObject,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

const EFFECT: &str = "the limits of the job also apply to launches, which may be slower or fail";

/// Limits that the launches inherit.
pub(super) fn limits() -> Check {
    let mut is_in_job = 0;
    // SAFETY: `is_in_job` outlives the call; no job means any.
    let told = unsafe { IsProcessInJob(GetCurrentProcess(), null_mut(), &mut is_in_job) } != 0;
    let outcome = match (told, is_in_job) {
        (false, _) => Outcome::unknown(io::Error::last_os_error().to_string(), EFFECT),
        (true, 0) => Outcome::good("headstart is not in a job", "no job limits the launches"),
        _ => under_wine("does not report the limits of a job", EFFECT).unwrap_or_else(of_job),
    };
    outcome.named("job")
}

fn of_job() -> Outcome {
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    let mut rate = JOBOBJECT_CPU_RATE_CONTROL_INFORMATION::default();
    let (limits_bytes, rate_bytes) = (size_of_val(&limits) as u32, size_of_val(&rate) as u32);
    // SAFETY: no job means that of this process; both structures have the sizes that are said and
    // outlive the calls.
    let told = unsafe {
        let into = from_mut(&mut rate).cast();
        QueryInformationJobObject(
            null_mut(),
            JobObjectCpuRateControlInformation,
            into,
            rate_bytes,
            null_mut(),
        );
        let into = from_mut(&mut limits).cast();
        QueryInformationJobObject(
            null_mut(),
            JobObjectExtendedLimitInformation,
            into,
            limits_bytes,
            null_mut(),
        ) != 0
    };
    if !told {
        return Outcome::unknown(io::Error::last_os_error().to_string(), EFFECT);
    }
    let has_rate = rate.ControlFlags & JOB_OBJECT_CPU_RATE_CONTROL_ENABLE != 0;
    told_of(limits.BasicLimitInformation.LimitFlags, has_rate)
}

fn told_of(flags: JOB_OBJECT_LIMIT, has_rate: bool) -> Outcome {
    const NAMES: [(JOB_OBJECT_LIMIT, &str); 6] = [
        (JOB_OBJECT_LIMIT_PROCESS_TIME | JOB_OBJECT_LIMIT_JOB_TIME, "CPU time"),
        (
            JOB_OBJECT_LIMIT_PROCESS_MEMORY
                | JOB_OBJECT_LIMIT_JOB_MEMORY
                | JOB_OBJECT_LIMIT_WORKINGSET,
            "memory",
        ),
        (JOB_OBJECT_LIMIT_AFFINITY, "CPUs"),
        (JOB_OBJECT_LIMIT_PRIORITY_CLASS, "priority"),
        (JOB_OBJECT_LIMIT_SCHEDULING_CLASS, "scheduling"),
        (JOB_OBJECT_LIMIT_ACTIVE_PROCESS, "number of processes"),
    ];
    let set = NAMES.into_iter().filter(|(bits, _)| flags & bits != 0).map(|(_, name)| name);
    let set: Vec<&str> = set.chain(has_rate.then_some("share of the CPUs")).collect();
    match set.as_slice() {
        [] => {
            Outcome::good("headstart is in a job that limits nothing", "no job limits the launches")
        }
        set => {
            let found = format!("headstart is in a job that limits: {}", set.join(", "));
            Outcome::warning(found, EFFECT)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CheckState;
    use windows_sys::Win32::System::JobObjects::JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;

    #[test]
    fn a_job_that_only_ends_its_processes_limits_nothing() {
        let check = |flags, has_rate| told_of(flags, has_rate).named("job");
        assert_eq!(check(JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, false).state, CheckState::Good);
        let limited = check(JOB_OBJECT_LIMIT_JOB_MEMORY | JOB_OBJECT_LIMIT_AFFINITY, true);
        assert_eq!(limited.state, CheckState::Warning);
        assert!(limited.found.ends_with("limits: memory, CPUs, share of the CPUs"), "{limited:?}");
    }
}
