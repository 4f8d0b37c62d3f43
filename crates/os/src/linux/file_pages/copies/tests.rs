//! Files that another process keeps in memory are recorded page by page, and nothing is left of their
//! copies, whoever is killed.

use super::super::tests::{command, every_third, of_constants};
use super::super::{PagesRequest, record};
use super::*;
use crate::linux::attend::AttendOptions;
use crate::linux::host::mount_points;
use crate::linux::{perf, processes};
use model::{Command, Ending, FilePages, Until};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::Instant;

/// Touches every third page of its constants. Each page begins with a word of its own.
const LIBRARY: &str = r#"
#define PAGE 4096
extern const volatile char constants[];
__asm__(".section .constants,\"a\",@progbits\n.balign 4096\n.hidden constants\nconstants:\n"
        ".rept 1024\n.ascii \"\\1thirds\"\n.zero 4089\n.endr\n.text\n");
int thirds(void) {
    long sum = 0;
    for (long page = 1023; page >= 0; page -= 3) sum += constants[page * PAGE];
    return sum != 342;
}"#;

/// Has the library do that, and fails where its own file is not the one that was started. With an
/// argument it makes a file of that name and waits for ever.
const PROGRAM: &str = r#"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
int thirds(void);
int main(int count, char **arguments) {
    char name[4096] = "";
    if (readlink("/proc/self/exe", name, sizeof name - 1) < 0) return 2;
    if (strcmp(name, arguments[0])) return 3;
    if (thirds()) return 1;
    if (count > 1) {
        close(open(arguments[1], O_CREAT | O_WRONLY, 0600));
        sleep(1000);
    }
    return 0;
}"#;

/// A program and its library, both used by another process.
struct World {
    folder: tempfile::TempDir,
    program: PathBuf,
    library: PathBuf,
    holder: Option<Child>,
}

impl World {
    fn new() -> Option<World> {
        let cc = testkit::tool("gcc")?;
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let flags = ["-shared", "-fPIC", "-O1"];
        let library = testkit::compile(&cc, &real, "libthirds.so", LIBRARY, &flags);
        let flags = ["-L.", "-lthirds", "-Wl,-rpath,$ORIGIN"];
        let program = testkit::compile(&cc, &real, "program", PROGRAM, &flags);
        Some(World { folder, program, library, holder: None })
    }

    /// Another process uses both from now on.
    fn hold(&mut self) {
        let ready = self.folder.path().join("held");
        let mut other = std::process::Command::new(&self.program);
        self.holder = Some(other.arg(&ready).stdout(Stdio::null()).spawn().unwrap());
        wait_until("the other process has begun", || ready.exists());
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.program.clone(), self.library.clone()]
    }

    /// Names of copies in the folder.
    fn left(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.contains("headstart-new")).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(mut holder) = self.holder.take() {
            let _ = holder.kill();
            let _ = holder.wait();
        }
    }
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_mounted_here() -> bool {
    let is_copy = |path: &Path| path.to_string_lossy().contains("headstart-new");
    mount_points().unwrap().iter().any(|mount| is_copy(&mount.root) || is_copy(&mount.point))
}

fn request(unchanged_since: SystemTime) -> PagesRequest {
    PagesRequest {
        until: Until::Exit,
        first: None,
        with_read_ahead: false,
        held: HeldFiles::Copied { unchanged_since },
        options: AttendOptions::default(),
    }
}

/// `None`, said loudly, where it is refused or the file system has no such pages.
fn recorded(command: &Command, files: &[PathBuf], since: SystemTime) -> Option<FilePages> {
    let found = match record(command, files, &request(since)) {
        Err(error @ LaunchError::NotPermitted { .. }) => {
            testkit::skip(&error.to_string());
            return None;
        }
        found => found.unwrap(),
    };
    let mut reasons = found.files.iter().filter_map(|file| file.touched.reason());
    if let Some(reason) = reasons.find(|reason| !reason.contains("stay in memory")) {
        testkit::skip(reason);
        return None;
    }
    if let Some((_, reason)) = found.not_copied.iter().find(|(_, it)| it.contains("launch alone")) {
        testkit::skip(reason);
        return None;
    }
    Some(found)
}

#[test]
fn pages_that_another_process_keeps_in_memory_are_recorded_exactly() {
    let Some(mut world) = World::new() else { return };
    world.hold();
    let command = command(&world.program, &[]);
    for _ in 0..2 {
        let Some(found) = recorded(&command, &world.files(), SystemTime::now()) else { return };
        assert_eq!(found.ending, Ending::Code(0), "the program has its own name: {found:?}");
        assert_eq!(found.not_copied, []);
        let [program, library] = &found.files[..] else { panic!("{found:?}") };
        assert!(program.is_exact() && library.is_exact() && found.lost == 0, "{found:?}");
        assert_eq!(of_constants(&world.library, library), every_third());
        assert_eq!(program.touched.value().unwrap()[0].page, 0, "execve reads the headers");
        assert!(!is_mounted_here());
        assert_eq!(world.left(), [""; 0]);
    }
}

