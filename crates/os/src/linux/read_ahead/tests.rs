//! The setting of a device of our own: a loop device, whose read-ahead nobody else needs.

use super::*;
use crate::linux::processes;
use rustix::process::Signal;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A loop device without a file system; detached when dropped.
struct Loop {
    _file: tempfile::NamedTempFile,
    device: String,
}

const USUAL_KIB: u64 = 132;
const LIMIT: Duration = Duration::from_secs(600);

impl Loop {
    fn attach() -> Option<Loop> {
        if !rustix::process::geteuid().is_root() {
            testkit::skip("only root can attach a loop device");
            return None;
        }
        let losetup = testkit::tool("losetup")?;
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        let output = Command::new(losetup).args(["--find", "--show"]).arg(file.path()).output();
        let output = output.unwrap();
        if !output.status.success() {
            testkit::skip(&format!("no loop device: {output:?}"));
            return None;
        }
        let device = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        let found = Loop { _file: file, device };
        fs::write(found.setting(), USUAL_KIB.to_string()).unwrap();
        Some(found)
    }

    fn name(&self) -> String {
        let name = Path::new(&self.device).file_name().unwrap();
        let text = fs::read_to_string(Path::new("/sys/block").join(name).join("dev")).unwrap();
        text.trim().to_owned()
    }

    fn setting(&self) -> String {
        format!("/sys/class/bdi/{}/read_ahead_kb", self.name())
    }

