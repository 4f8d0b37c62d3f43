//! Launches of this very program, and of cmd.

mod debugged;
mod heard;

use super::*;
use model::{Ending, Reading};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The test that this file starts as its program; what it does is in a variable.
const PROGRAM: &str = "windows::launcher::tests::program";
const TASK: &str = "HEADSTART_TEST_TASK";

fn spec(until: Until, seconds: u64) -> LaunchSpec {
    LaunchSpec { until, timeout: Duration::from_secs(seconds), grace: GRACE }
}

/// This very program, which does `task`.
fn own(task: &str) -> Command {
    let program = std::env::current_exe().unwrap();
    let words = ["--exact", PROGRAM, "--nocapture", "--ignored", "--test-threads=1"];
    let argv = [program.as_os_str().to_owned()].into_iter().chain(words.map(OsString::from));
    let environment = vec![(TASK.to_owned(), Some(task.into()))];
    Command { argv: argv.collect(), program, directory: None, environment }
}

fn cmd(words: &[&str]) -> Command {
    let argv: Vec<&str> = ["cmd"].iter().chain(words).copied().collect();
    crate::program::resolve(&argv).unwrap()
}

/// Wine 8.0 ends one launch in thousands itself, with exit code 1: then it is made again.
fn launched(command: &Command, spec: &LaunchSpec) -> Result<Launch, LaunchError> {
    let mut launcher = Launcher::start()?;
    let slot = launcher.prepare(command, &Stdio::null()?, &[])?;
    let launch = launcher.launch(slot, spec)?;
    if launch.ending == Ending::Code(1) { launcher.launch(slot, spec) } else { Ok(launch) }
}

/// Not a test by itself: what the tests launch.
#[test]
#[ignore = "launched by other tests"]
#[expect(clippy::zombie_processes, reason = "what is left running is what is tested")]
fn program() {
    let task = std::env::var(TASK).unwrap();
    let (task, argument) = task.split_once(' ').unwrap_or((&task, ""));
    match task {
        "exit" => std::process::exit(argument.parse::<u32>().unwrap().cast_signed()),
        "sleep" => std::thread::sleep(Duration::from_secs(600)),
        "say" => {
            println!("{argument}");
            std::thread::sleep(Duration::from_secs(600));
        }
        "say-and-end" => println!("{argument}"),
        "file" => {
            std::fs::write(argument, "").unwrap();
            std::thread::sleep(Duration::from_secs(600));
        }
        "listen" => {
            let port: u16 = argument.parse().unwrap();
            let listener = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
            for connection in listener.incoming() {
                drop(connection);
            }
        }
        "leave" => {
            let mut other = std::process::Command::new(std::env::current_exe().unwrap());
            let words = ["--exact", PROGRAM, "--nocapture", "--ignored"];
            other.args(words).env(TASK, format!("say {argument}")).spawn().unwrap();
        }
        "start" => {
            let mut other = std::process::Command::new(std::env::current_exe().unwrap());
            let words = ["--exact", PROGRAM, "--nocapture", "--ignored"];
            other.args(words).env(TASK, argument).status().unwrap();
        }
        // SAFETY: it ends this program, or a debugger goes on behind it.
        "break" => unsafe { std::arch::asm!("int3") },
        "catch" => drop(std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new("caught")))),
        "launch" => {
            let mut launcher = Launcher::start().unwrap();
            let slot = launcher.prepare(&own(argument), &Stdio::inherited(), &[]).unwrap();
            launcher.launch(slot, &spec(Until::Exit, 600)).unwrap();
        }
        _ => panic!("{task}"),
    }
}

#[test]
fn exit_codes_have_32_bits() {
    for (code, ending) in [
        (0, Ending::Code(0)),
        (5, Ending::Code(5)),
        (70_000, Ending::Code(70_000)),
        (u32::MAX, Ending::Code(-1)),
        (0xc000_0135, Ending::Status(0xc000_0135)),
    ] {
        let launch = launched(&own(&format!("exit {code}")), &spec(Until::Exit, 60)).unwrap();
        assert_eq!((launch.ending, launch.left_running), (ending, 0));
        assert!(launch.total_us > 0.0);
    }
    let launch = launched(&cmd(&["/c", "exit 5"]), &spec(Until::Exit, 60)).unwrap();
    assert_eq!(launch.ending, Ending::Code(5));
}

