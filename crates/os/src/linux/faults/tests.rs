//! Page faults of real launches.

use super::*;
use crate::linux::program::resolve;
use model::MemoryChange;
use std::path::{Path, PathBuf};

const FILE_PAGES: usize = 37;
const ANONYMOUS_PAGES: usize = 53;
const ANONYMOUS_START: u64 = 0x1000_0000_0000;

/// Writes to each page of a privately mapped file and of anonymous memory: such writes fault
/// one page at a time, so the counts are exact. Then a child does it again.
const TOUCH: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void touch(volatile char *start, int pages) {
    for (int i = 0; i < pages; i++) start[i * 4096L] = 1;
}
int main(int count, char **arguments) {
    int fd = open(arguments[1], O_RDONLY);
    char *file = mmap(0, 37 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    char *memory = mmap((void *)0x100000000000, 53 * 4096, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (file == MAP_FAILED || memory == MAP_FAILED) return 1;
    madvise(memory, 53 * 4096, MADV_NOHUGEPAGE);
    touch(file, 37);
    touch(memory, 53);
    if (count > 2 && fork() == 0) { touch(file, 37); _exit(0); }
    while (wait(0) > 0) {}
    return 0;
}"#;

struct Touch {
    _folder: tempfile::TempDir,
    program: PathBuf,
    data: PathBuf,
}

fn touch() -> Option<Touch> {
    let cc = testkit::tool("cc")?;
    let folder = tempfile::tempdir().unwrap();
    let program = testkit::compile(&cc, folder.path(), "touch", TOUCH, &["-O1"]);
    let data = folder.path().join("data");
    std::fs::write(&data, vec![0_u8; FILE_PAGES * 4096]).unwrap();
    Some(Touch { _folder: folder, program, data })
}

fn command(program: &Path, arguments: &[&Path]) -> Command {
    let words = std::iter::once(program).chain(arguments.iter().copied());
    let argv: Vec<String> = words.map(|word| word.to_str().unwrap().to_owned()).collect();
    resolve(&argv).unwrap()
}

/// `None`, said loudly, where perf events are refused.
fn recorded(command: &Command) -> Option<(PageFaults, Launch)> {
    match record_with_launch(command, &AttendOptions::default()) {
        Ok(recorded) => Some(recorded),
        Err(error @ LaunchError::NotPermitted { .. }) => {
            testkit::skip(&error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The path that the fault's address belongs to.
fn path_of<'a>(faults: &'a PageFaults, fault: &model::PageFault) -> &'a str {
    let covering = |mapping: &&model::Mapping| {
        mapping.pid == fault.pid
            && mapping.at_us <= fault.at_us
            && fault.address >= mapping.start
            && fault.address - mapping.start < mapping.bytes
    };
    mapped(faults).rev().find(covering).map_or("", |mapping| &mapping.path)
}

fn mapped(faults: &PageFaults) -> impl DoubleEndedIterator<Item = &model::Mapping> {
    faults.mappings.iter().filter_map(MemoryChange::mapping)
}

#[test]
fn counts_exactly_the_pages_that_a_program_writes_to() {
    let Some(touch) = touch() else { return };
    let command = command(&touch.program, &[&touch.data]);
    let Some((faults, _)) = recorded(&command) else { return };
    let data = touch.data.to_str().unwrap();
    let on_file = faults.faults.iter().filter(|fault| path_of(&faults, fault) == data).count();
    assert_eq!(on_file, FILE_PAGES);
    let memory = ANONYMOUS_START..ANONYMOUS_START + ANONYMOUS_PAGES as u64 * 4096;
    let on_memory = faults.faults.iter().filter(|fault| memory.contains(&fault.address)).count();
    assert_eq!(on_memory, ANONYMOUS_PAGES);
    assert!(mapped(&faults).any(|m| m.executable && m.path.ends_with("/touch")));
    assert!(faults.faults.is_sorted_by(|a, b| a.at_us <= b.at_us));
    let last = faults.faults.last().unwrap();
    assert!(faults.faults[0].at_us > 0.0 && last.at_us < faults.total_us);
    assert_eq!(faults.lost, 0);
}

#[test]
fn up_to_the_entry_point_the_program_itself_takes_no_faults() {
    let Some(touch) = touch() else { return };
    let command = command(&touch.program, &[&touch.data]);
    let options = AttendOptions { to_entry: true, ..AttendOptions::default() };
    let faults = match record(&command, &options) {
        Err(error @ LaunchError::NotPermitted { .. }) => return testkit::skip(&error.to_string()),
        found => found.unwrap(),
    };
    let has = |name: &str| mapped(&faults).any(|mapping| mapping.path.contains(name));
    assert!(has("/touch") && has("libc.so"), "{:?}", faults.mappings);
    // The loader's faults, but not the program's.
    assert!(faults.faults.len() > 20, "{:?}", faults.faults);
    assert!(!has(touch.data.to_str().unwrap()), "{:?}", faults.mappings);
}

#[test]
fn a_forked_child_is_followed_and_has_its_parents_mappings() {
    let Some(touch) = touch() else { return };
    let command = command(&touch.program, &[&touch.data, Path::new("fork")]);
    let Some((faults, _)) = recorded(&command) else { return };
    let data = touch.data.to_str().unwrap();
    let in_child = |fault: &&model::PageFault| fault.pid != faults.pid;
    let children: Vec<_> = faults.faults.iter().filter(in_child).collect();
    let on_file = children.iter().filter(|fault| path_of(&faults, fault) == data).count();
    assert_eq!(on_file, FILE_PAGES, "copies of the parent's pages, one fault each");
}

#[test]
fn sums_agree_with_what_the_kernel_counts() {
    for argv in [vec!["sh", "-c", "true; ls / | wc"], vec!["cc", "--version"]] {
        let argv: Vec<String> = argv.into_iter().map(str::to_owned).collect();
        let Ok(command) = resolve(&argv) else { continue };
        let Some((faults, launch)) = recorded(&command) else { return };
        let major = faults.faults.iter().filter(|fault| fault.major).count() as i64;
        let minor = faults.faults.len() as i64 - major;
        let execs = faults.mappings.iter().filter(|change| change.mapping().is_none()).count();
        // Each execve has faults without an event; user mode alone sees no system calls.
        let per_exec = if faults.source.contains("user mode only") { 60 } else { 25 };
        let counted = |reading: Reading<u64>| reading.get().unwrap() as i64;
        let (all_minor, all_major) = (counted(launch.minor_faults), counted(launch.major_faults));
        let missing = (all_minor - minor) + (all_major - major);
        assert!((0..per_exec * execs as i64).contains(&missing), "{argv:?}: {missing} of {minor}");
        assert!(major <= all_major, "{argv:?}: {major} of {all_major}");
        assert_eq!(faults.lost, 0);
    }
}

#[test]
fn totals_need_no_permission() {
    let Some(touch) = touch() else { return };
    let totals =
        totals(&command(&touch.program, &[&touch.data]), &AttendOptions::default()).unwrap();
    assert!(totals.minor.get().unwrap() >= (FILE_PAGES + ANONYMOUS_PAGES) as u64);
    assert!(totals.anonymous.reason().is_some());
}

#[test]
fn names_the_files_that_a_launch_reads() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::write(&data, vec![7_u8; 300_000]).unwrap();
    let file = std::fs::File::open(&data).unwrap();
    file.sync_all().unwrap();
    crate::linux::cache::evict(std::slice::from_ref(&data));
    let copy = folder.path().join("copy");
    let copying = command(Path::new("/bin/cp"), &[&data, &copy]);
    let Some((faults, _)) = recorded(&copying) else { return };
    let Some(read) = faults.read_bytes_by_file.value() else {
        testkit::skip(faults.read_bytes_by_file.reason().unwrap_or_default());
        return;
    };
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    if !mounts.lines().any(|line| line.split(' ').nth(4) == Some("/")) {
        testkit::skip("the root folder is no mount point: files of a chroot cannot be named");
        return;
    }
    let expected = 300_000_u64.next_multiple_of(4096);
    let found = read.iter().find(|(path, _)| Path::new(path) == data);
    if faults.read_bytes.get() == Some(0) {
        testkit::skip("the folder for temporary files is in memory");
        return;
    }
    assert_eq!(found.map(|(_, bytes)| *bytes), Some(expected), "{read:?}");
    let written = read.iter().find(|(path, _)| Path::new(path) == copy);
    assert_eq!(written, None, "what the launch wrote is not read");
}

/// Refuses perf_event_open for the calling thread and those it starts, as containers do.
fn refuse_perf_events() {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_perf_event_open as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the filter outlives the call, which copies it.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program), 0);
    }
}