#[test]
fn what_is_not_copied_is_named_with_the_reason() {
    let Some(mut world) = World::new() else { return };
    if !rustix::process::geteuid().is_root() {
        return testkit::skip("only root has files mounted");
    }
    fs::set_permissions(&world.program, fs::Permissions::from_mode(0o4755)).unwrap();
    world.hold();
    let command = command(&world.program, &[]);
    let Some(found) = recorded(&command, &world.files(), SystemTime::now()) else { return };
    let [program, library] = &found.files[..] else { panic!("{found:?}") };
    let [(path, reason)] = &found.not_copied[..] else { panic!("{found:?}") };
    assert_eq!((path, library.is_exact()), (&program.path, true), "{found:?}");
    assert!(reason.contains("set-user-ID"), "{reason}");
    assert!(!program.is_exact(), "{program:?}");

    let other = world.folder.path().join("libother.so");
    fs::hard_link(&world.library, &other).unwrap();
    let both = [world.library.clone(), other.canonicalize().unwrap()];
    let Some(found) = recorded(&command, &both, SystemTime::now()) else { return };
    assert_eq!(found.not_copied.len(), 2, "{found:?}");
    assert!(found.not_copied[1].1.contains("several names"), "{found:?}");

    let since = SystemTime::UNIX_EPOCH;
    let Some(found) = recorded(&command, &[world.library.clone()], since) else { return };
    assert!(found.not_copied[0].1.contains("is changed"), "{found:?}");
    assert!(!found.files[0].in_memory.is_empty(), "{found:?}");
    assert!(world.left().is_empty() && !is_mounted_here());
}

#[test]
fn only_programs_libraries_and_data_of_packages_are_copied_up_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(&path, "data").unwrap();
    let later = SystemTime::now() + Duration::from_secs(60);
    let refused = |path: &Path, most| Original::open(path, later, most).err().unwrap_or_default();
    assert!(refused(&path, 100).contains("may write to"));
    fs::write(&path, b"\x7fELFdata").unwrap();
    assert_eq!(refused(&path, 100), "");
    assert!(refused(&path, 3).contains("too large"));
    assert!(refused(&folder.path().join("none"), 3).contains("No such file"));
}

#[test]
fn a_copy_has_all_that_belongs_to_the_file_but_privileges() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program");
    fs::write(&path, b"\x7fELFcontent").unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    file.set_times(fs::FileTimes::new().set_modified(long_ago)).unwrap();
    let set = rustix::fs::fsetxattr(&file, "user.a", b"1", rustix::fs::XattrFlags::empty());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    let later = SystemTime::now() + Duration::from_secs(60);
    let original = Original::open(&path, later, 100).unwrap_or_else(|reason| panic!("{reason}"));
    assert_eq!(original.keeps_name(), KeepsName::Yes);
    // As if it had got that just after it was opened.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o6751)).unwrap();
    let copy = original.copy_at(&path).unwrap();
    let (data, own) = (copy.file().metadata().unwrap(), path.metadata().unwrap());
    assert_eq!((data.mode() & 0o7777, data.mtime()), (0o751, 1_000_000_000));
    assert_eq!((data.uid(), data.gid()), (own.uid(), own.gid()));
    assert_eq!(fs::read(copy.path()).unwrap(), b"\x7fELFcontent");
    let mut value = [0];
    let got = rustix::fs::fgetxattr(copy.file(), "user.a", &mut value[..]);
    assert_eq!(got.is_ok(), set.is_ok());
}

#[test]
#[ignore = "a helper of nothing_is_left_of_copies_when_headstart_is_killed"]
fn helper_records() {
    let folder = PathBuf::from(std::env::var_os("FOLDER").unwrap());
    let files = [folder.join("program"), folder.join("libthirds.so")];
    let ready = folder.join("launched");
    let command = command(&files[0], &[ready.to_str().unwrap()]);
    let _ = record(&command, &files, &request(SystemTime::now()));
}

#[test]
fn nothing_is_left_of_copies_when_headstart_is_killed() {
    let Some(mut world) = World::new() else { return };
    if let Err(error) = super::super::permitted() {
        return testkit::skip(&error.to_string());
    }
    world.hold();
    let command = command(&world.program, &[]);
    if recorded(&command, &world.files(), SystemTime::now()).is_none() {
        return;
    }
    let mut helper = std::process::Command::new(std::env::current_exe().unwrap());
    helper.args(["--exact", "--ignored", "linux::file_pages::copies::tests::helper_records"]);
    helper.env("FOLDER", world.program.parent().unwrap()).stdout(Stdio::null());
    let mut helper = helper.spawn().unwrap();
    let helper_id = helper.id();
    let launched = world.folder.path().join("launched");
    wait_until("the recorded launch has begun", || launched.exists());
    // The copy of the library has lost its name, and nobody else sees what is mounted.
    assert_eq!(world.left(), [".program.headstart-new"]);
    assert!(!is_mounted_here());
    let below = processes::descendants(helper.id() as libc::pid_t);
    assert!(!below.is_empty());
    let has_trace = || perf::has_trace(helper_id);
    assert!(has_trace());
    helper.kill().unwrap();
    helper.wait().unwrap();
    wait_until("the copy of the program is gone", || world.left().is_empty());
    wait_until("the kernel traces nothing for it", || !has_trace());
    let runs = |pid: &libc::pid_t| {
        processes::stat_fields(*pid)
            .is_some_and(|fields| fields.first().is_some_and(|it| it != "Z"))
    };
    wait_until("nothing runs that holds a copy", || !below.iter().any(runs));
}