#[test]
fn what_takes_too_long_is_ended_with_its_children() {
    let launch = launched(&own("sleep"), &spec(Until::Exit, 1)).unwrap();
    assert_eq!(launch.ending, Ending::TimedOut);
    assert!(launch.total_us >= 1e6);
    let never = launched(&own("sleep"), &spec(Until::Output("never".to_owned()), 1)).unwrap();
    assert_eq!(never.ending, Ending::TimedOut);
}

#[test]
fn what_is_left_running_is_ended_and_counted() {
    let launch = launched(&own("leave x"), &spec(Until::Exit, 60)).unwrap();
    assert_eq!((launch.ending, launch.left_running), (Ending::Code(0), 1));
    // Its output ends only when the process that was left has gone.
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut launcher = Launcher::start().unwrap();
    let stdio = Stdio::null().unwrap().with_output(writer);
    let slot = launcher.prepare(&own("leave words"), &stdio, &[]).unwrap();
    drop(stdio);
    launcher.aside(slot, &spec(Until::Exit, 60)).unwrap();
    let mut heard = [0; 4096];
    let mut text = Vec::new();
    while !String::from_utf8_lossy(&text).contains("words") {
        let count = reader.read(&mut heard).unwrap();
        assert!(count > 0, "it has ended with its parent");
        text.extend(&heard[..count]);
    }
    drop(launcher);
    reader.read_to_end(&mut text).unwrap();
}

#[test]
fn nothing_is_left_where_the_launcher_is_killed() {
    let command = own("launch say words");
    let mut launcher = std::process::Command::new(&command.program);
    launcher.args(&command.argv[1..]).env(TASK, "launch say words");
    let mut launcher = launcher.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut output = launcher.stdout.take().unwrap();
    let mut text = Vec::new();
    let mut heard = [0; 4096];
    while !String::from_utf8_lossy(&text).contains("words") {
        let count = output.read(&mut heard).unwrap();
        assert!(count > 0, "it has ended by itself");
        text.extend(&heard[..count]);
    }
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    // The program has it open as long as it runs, which is ten minutes.
    let (sender, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(output.read_to_end(&mut text)));
    assert!(end.recv_timeout(Duration::from_secs(30)).unwrap().is_ok());
}

#[test]
fn programs_inherit_their_own_streams_alone() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut launcher = Launcher::start().unwrap();
    let null = Stdio::null().unwrap();
    let other = null.clone().with_output(writer);
    let other_slot = launcher.prepare(&own("sleep"), &other, &[]).unwrap();
    let slot = launcher.prepare(&own("leave x"), &null, &[]).unwrap();
    launcher.aside(slot, &spec(Until::Exit, 60)).unwrap();
    // What was left runs, and nobody here can write to the pipe any more.
    drop(other);
    launcher.replace(other_slot, &own("sleep"), &null, &[]).unwrap();
    let (sender, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(reader.read(&mut [0])));
    assert_eq!(end.recv_timeout(Duration::from_secs(30)).unwrap().unwrap(), 0);
}

#[test]
fn programs_are_watched_until_they_are_ready() {
    let until = || spec(Until::Output("r.ady".to_owned()), 60);
    assert_eq!(launched(&own("say ready"), &until()).unwrap().ending, Ending::Ready);
    let left = launched(&own("leave ready"), &until()).unwrap();
    assert_eq!(left.ending, Ending::Ready, "said by what the program left");
    let last = launched(&own("say-and-end ready"), &until()).unwrap();
    assert_eq!(last.ending, Ending::Ready, "the last words");
    let never = launched(&own("exit 3"), &until()).unwrap();
    assert_eq!(never.ending, Ending::Code(3));

    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("up").display().to_string();
    let until = spec(Until::File(file.clone()), 60);
    assert_eq!(launched(&own(&format!("file {file}")), &until).unwrap().ending, Ending::Ready);
    let already = launched(&own(&format!("file {file}")), &until);
    assert!(matches!(already, Err(LaunchError::AlreadyReady(_))));
}

#[test]
fn a_port_is_waited_for() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let until = spec(Until::Port(port), 60);
    let command = own(&format!("listen {port}"));
    assert!(matches!(launched(&command, &until), Err(LaunchError::AlreadyReady(_))));
    drop(listener);
    assert_eq!(launched(&command, &until).unwrap().ending, Ending::Ready);
}