    fn kib(&self) -> u64 {
        fs::read_to_string(self.setting()).unwrap().trim().parse().unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn it_is_put_back_at_the_end_after_a_panic_and_where_the_guardian_was_killed() {
    let Some(device) = Loop::attach() else { return };
    let off = ReadAheadOff::on(&[device.name()], LIMIT).unwrap();
    assert_eq!(device.kib(), 0);
    assert!(Folder::has_kept());
    off.restore().unwrap();
    assert_eq!(device.kib(), USUAL_KIB);

    let panicked = std::panic::catch_unwind(|| {
        let _off = ReadAheadOff::on(&[device.name()], LIMIT).unwrap();
        assert_eq!(device.kib(), 0);
        panic!("as it should");
    });
    assert!(panicked.is_err());
    assert_eq!(device.kib(), USUAL_KIB);

    let off = ReadAheadOff::on(&[device.name()], LIMIT).unwrap();
    let guardian = off.changed.as_ref().unwrap().1.pid();
    processes::signal(guardian, Signal::KILL);
    drop(off);
    assert_eq!(device.kib(), USUAL_KIB);
}

#[test]
fn what_somebody_else_has_set_meanwhile_stays() {
    let Some(device) = Loop::attach() else { return };
    let off = ReadAheadOff::on(&[device.name()], LIMIT).unwrap();
    fs::write(device.setting(), "64").unwrap();
    off.restore().unwrap();
    assert_eq!(device.kib(), 64);
    // A device that has none is left alone, and nothing has to be guarded.
    fs::write(device.setting(), "0").unwrap();
    let off = ReadAheadOff::on(&[device.name()], LIMIT).unwrap();
    assert!(off.changed.is_none());
    off.restore().unwrap();
    assert_eq!(device.kib(), 0);
}

#[test]
#[ignore = "a helper of a_killed_headstart_leaves_nothing_changed"]
fn helper_is_killed() {
    let name = std::env::var("DEVICE").unwrap();
    let off = ReadAheadOff::on(&[name], LIMIT).unwrap();
    println!("guardian {}", off.changed.as_ref().unwrap().1.pid());
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
#[ignore = "a helper of a_stopped_headstart_leaves_nothing_changed_and_says_so"]
fn helper_is_stopped() {
    let name = std::env::var("DEVICE").unwrap();
    let off = ReadAheadOff::on(&[name], LIMIT).unwrap();
    println!("guardian {}", off.changed.as_ref().unwrap().1.pid());
    // Until it may go on.
    io::stdin().read_line(&mut String::new()).unwrap();
    println!("found {:?}", off.restore().map_err(|error| error.to_string()));
}

type Lines = Box<dyn Iterator<Item = String>>;

/// Starts the helper; it, its guardian, and what it says then.
fn helper(device: &Loop, name: &str) -> (std::process::Child, i32, Lines) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let command = command.args(["--exact", "--ignored", "--nocapture"]);
    let command = command.arg(format!("linux::read_ahead::tests::{name}"));
    let command = command.env("DEVICE", device.name()).stdout(std::process::Stdio::piped());
    let command = command.stdin(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let output = io::BufReader::new(child.stdout.take().unwrap());
    let mut lines = io::BufRead::lines(output).map_while(Result::ok);
    // The name of the test is on the same line.
    let line = lines.find(|line| line.contains("guardian ")).unwrap();
    let pid = line.rsplit(' ').next().unwrap().parse().unwrap();
    (child, pid, Box::new(lines))
}

#[test]
fn a_stopped_headstart_leaves_nothing_changed_and_says_so() {
    let Some(device) = Loop::attach() else { return };
    let (mut child, guardian, mut lines) = helper(&device, "helper_is_stopped");
    let pid = child.id() as i32;
    assert_eq!(device.kib(), 0);
    let words = still_locked(&Folder::open().unwrap()).to_string();
    assert!(words.contains(&format!("another headstart (process {pid}) is recording")), "{words}");
    processes::signal(pid, Signal::STOP);
    wait_until("the guardian restores", || device.kib() == USUAL_KIB);
    let state = |pid| processes::stat_fields(pid).map(|fields| fields[0].clone());
    assert_eq!(state(pid).as_deref(), Some("T"));
    wait_until("the guardian ends", || state(guardian).is_none_or(|state| state == "Z"));
    let words = still_locked(&Folder::open().unwrap()).to_string();
    assert!(words.contains("which is stopped"), "{words}");
    processes::signal(pid, Signal::CONT);
    io::Write::write_all(&mut child.stdin.take().unwrap(), b"\n").unwrap();
    let found = lines.find(|line| line.contains("found ")).unwrap();
    assert!(found.contains("headstart was stopped") && found.contains("not exact"), "{found}");
    child.wait().unwrap();
    assert_eq!(device.kib(), USUAL_KIB);
}

#[test]
fn after_the_limit_it_is_put_back_and_that_is_told() {
    let Some(device) = Loop::attach() else { return };
    let off = ReadAheadOff::on(&[device.name()], Duration::ZERO).unwrap();
    wait_until("the guardian restores", || device.kib() == USUAL_KIB);
    let error = off.restore().unwrap_err().to_string();
    assert!(error.contains("took too long") && error.contains("run the command again"), "{error}");
}

#[test]
fn a_killed_headstart_leaves_nothing_changed() {
    let Some(device) = Loop::attach() else { return };
    let (mut child, ..) = helper(&device, "helper_is_killed");
    assert_eq!(device.kib(), 0);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("the guardian restores", || device.kib() == USUAL_KIB);

    // Both killed: the next one restores.
    let (mut child, guardian, _) = helper(&device, "helper_is_killed");
    processes::signal(guardian, Signal::KILL);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("the guardian is gone", || processes::stat_fields(guardian).is_none());
    let (name, kib) = (device.name(), USUAL_KIB);
    // Another test may be the next one, or at work.
    let restored = restore_abandoned().unwrap();
    assert!(restored.is_empty() || restored == [RestoredDevice { name, kib }], "{restored:?}");
    wait_until("the next one restores", || device.kib() == USUAL_KIB);
    assert_eq!(restore_abandoned().unwrap(), []);
}

#[test]
fn two_wait_for_each_other() {
    let Some(device) = Loop::attach() else { return };
    let other = Loop::attach().unwrap();
    let off = ReadAheadOff::on(&[device.name()], LIMIT).unwrap();
    std::thread::scope(|scope| {
        let second =
            scope.spawn(|| ReadAheadOff::on(&[other.name()], LIMIT).unwrap().restore().unwrap());
        std::thread::sleep(Duration::from_millis(100));
        assert!(!second.is_finished());
        assert_eq!((device.kib(), other.kib()), (0, USUAL_KIB));
        off.restore().unwrap();
        second.join().unwrap();
    });
    assert_eq!((device.kib(), other.kib()), (USUAL_KIB, USUAL_KIB));
}