#[test]
fn where_perf_events_are_refused_it_says_so_and_others_take_over() {
    std::thread::spawn(|| {
        refuse_perf_events();
        let options = AttendOptions::default();
        let ls = command(Path::new("/bin/ls"), &[Path::new("/")]);
        let error = record(&ls, &options).unwrap_err();
        assert!(matches!(error, LaunchError::NotPermitted { .. }), "{error}");
        assert!(error.to_string().contains("perf_event_paranoid"), "{error}");
        assert!(totals(&ls, &options).unwrap().minor.get().unwrap() > 0);
        let files = crate::linux::cache::mapped_files(&ls, &options).unwrap();
        assert!(files.source.contains("LD_DEBUG"), "{files:?}");
        assert!(files.files.len() > 1, "{files:?}");
    })
    .join()
    .unwrap();
}

#[test]
fn works_for_an_ordinary_user() {
    // SAFETY: no arguments; never fails.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    let Some(setpriv) = testkit::tool("setpriv") else { return };
    // The tests of this file once more, as nobody, from a place that nobody may read.
    let folder = tempfile::tempdir().unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let tests = folder.path().join("tests");
    // By another process: a program still open for writing in a forked one cannot be started.
    let copied =
        std::process::Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&tests).status();
    assert!(copied.unwrap().success());
    let output = std::process::Command::new(setpriv)
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&tests)
        .args(["faults::tests", "--nocapture"])
        .current_dir("/")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
