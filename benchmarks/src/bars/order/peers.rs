//! Other recorders of calls at the same task.

use super::bed::{Bed, succeeds};
use crate::report::Row;
use crate::subjects::relinked::Link;
use anyhow::Result;
use std::process::Command;
use std::time::Instant;

const CALLGRIND_TIMES: f64 = 20.0;
const UFTRACE_TIMES: f64 = 50.0;

/// Both, each against headstart's time.
pub fn rows(bed: &Bed, traced_ms: f64) -> Result<Vec<Row>> {
    let task = bed.task("h1")?;
    let out = bed.context.scratch.join("callgrind.out");
    let mut callgrind = Command::new("valgrind");
    callgrind.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", out.display()));
    let callgrind = timed_ms(callgrind.arg(&bed.base).args(&task.arguments))?;
    // uftrace patches no functions of programs at random addresses.
    let fixed = bed.link("fixed", &Link { fixed: true, ..Link::default() })?;
    let data = bed.context.scratch.join("uftrace.data");
    let mut uftrace = Command::new("uftrace");
    uftrace.args(["record", "-P", ".", "--no-libcall", "-d"]).arg(data);
    let uftrace = timed_ms(uftrace.arg(&fixed).args(&task.arguments))?;
    std::fs::remove_file(fixed)?;
    Ok(vec![
        row("callgrind", callgrind / traced_ms, callgrind, CALLGRIND_TIMES),
        row("uftrace -P .", uftrace / traced_ms, uftrace, UFTRACE_TIMES),
    ])
}

fn row(peer: &str, times: f64, ms: f64, least: f64) -> Row {
    let figure = format!("{peer} ÷ median traced");
    let bar = format!("≥ {least}");
    Row::bar(figure, format!("{times:.1}"), &bar, times >= least).beside(format!("{ms:.0} ms"))
}

/// A whole process.
///
/// # Errors
/// It cannot be run, or fails.
pub fn timed_ms(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    succeeds(command)?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}
