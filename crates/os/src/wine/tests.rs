//! Wine started and ended.

use super::*;
use crate::launcher::{Configuration, LaunchSpec, Launcher, Stdio};
use crate::processes;
use model::{Ending, Until};
use std::time::Duration;

fn spec() -> LaunchSpec {
    let timeout = Duration::from_secs(30);
    LaunchSpec { until: Until::Exit, timeout, grace: Duration::from_secs(1) }
}

#[test]
fn launches_and_leaves_nothing() {
    if testkit::tool("wine64").is_none() {
        return;
    }
    let cpu = crate::host::quiet_cpu();
    let wine = Wine::start(Some(cpu)).unwrap();
    let prefix = wine.prefix.path().to_owned();
    let processes = processes::descendants(wine.keeper.pid());
    let socket = wine.keeper.socket().expect("the server's folder");
    let command = wine.command(&wine.installation.libraries.join(FIRST));
    let mut launcher = Launcher::start().unwrap();
    launcher.configure(Configuration { cpu: Some(cpu), realtime: false }).unwrap();
    let null = Stdio::null().unwrap();
    let slot = launcher.prepare(&command, &null, &[]).unwrap();
    for _ in 0..3 {
        let launch = launcher.launch(slot, &spec()).unwrap();
        assert_eq!((launch.ending, launch.left_running), (Ending::Code(0), 0));
    }
    let missing = wine.command(Path::new("/no/such.exe"));
    let slot = launcher.prepare(&missing, &null, &[]).unwrap();
    assert_ne!(launcher.launch(slot, &spec()).unwrap().ending, Ending::Code(0));
    drop(launcher);
    drop(wine);
    assert!(!prefix.exists());
    for pid in processes {
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "{pid} is left");
    }
    assert!(!socket.exists(), "{socket:?}");
}

/// Not even where the keeper itself is killed.
#[test]
fn a_killed_keeper_is_noticed_and_leaves_nothing() {
    if testkit::tool("wine64").is_none() {
        return;
    }
    let wine = Wine::start(None).unwrap();
    assert!(wine.check().is_ok());
    let processes = processes::descendants(wine.keeper.pid());
    assert!(processes.len() >= 2, "the server and a service: {processes:?}");
    let socket = wine.keeper.socket().expect("the server's folder");
    // SAFETY: no pointers; the keeper is our child.
    unsafe { libc::kill(wine.keeper.pid(), libc::SIGKILL) };
    while wine.check().is_ok() {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(wine);
    assert!(!socket.exists(), "{socket:?}");
    let runs = |pid: &i32| {
        let fields = processes::stat_fields(*pid);
        fields.is_some_and(|fields| fields[0] != "Z")
    };
    for _ in 0..1000 {
        if !processes.iter().any(runs) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{:?} are left", processes.iter().filter(|pid| runs(pid)).collect::<Vec<_>>());
}

#[test]
fn programs_see_our_prefix_and_no_display() {
    let found = environment(Path::new("/p"));
    let value = |name: &str| {
        let found = found.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_deref().and_then(std::ffi::OsStr::to_str))
    };
    assert_eq!(value("WINEPREFIX"), Some(Some("/p")));
    assert_eq!(value("WINEDEBUG"), Some(Some("-all")));
    assert!(value("WINEDLLOVERRIDES").flatten().unwrap().contains("winedbg.exe=d"));
    assert_eq!((value("DISPLAY"), value("WINESERVER")), (Some(None), Some(None)));
}
