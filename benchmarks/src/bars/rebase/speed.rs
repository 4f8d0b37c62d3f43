//! Speed beside Cygwin's rebase and beside copying, in turns and on one file system.

use super::emitted::{self, RELOCATIONS};
use crate::context::Context;
use crate::report::{Report, Row};
use crate::statistics;
use anyhow::{Result, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const DLLS: u32 = 2000;
const ROUNDS: u64 = 15;
const PEER: &str = "HEADSTART_PEER_REBASE";
/// Files in memory, whose fsync costs nothing.
const MEMORY: &str = "/dev/shm";

/// Milliseconds of every round.
#[derive(Default)]
struct Times {
    headstart: Vec<f64>,
    copy: Vec<f64>,
    peer: Vec<f64>,
    /// The peer, and its files put on the disk, as headstart's are.
    durable_peer: Vec<f64>,
}

pub fn check(context: &Context, report: &mut Report) -> Result<()> {
    let peer = std::env::var_os(PEER).map(PathBuf::from);
    if peer.is_none() {
        println!("  SKIPPED: speed beside Cygwin's rebase; name a built one in {PEER}");
    }
    let memory = tempfile::tempdir_in(MEMORY).ok();
    if let Some(folder) = &memory {
        let times = rounds(context, folder.path(), peer.as_deref())?;
        rows(report, "files in memory", &times, peer.is_some());
    }
    let times = rounds(context, &context.scratch, peer.as_deref())?;
    rows(report, "on the disk", &times, false);
    if peer.is_some() {
        let value = statistics::median(times.headstart.clone());
        let durable = statistics::median(times.durable_peer.clone());
        let row =
            Row::shown("on the disk: beside the peer, its files put on the disk too", ms(value));
        report.rows.push(row.beside(format!("{} ({:.1} ×)", ms(durable), durable / value)));
    }
    Ok(())
}

fn rounds(context: &Context, folder: &Path, peer: Option<&Path>) -> Result<Times> {
    let (set, out, copy, own) =
        (folder.join("set"), folder.join("out"), folder.join("copy"), folder.join("peer"));
    emitted::write(&set, DLLS)?;
    emitted::write(&own, DLLS)?;
    let mut times = Times::default();
    for round in 0..ROUNDS {
        let mut headstart = Command::new(&context.headstart.program);
        headstart.args(["pe", "rebase", "--auto", "--out"]).arg(&out).args(files(&set)?);
        times.headstart.push(timed(&mut headstart)?);
        std::fs::remove_dir_all(&out)?;
        times.copy.push(timed(Command::new("cp").arg("-r").args([&set, &copy]))?);
        std::fs::remove_dir_all(&copy)?;
        if let Some(peer) = peer {
            // Another base each time: it leaves files alone that are there.
            let base = format!("{:#x}", 0x4_0000_0000 + (round % 2 + 1) * 0x1_0000_0000);
            let mut rebase = Command::new(peer);
            rebase.args(["-8", "-b", &base]).args(files(&own)?);
            let peer = timed(&mut rebase)?;
            times.peer.push(peer);
            times.durable_peer.push(peer + timed(Command::new("sync").arg("-f").arg(&own))?);
        }
    }
    for used in [set, own] {
        std::fs::remove_dir_all(used)?;
    }
    Ok(times)
}

fn files(folder: &Path) -> Result<Vec<OsString>> {
    let files = std::fs::read_dir(folder)?;
    files.map(|file| Ok(file?.path().into_os_string())).collect()
}

fn timed(command: &mut Command) -> Result<f64> {
    command.stdout(Stdio::null());
    let began = Instant::now();
    let status = command.status()?;
    let ms = began.elapsed().as_secs_f64() * 1e3;
    ensure!(status.success(), "{:?} failed", command.get_program());
    Ok(ms)
}

fn rows(report: &mut Report, place: &str, times: &Times, peer_bar: bool) {
    let value = statistics::median(times.headstart.clone());
    let relocations = u64::from(DLLS) * u64::from(RELOCATIONS);
    let figure = format!("{place}: {DLLS} DLLs, {relocations} relocations");
    report.rows.push(Row::shown(figure, ms(value)));
    let copy = statistics::median(times.copy.clone());
    let row =
        Row::bar(format!("{place}: beside copying"), ms(value), "3 × at most", value <= 3.0 * copy);
    report.rows.push(row.beside(format!("{} (cp: {:.1} ×)", ms(copy), value / copy)));
    if !times.peer.is_empty() {
        let peer = statistics::median(times.peer.clone());
        let name = format!("{place}: beside Cygwin's rebase in place");
        let row = match peer_bar {
            true => Row::bar(name, ms(value), "3 × faster", peer >= 3.0 * value),
            false => Row::shown(name, ms(value)),
        };
        report.rows.push(row.beside(format!("{} ({:.1} ×)", ms(peer), peer / value)));
    }
}

fn ms(value: f64) -> String {
    format!("{value:.0} ms")
}
