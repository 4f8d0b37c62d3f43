//! The process that Wine's server and services belong to.
//!
//! Wine's processes outlive the programs that start them, and fork themselves out of reach. The
//! keeper is a child subreaper, so all of them are its descendants; it gets SIGTERM when headstart
//! dies, ends them and removes the prefix. The server dies with the keeper. A session of its own
//! keeps the terminal's Ctrl-C from the server: headstart decides what follows.

use super::WineError;
use super::prefix::{self, Contents};
use crate::launcher::Stdio;
use crate::launcher::guardian::close_all_but;
use crate::launcher::leave::{self, told_to_leave};
use crate::spawn::{Child, Prepared, Setup, spawn};
use crate::{LaunchError, interrupt, processes};
use model::Command;
use rustix::process::{Signal, WaitOptions, WaitStatus, setsid};
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What the keeper does.
pub struct Plan {
    /// Wine's server, in the foreground.
    pub server: Command,
    /// A program that ends at once: the first one of a prefix starts Wine's services, which would
    /// belong to a measured launch otherwise.
    pub first: Command,
    /// Empty at first, and removed at the end.
    pub prefix: PathBuf,
    /// Folder of Wine's own files.
    pub libraries: PathBuf,
    /// What of them is in the prefix.
    pub contents: Contents,
    /// CPU of the server and the services.
    pub cpu: Option<u32>,
}

/// How long the server may take to listen, and how long the first program.
const SERVER_LIMIT: Duration = Duration::from_secs(10);
const FIRST_LIMIT: Duration = Duration::from_secs(60);
/// How long Wine's processes may take to disappear after SIGKILL.
const END_LIMIT: Duration = Duration::from_secs(10);
/// How often a wait looks up.
const LOOK_UP: Duration = Duration::from_millis(5);

/// The keeper, seen from headstart.
pub struct Keeper {
    stream: UnixStream,
    pid: libc::pid_t,
    prefix: PathBuf,
}

impl Keeper {
    /// Starts the keeper and waits until the first program has ended well. It ends with the
    /// calling thread, too.
    pub fn start(plan: &Plan) -> Result<Keeper, WineError> {
        let failed = LaunchError::failed(
            "a process for Wine's server could not be created",
            "check the limits on processes and open files (ulimit -u, ulimit -n)",
        );
        let life = |stream, parent| keep(stream, parent, plan);
        let (stream, pid) = leave::fork(life).map_err(failed)?;
        let mut keeper = Keeper { stream, pid, prefix: plan.prefix.clone() };
        let said = keeper.hear().map_err(failed)?;
        match said.strip_prefix(READY) {
            Some(_) => Ok(keeper),
            None if interrupt::requested() => Err(LaunchError::Interrupted.into()),
            None if said.starts_with(UNWRITTEN) => Err(unwritten(&said)),
            None => Err(WineError::NotReady { found: said, by_hand: plan.first.line() }),
        }
    }

    /// Whether Wine's server still runs, as of a second ago: the keeper leaves after it.
    pub fn is_alive(&self) -> bool {
        let wait = Some(Duration::from_millis(1));
        let silent =
            self.stream.set_read_timeout(wait).and_then(|()| (&self.stream).read(&mut [0]));
        silent.is_err()
    }

    #[cfg(test)]
    pub fn pid(&self) -> libc::pid_t {
        self.pid
    }

    #[cfg(test)]
    pub fn socket(&self) -> Option<PathBuf> {
        processes::descendants(self.pid).into_iter().find_map(socket_of)
    }