#[test]
fn the_entry_point_is_reached_and_the_program_is_not_run() {
    let mut launcher = Launcher::start().unwrap();
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("up");
    let command = own(&format!("file {}", file.display()));
    let slot = launcher.prepare(&command, &Stdio::null().unwrap(), &[]).unwrap();
    let made = launcher.once(slot, &spec(Until::Entry, 60)).unwrap();
    assert_eq!((made.launch.ending, made.launch.left_running), (Ending::Ready, 0));
    let created_us = made.launch.created_us.unwrap();
    assert!(created_us > 0.0 && created_us < made.launch.total_us);
    assert!(!file.exists());
}

#[test]
fn streams_arguments_and_variables_arrive() {
    let place = tempfile::tempdir().unwrap();
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(place.path().join("o"));
    let file = Arc::new(file.as_mut().unwrap().try_clone().unwrap());
    let mut launcher = Launcher::start().unwrap();
    let stdio = Stdio::null().unwrap().with_stdout(Arc::clone(&file));
    let slot = launcher.prepare(&cmd(&["/c", "echo", "%HSX%"]), &stdio, &[("HSX", "a b")]).unwrap();
    let records = launcher.launch_many(slot, &spec(Until::Exit, 60), 2).unwrap();
    assert_eq!(records.len(), 2);
    assert!(records[0].ticks < records[1].ticks && records[0].pid != 0);
    let mut text = String::new();
    (&*file).rewind().unwrap();
    (&*file).read_to_string(&mut text).unwrap();
    assert_eq!(text.replace('\r', ""), "a b\na b\n");
    (&*file).flush().unwrap();
}

#[test]
fn launches_run_on_the_chosen_cpu() {
    let mut launcher = Launcher::start().unwrap();
    let cpu = Some(crate::host::quiet_cpu());
    launcher.configure(Configuration { cpu, realtime: false }).unwrap();
    let slot = launcher.prepare(&cmd(&["/c", "exit 0"]), &Stdio::null().unwrap(), &[]).unwrap();
    let launch = launcher.followed(slot, &spec(Until::Exit, 60)).unwrap();
    assert_eq!(launch.ending, Ending::Code(0));
    assert!(matches!(launch.private_kib, Some(Reading::Unavailable { .. })));
    let none = launcher.configure(Configuration { cpu: Some(4000), realtime: false });
    assert!(matches!(none, Err(LaunchError::System { .. })));
}

#[test]
fn what_wine_only_pretends_is_unavailable() {
    if crate::windows::under_wine::version().is_none() {
        return;
    }
    let launch = launched(&cmd(&["/c", "exit 0"]), &spec(Until::Exit, 60)).unwrap();
    assert!(launch.minor_faults.reason().is_some_and(|reason| reason.starts_with("Wine does not")));
    assert!(launch.cpu_us().value().is_none() && launch.peak_rss_kib.value().is_none());
    let mut launcher = Launcher::start().unwrap();
    let realtime = launcher.configure(Configuration { cpu: None, realtime: true });
    assert!(matches!(realtime, Err(LaunchError::NotPermitted { .. })));
}

#[test]
fn programs_that_cannot_be_started_say_why() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let command = |name: &str| Command {
        argv: vec![name.into()],
        program: path(name),
        directory: None,
        environment: Vec::new(),
    };
    let exit = spec(Until::Exit, 60);
    assert!(matches!(launched(&command("no.exe"), &exit), Err(LaunchError::NoSuchFile(_))));
    std::fs::write(path("text.exe"), "not a program").unwrap();
    let text = launched(&command("text.exe"), &exit);
    assert!(matches!(text, Err(LaunchError::WrongFormat { .. })), "{text:?}");
    std::fs::write(path("x.BAT"), "exit 0").unwrap();
    let batch = launched(&command("x.BAT"), &exit).unwrap_err().to_string();
    assert!(batch.contains("cmd /c"), "{batch}");
    let mut gone = cmd(&["/c", "exit 0"]);
    gone.directory = Some(path("gone"));
    assert!(matches!(launched(&gone, &exit), Err(LaunchError::Directory { .. })));
}
