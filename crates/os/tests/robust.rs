//! Programs that behave badly, and launchers that are killed: nothing is left running.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use model::{Ending, Launch, Until};
use os::launcher::{LaunchSpec, Launcher, Stdio};
use os::program::resolve;
use os::{LaunchError, processes};
use std::io::PipeWriter;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::time::{Duration, Instant};

fn spec(until: Until, timeout_ms: u64) -> LaunchSpec {
    let timeout = Duration::from_millis(timeout_ms);
    LaunchSpec { until, timeout, grace: Duration::from_millis(200) }
}

fn sh(launcher: &mut Launcher, script: &str, spec: &LaunchSpec) -> Result<Launch, LaunchError> {
    let null = Stdio::null()?;
    let argv = ["sh", "-c", script].map(str::to_owned);
    let slot = launcher.prepare(&resolve(&argv)?, &null, &[])?;
    launcher.launch(slot, spec)
}

/// The same, followed for private memory where that is asked for.
fn sh_as(
    followed: bool,
    launcher: &mut Launcher,
    script: &str,
    spec: &LaunchSpec,
) -> Result<Launch, LaunchError> {
    if !followed {
        return sh(launcher, script, spec);
    }
    let null = Stdio::null()?;
    let argv = ["sh", "-c", script].map(str::to_owned);
    let slot = launcher.prepare(&resolve(&argv)?, &null, &[])?;
    launcher.followed(slot, spec)
}

/// One launch, after which nothing of it exists.
fn launch(script: &str, until: Until, timeout_ms: u64) -> Launch {
    let mut launcher = Launcher::start().unwrap();
    let launch = sh(&mut launcher, script, &spec(until, timeout_ms)).unwrap();
    let left = processes::descendants(launcher.pid() as i32);
    assert!(left.is_empty(), "left running: {left:?} {launch:?}");
    launch
}

#[test]
fn a_daemon_that_forks_twice_into_its_own_session() {
    let script = "(setsid sh -c '(trap \"\" TERM HUP INT; sleep 100; sleep 100) &' &) ; sleep 0.1";
    let launch = launch(script, Until::Exit, 10_000);
    assert_eq!(launch.ending, Ending::Code(0));
    assert!(launch.left_running >= 1, "{launch:?}");
}

#[test]
fn a_program_that_ignores_sigterm() {
    let script = "trap '' TERM HUP INT; echo ready; while :; do sleep 1; done";
    let ready = launch(script, Until::Output("ready".to_owned()), 10_000);
    assert_eq!(ready.ending, Ending::Ready);
    assert_eq!(launch(script, Until::Exit, 200).ending, Ending::TimedOut);
}

#[test]
fn a_program_that_stops_itself() {
    for until in [Until::Exit, Until::Output("ready".to_owned())] {
        let launch = launch("kill -STOP $$; echo ready", until, 300);
        assert_eq!(launch.ending, Ending::TimedOut);
        assert!(launch.total_us < 5e6, "{launch:?}");
    }
}

#[test]
fn a_program_that_closes_everything() {
    let script = "exec 0<&- 1>&- 2>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exit 4";
    assert_eq!(launch(script, Until::Exit, 10_000).ending, Ending::Code(4));
    let mut launcher = Launcher::start().unwrap();
    let silent = "exec 1>&- 2>&-; sleep 0.5";
    let spec = spec(Until::Output("ready".to_owned()), 10_000);
    assert_eq!(sh(&mut launcher, silent, &spec).unwrap().ending, Ending::Code(0));
    assert!(cpu_ticks(launcher.pid() as i32) < 20, "the launcher spins on a closed pipe");
}