    /// What the keeper says: a line.
    fn hear(&mut self) -> io::Result<String> {
        self.stream.set_read_timeout(Some(Duration::from_millis(200)))?;
        let (mut said, mut part) = (Vec::new(), [0; 512]);
        while !said.ends_with(b"\n") && !interrupt::requested() {
            match self.stream.read(&mut part) {
                Ok(0) => break,
                Ok(count) => said.extend_from_slice(&part[..count]),
                Err(error) if again(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(String::from_utf8_lossy(&said).trim_end().to_owned())
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
        // The keeper is our child and not yet waited for, so the id is still its own.
        processes::signal(self.pid, Signal::TERM);
        let status = processes::wait_for(self.pid, WaitOptions::empty());
        if status.is_some_and(WaitStatus::signaled) {
            clear(&self.prefix);
        }
    }
}

/// Ends whatever still works in the prefix, and removes that.
///
/// These are the services of a keeper that was killed, which do not end with their server, and the
/// launch of a headstart that was killed: it may outlive the keeper's other processes by
/// milliseconds, and write into the prefix meanwhile.
fn clear(prefix: &Path) {
    let began = Instant::now();
    while began.elapsed() < END_LIMIT {
        let ended = end_users(prefix);
        remove_sockets(prefix);
        let gone = match std::fs::remove_dir_all(prefix) {
            Ok(()) => true,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if gone && !ended {
            return;
        }
        std::thread::sleep(LOOK_UP);
    }
}

/// Ends the processes that were started with this prefix; whether there were any.
fn end_users(prefix: &Path) -> bool {
    let mark = [b"WINEPREFIX=", prefix.as_os_str().as_bytes()].concat();
    let mut found = false;
    for pid in processes::all().filter(|pid| *pid != processes::own_pid()) {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        if environment.split(|&byte| byte == 0).any(|variable| variable == mark) {
            processes::signal(pid, Signal::KILL);
            found = true;
        }
    }
    found
}

const READY: &str = "ready";
/// Begins what the keeper says of a file that it could not write.
const UNWRITTEN: &str = "unwritten ";

/// The error of which the keeper tells: the kernel's number, and the path.
fn unwritten(said: &str) -> WineError {
    let (number, path) = said.trim_start_matches(UNWRITTEN).split_once(' ').unwrap_or(("", said));
    let source = number.parse().map_or_else(|_| io::ErrorKind::Other.into(), from_number);
    WineError::Prefix { path: path.into(), source }
}

fn from_number(number: i32) -> io::Error {
    io::Error::from_raw_os_error(number)
}

fn again(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// The keeper's life.
fn keep(mut stream: UnixStream, parent: libc::pid_t, plan: &Plan) {
    leave::listen();
    close_all_but(&[stream.as_raw_fd()]);
    leave::live_and_die_with(parent, c"wine-keeper");
    // A child of fork never leads a group already, and so this does not fail.
    let _ = setsid();
    let (said, server) = match begin(plan) {
        Ok(server) => (READY.to_owned(), Some(server)),
        Err(error) => (error, None),
    };
    let told = stream.write_all(format!("{said}\n").as_bytes()).is_ok();
    if let (true, Some(server)) = (told, server) {
        wait_for_end(&mut stream, server);
    }
    processes::end_descendants(processes::own_pid(), END_LIMIT);
    clear(&plan.prefix);
}

/// Fills the prefix, starts the server, whose id it gives, and the first program.
fn begin(plan: &Plan) -> Result<libc::pid_t, String> {
    // Here and not before there is a keeper: somebody has to remove the files.
    prefix::make(&plan.prefix, &plan.libraries, plan.contents, told_to_leave).map_err(
        |(path, error)| {
            let number = error.raw_os_error().unwrap_or_default();
            format!("{UNWRITTEN}{number} {}", path.display())
        },
    )?;
    let server = start(&plan.server, plan.cpu)?;
    let listens = || socket_of(server.pid);
    // A server that is killed before it listens leaves a folder behind whose name nobody knows.
    wait_until(SERVER_LIMIT, &server, listens, || false)
        .map_err(|why| format!("the server {why} before it listened"))?;
    // Once in some thousands of launches the kernel's random addresses are in Wine's way.
    launch_first(plan).or_else(|_| launch_first(plan))?;
    // From now on nobody waits for the services: the kernel removes those that end.
    // SAFETY: no pointers.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    Ok(server.pid)
}

/// The folder of the socket of a server that listens. It works there; the name of the folder
/// differs between packages.
fn socket_of(server: libc::pid_t) -> Option<PathBuf> {
    let folder = std::fs::read_link(format!("/proc/{server}/cwd")).ok()?;
    folder.join("socket").exists().then_some(folder)
}

fn launch_first(plan: &Plan) -> Result<(), String> {
    let first = start(&plan.first, plan.cpu)?;
    match wait_until(FIRST_LIMIT, &first, || None::<()>, told_to_leave) {
        Err(Stopped::Ended(0)) => Ok(()),
        Err(why) => Err(format!("the first program {why}")),
        Ok(()) => Err("the first program's exit was not seen".to_owned()),
    }
}

fn start(command: &Command, cpu: Option<u32>) -> Result<Child, String> {
    let words = |error: LaunchError| error.to_string();
    let null = Stdio::null().map_err(words)?;
    let prepared = Prepared::new(command, &[]).map_err(words)?;
    let setup = Setup { cpu, ..Setup::with_stdio(&null) };
    spawn(&prepared, setup).map_err(words)
}

/// Why a wait was in vain.
enum Stopped {
    Ended(i32),
    Killed,
    Late(Duration),
    Leaving,
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stopped::Ended(code) => write!(out, "ended with exit code {code}"),
            Stopped::Killed => out.write_str("was killed"),
            Stopped::Late(limit) => write!(out, "took longer than {} s", limit.as_secs()),
            Stopped::Leaving => out.write_str("was interrupted"),
        }
    }
}

/// Waits until `condition` gives something, for as long as the child lives, and until `stop`.
fn wait_until<T>(
    limit: Duration,
    child: &Child,
    condition: impl Fn() -> Option<T>,
    stop: impl Fn() -> bool,
) -> Result<T, Stopped> {
    let began = Instant::now();
    loop {
        if let Some(found) = condition() {
            return Ok(found);
        }
        if let Some(status) = processes::wait_for(child.pid, WaitOptions::NOHANG) {
            return Err(status.exit_status().map_or(Stopped::Killed, Stopped::Ended));
        }
        if stop() {
            return Err(Stopped::Leaving);
        }
        if began.elapsed() > limit {
            return Err(Stopped::Late(limit));
        }
        std::thread::sleep(LOOK_UP);
    }
}

/// Returns when headstart wants no more of Wine or has gone, or when the server has.
fn wait_for_end(stream: &mut UnixStream, server: libc::pid_t) {
    // A SIGTERM that comes just before a read is noticed with the next look.
    let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
    let mut byte = [0];
    let runs = || processes::stat_fields(server).is_some();
    while !told_to_leave() && runs() {
        match stream.read(&mut byte) {
            Err(error) if again(&error) => {}
            _ => return,
        }
    }
}

/// Removes the folders of sockets of the prefix's servers, of which there are several where a
/// program started one when the first was ended: `/tmp/.wine-UID/server-…`, or a folder within one
/// of its own with a random name, `/tmp/wine-…/server-…`, as Debian has it. A server names the
/// folder by the device and the inode of its prefix, which has to be there still.
fn remove_sockets(prefix: &Path) {
    let Ok(data) = prefix.metadata() else { return };
    let name = format!("server-{:x}-{:x}", data.dev(), data.ino());
    for parent in [PathBuf::from("/tmp"), std::env::temp_dir()] {
        let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
        for own in entries.filter(|entry| is_of_wine(&entry.file_name())) {
            if std::fs::remove_dir_all(own.path().join(&name)).is_ok() {
                // Only where it is empty.
                let _ = std::fs::remove_dir(own.path());
            }
        }
    }
}

fn is_of_wine(name: &OsStr) -> bool {
    [&b"wine-"[..], b".wine-"].iter().any(|start| name.as_bytes().starts_with(start))
}
