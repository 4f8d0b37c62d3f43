//! The launcher process on real programs.
#![cfg(unix)]

use model::{Ending, Launch, Until};
use os::launcher::{Configuration, LaunchSpec, Launcher, Stdio};
use os::program::resolve;
use os::{LaunchError, processes};
use std::fs::File;
use std::path::Path;
use std::time::Duration;

fn spec(until: Until) -> LaunchSpec {
    LaunchSpec { until, timeout: Duration::from_secs(10), grace: Duration::from_secs(2) }
}

fn launch_with(argv: &[&str], spec: &LaunchSpec) -> Result<Launch, LaunchError> {
    let argv: Vec<String> = argv.iter().map(|&argument| argument.to_owned()).collect();
    let mut launcher = Launcher::start()?;
    launcher.configure(Configuration { cpu: None, realtime: false })?;
    let null = Stdio::null()?;
    let slot = launcher.prepare(&resolve(&argv)?, &null, &[])?;
    let launch = launcher.launch(slot, spec)?;
    let left = processes::descendants(launcher.pid() as i32);
    let stats: Vec<_> = left.iter().map(|&pid| processes::stat_fields(pid)).collect();
    assert!(left.is_empty(), "left running: {stats:?} {launch:?}");
    Ok(launch)
}

fn sh(script: &str, until: Until) -> Launch {
    launch_with(&["sh", "-c", script], &spec(until)).expect("sh starts")
}

#[test]
fn tells_how_a_program_ended() {
    assert_eq!(sh("exit 7", Until::Exit).ending, Ending::Code(7));
    assert_eq!(sh("kill -SEGV $$", Until::Exit).ending, Ending::Signal(libc::SIGSEGV));
    let launch = sh("sleep 0.05", Until::Exit);
    assert!((50_000.0..5_000_000.0).contains(&launch.total_us), "{launch:?}");
    assert!(launch.minor_faults.get().unwrap() > 0);
    assert_eq!(launch.left_running, 0);
}

#[test]
fn reports_a_program_that_cannot_start() {
    let error = launch_with(&["/no/such/program"], &spec(Until::Exit)).unwrap_err();
    assert!(error.to_string().contains("does not exist"), "{error}");
}

#[test]
fn ends_a_hang_and_its_children() {
    let spec = LaunchSpec { timeout: Duration::from_millis(150), ..spec(Until::Exit) };
    let launch = launch_with(&["sh", "-c", "sleep 77 & sleep 77"], &spec).unwrap();
    assert_eq!(launch.ending, Ending::TimedOut);
    assert!(launch.total_us < 2_000_000.0);
}

#[test]
fn ends_what_a_daemon_leaves_running() {
    let launch = sh("setsid sh -c 'trap \"\" TERM HUP; sleep 78' & exit 0", Until::Exit);
    assert_eq!(launch.ending, Ending::Code(0));
    assert!(launch.left_running >= 1, "{launch:?}");
}

#[test]
fn measures_to_a_line_of_output() {
    let launch = sh("sleep 0.02; echo now ready; sleep 79", Until::Output("now r.*y".to_owned()));
    assert_eq!(launch.ending, Ending::Ready);
    assert!((20_000.0..5_000_000.0).contains(&launch.total_us), "{launch:?}");
    assert!(launch.peak_rss_kib.get().unwrap() > 300);
    let ended = sh("echo something else", Until::Output("ready".to_owned()));
    assert_eq!(ended.ending, Ending::Code(0));
}

#[test]
fn measures_to_a_file_of_a_program_that_becomes_a_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pid");
    let script = format!("(sleep 0.05; : > {}; sleep 79) & exit 0", path.display());
    let until = Until::File(path.display().to_string());
    assert_eq!(sh(&script, until.clone()).ending, Ending::Ready);
    let error = launch_with(&["true"], &spec(until)).unwrap_err().to_string();
    assert!(error.contains("already exists"), "{error}");
}

#[test]
fn measures_to_an_open_port() {
    let Some(python) = testkit::tool("python3") else { return };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let spec = spec(Until::Port(port));
    let error = launch_with(&["true"], &spec).unwrap_err().to_string();
    assert!(error.contains("already answers"), "{error}");
    drop(listener);
    // A launcher that another test forks at this moment still holds a copy.
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {}
    let serve = format!(
        "import socket,time\ns=socket.socket()\ns.setsockopt(1,2,1)\ns.bind(('127.0.0.1',{port}))\ns.listen()\ntime.sleep(80)"
    );
    let launch = launch_with(&[python.to_str().unwrap(), "-c", &serve], &spec).unwrap();
    assert_eq!(launch.ending, Ending::Ready);
}

/// Neither what the launcher itself has open nor the streams of other commands that it keeps.
#[test]
fn a_program_has_nothing_open_but_its_streams() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    let null = Stdio::null().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut launcher = Launcher::start().unwrap();
    let other = resolve(&["true".to_owned()]).unwrap();
    launcher.prepare(&other, &null.clone().with_stdin(reader).with_output(writer), &[]).unwrap();
    let list = resolve(&["ls", "/proc/self/fd"].map(str::to_owned)).unwrap();
    let stdio = null.with_stdout(File::create(&path).unwrap());
    let slot = launcher.prepare(&list, &stdio, &[]).unwrap();
    // The launcher has its own copies.
    drop(stdio);
    let spec = spec(Until::Exit);
    launcher.once(slot, &spec).unwrap();
    launcher.aside(slot, &spec).unwrap();
    launcher.followed(slot, &spec).unwrap();
    // The fourth is the folder that is listed.
    let found = std::fs::read_to_string(&path).unwrap();
    assert_eq!(found, "0\n1\n2\n3\n".repeat(3));
}

#[test]
fn a_missing_cpu_is_a_clear_error() {
    let mut launcher = Launcher::start().unwrap();
    let error = launcher.configure(Configuration { cpu: Some(1000), realtime: false }).unwrap_err();
    assert!(error.to_string().contains("; ChooseCpu"), "{error}");
    assert!(Path::new("/proc").join(launcher.pid().to_string()).exists());
}