/// Hundredths of a second that the process has used.
fn cpu_ticks(pid: i32) -> u64 {
    let fields = processes::stat_fields(pid).unwrap();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn the_last_words_may_be_the_ones_waited_for() {
    for _ in 0..50 {
        let launch = launch("echo ready", Until::Output("ready".to_owned()), 10_000);
        assert_eq!(launch.ending, Ending::Ready);
    }
}

#[test]
fn signals_and_core_dumps_are_told_apart_from_exits() {
    for (signal, name) in
        [(libc::SIGABRT, "ABRT"), (libc::SIGSEGV, "SEGV"), (libc::SIGKILL, "KILL")]
    {
        let script = format!("ulimit -c 0; kill -{name} $$");
        assert_eq!(launch(&script, Until::Exit, 10_000).ending, Ending::Signal(signal));
    }
    let folder = tempfile::tempdir().unwrap();
    let script = format!("cd {}; ulimit -c unlimited; kill -ABRT $$", folder.path().display());
    assert_eq!(launch(&script, Until::Exit, 10_000).ending, Ending::Signal(libc::SIGABRT));
}

#[test]
fn output_that_nobody_reads() {
    let mut launcher = Launcher::start().unwrap();
    let null = Stdio::null().unwrap();
    let (reader, writer): (_, PipeWriter) = std::io::pipe().unwrap();
    drop(reader);
    let command = resolve(&["yes".to_owned()]).unwrap();
    let slot = launcher.prepare(&command, &null.with_stdout(writer), &[]).unwrap();
    let launch = launcher.launch(slot, &spec(Until::Exit, 10_000)).unwrap();
    assert_eq!(launch.ending, Ending::Signal(libc::SIGPIPE));
}

#[test]
fn a_limit_beyond_all_time() {
    let spec = LaunchSpec { timeout: Duration::MAX, ..spec(Until::Exit, 0) };
    let mut launcher = Launcher::start().unwrap();
    assert_eq!(sh(&mut launcher, "exit 0", &spec).unwrap().ending, Ending::Code(0));
}

/// A shell with a plain child and a daemon that hides in a session of its own.
fn family(pids: &Path) -> String {
    let pids = pids.display();
    format!(
        "trap '' TERM HUP; sleep 100 & a=$!; (setsid sh -c 'trap \"\" TERM HUP; sleep 100; :' & \
         echo $! > {pids}.daemon); echo $$ $a $(cat {pids}.daemon) > {pids}.new; \
         mv {pids}.new {pids}; wait; sleep 100"
    )
}

/// Waits for the family to be complete and gives its members.
fn members(pids: &Path) -> Vec<i32> {
    wait_until(|| pids.exists());
    let text = std::fs::read_to_string(pids).unwrap();
    let pids: Vec<i32> = text.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(pids.len(), 3, "{text}");
    assert!(pids.iter().all(|&pid| is_running(pid)), "{text}");
    pids
}

fn is_running(pid: i32) -> bool {
    processes::stat_fields(pid).is_some_and(|fields| fields[0] != "Z" && fields[0] != "X")
}

fn wait_until(condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited for a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn kill(pid: i32, signal: &str) {
    let status = Command::new("sh").args(["-c", &format!("kill -{signal} {pid}")]).status();
    assert!(status.unwrap().success());
}

#[test]
fn nothing_survives_a_killed_launcher_or_guard() {
    let mechanisms = [
        (false, Until::Exit, false),
        (true, Until::Exit, false),
        (false, Until::Port(1), false),
        (false, Until::Exit, true),
        (true, Until::Exit, true),
    ];
    for (kill_guard, until, followed) in mechanisms {
        let folder = tempfile::tempdir().unwrap();
        let pids = folder.path().join("pids");
        let mut launcher = Launcher::start().unwrap();
        let launcher_pid = launcher.pid() as i32;
        let parent: i32 = processes::stat_fields(launcher_pid).unwrap()[1].parse().unwrap();
        let family = std::thread::scope(|scope| {
            let script = family(&pids);
            let launcher = &mut launcher;
            let launch = scope.spawn(move || {
                sh_as(followed, launcher, &script, &spec(until, 60_000)).unwrap_err()
            });
            let family = members(&pids);
            kill(if kill_guard { parent } else { launcher_pid }, "KILL");
            assert!(matches!(launch.join().unwrap(), LaunchError::LauncherGone));
            family
        });
        wait_until(|| !family.iter().any(|&pid| is_running(pid)));
        wait_until(|| !is_running(launcher_pid));
        drop(launcher);
        assert!(!is_running(parent));
    }
}

#[test]
#[ignore = "a helper of nothing_survives_a_killed_parent"]
fn helper_launches_until_killed() {
    let pids = PathBuf::from(std::env::var_os("HEADSTART_TEST_PIDS").unwrap());
    let followed = std::env::var_os("HEADSTART_TEST_FOLLOWED").is_some();
    let mut launcher = Launcher::start().unwrap();
    // Nobody is there to look at what it gives.
    let _ = sh_as(followed, &mut launcher, &family(&pids), &spec(Until::Exit, 60_000));
}

#[test]
fn nothing_survives_a_killed_parent() {
    for (signal, followed) in
        [("KILL", false), ("TERM", false), ("QUIT", false), ("KILL", true), ("TERM", true)]
    {
        let folder = tempfile::tempdir().unwrap();
        let pids = folder.path().join("pids");
        let mut parent = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "helper_launches_until_killed"])
            .env("HEADSTART_TEST_PIDS", &pids)
            .envs(followed.then_some(("HEADSTART_TEST_FOLLOWED", "1")))
            .stdout(process::Stdio::null())
            .spawn()
            .unwrap();
        let mut family = members(&pids);
        family.extend(processes::descendants(parent.id() as i32));
        assert!(family.len() >= 5, "launcher and guard too: {family:?}");
        kill(parent.id() as i32, signal);
        parent.wait().unwrap();
        wait_until(|| !family.iter().any(|&pid| is_running(pid)));
    }
}
