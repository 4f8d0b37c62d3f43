//! Programs that wait, end, stop and hold memory of many kinds: sums and what is left running.

use super::*;
use model::{Format, MemoryFigures, MemoryKind, SectionDivision, Until};
use os::copies::CopiesUntil;
use std::path::Path;
use std::time::Duration;

fn request(count: u32, until: CopiesUntil) -> CopiesRequest {
    let (timeout, grace) = (Duration::from_secs(60), Duration::from_secs(1));
    CopiesRequest { count, until, timeout, grace }
}

fn idle(count: u32) -> CopiesRequest {
    request(count, CopiesUntil::Idle(Duration::from_millis(100)))
}

fn command(words: &[&str]) -> Command {
    os::program::resolve(words).unwrap()
}

/// Sections sum up to modules, modules and the rest to the totals, processes to the totals, and
/// the kinds of memory to what is in memory.
fn check_sums(report: &SharingReport) {
    let mut all = MemoryFigures::default();
    let (mut pss, mut relocated) = (0, 0);
    for module in &report.modules {
        let mut sections = MemoryFigures::default();
        module.sections.iter().for_each(|section| sections += section.memory);
        assert_eq!(sections, module.figures.memory, "{}", module.path);
        assert!(module.relocated_kib <= module.figures.memory.copied_kib);
        assert_eq!(module.base.len(), report.processes.len());
        all += sections;
        pss += module.figures.pss_kib;
        relocated += module.relocated_kib;
    }
    for rest in &report.rest {
        all += rest.figures.memory;
        pss += rest.figures.pss_kib;
    }
    assert_eq!(all, report.totals.figures.memory);
    assert_eq!(pss + report.totals.pss_rounded_off_kib, report.totals.figures.pss_kib);
    assert_eq!(relocated, report.totals.relocated_kib);
    let mut processes = MemoryFigures::default();
    report.processes.iter().for_each(|one| processes += one.totals.figures.memory);
    assert_eq!(processes, all);
    assert_eq!(all.rss_kib, all.private_kib + all.shared_kib);
    assert_eq!(all.rss_kib, all.shareable_kib + all.copied_kib);
}

fn is_gone(pid: u32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn copies_that_wait_share_their_code_and_are_ended() {
    let report = of_copies(&command(&["cat"]), &idle(3)).unwrap();
    check_sums(&report);
    assert_eq!(report.processes.len(), 3);
    for (process, copy) in report.processes.iter().zip(1..) {
        assert_eq!((process.copy, process.state), (Some(copy), SharingState::Idle));
        assert_eq!(process.agrees, Some(true));
        assert!(is_gone(process.pid), "{process:?}");
    }
    let cat = report.modules.iter().find(|module| module.path.ends_with("/cat")).unwrap();
    assert_eq!((cat.format, cat.division), (Format::Elf, SectionDivision::Pages));
    let text = cat.sections.iter().find(|section| section.name == ".text").unwrap();
    assert_eq!(text.memory.private_kib, 0);
    assert!(text.memory.shared_kib > 0 && text.protection == "r-x", "{text:?}");
    assert!(cat.base.iter().all(Option::is_some));
    assert!(report.rest.iter().any(|rest| rest.kind == MemoryKind::Stack));
}

#[test]
fn programs_that_end_are_held_at_their_end() {
    for (words, failed) in [(&["true"][..], false), (&["sh", "-c", "exit 3"], true)] {
        let report = of_copies(&command(words), &idle(2)).unwrap();
        check_sums(&report);
        assert_eq!(report.processes.len(), 2);
        let ending = |process: &model::SharingProcess| process.state == SharingState::Ending;
        assert!(report.processes.iter().all(ending), "{report:?}");
        assert!(report.totals.figures.memory.rss_kib > 0);
        assert_eq!(report.notes.iter().any(|note| note.contains("exit code 3")), failed);
        assert!(report.processes.iter().all(|process| is_gone(process.pid)));
    }
}

#[test]
fn children_of_copies_are_read_and_ended_too() {
    let script = "sleep 1000 & sleep 1000 & wait";
    let report = of_copies(&command(&["sh", "-c", script]), &idle(2)).unwrap();
    check_sums(&report);
    let children: Vec<_> =
        report.processes.iter().filter(|one| one.state == SharingState::Child).collect();
    assert_eq!(children.len(), 4, "{report:?}");
    assert!(children.iter().all(|child| child.copy.is_some() && is_gone(child.pid)));
}

#[test]
fn copies_may_be_read_at_their_entry_points_and_at_output() {
    let entry = request(2, CopiesUntil::Launch(Until::Entry));
    let report = of_copies(&command(&["cat"]), &entry).unwrap();
    check_sums(&report);
    assert!(report.processes.iter().all(|one| one.state == SharingState::Ready), "{report:?}");
    let output = request(2, CopiesUntil::Launch(Until::Output("ready".to_owned())));
    let report =
        of_copies(&command(&["sh", "-c", "echo ready; exec sleep 1000"]), &output).unwrap();
    check_sums(&report);
    assert!(report.processes.iter().all(|one| one.state == SharingState::Ready), "{report:?}");
    let never = CopiesUntil::Launch(Until::Output("never".to_owned()));
    let never = CopiesRequest { timeout: Duration::from_millis(300), ..request(1, never) };
    let report = of_copies(&command(&["sleep", "1000"]), &never).unwrap();
    assert_eq!(report.processes[0].state, SharingState::Busy);
    assert!(report.notes[0].contains("still at work"), "{:?}", report.notes);
}

#[test]
fn programs_that_stop_or_kill_themselves_do_no_harm() {
    let report = of_copies(&command(&["sh", "-c", "kill -STOP $$"]), &idle(1)).unwrap();
    check_sums(&report);
    assert_eq!(report.processes[0].state, SharingState::Stopped);
    assert!(report.notes[0].contains("stopped by a signal"), "{:?}", report.notes);
    assert!(!report.notes[0].contains("at work"), "{:?}", report.notes);
    assert!(is_gone(report.processes[0].pid));
    let report = of_copies(&command(&["sh", "-c", "kill -TERM $$"]), &idle(1)).unwrap();
    assert_eq!(report.processes[0].state, SharingState::Ending);
    assert!(report.notes[0].contains("signal 15"), "{:?}", report.notes);
    let report = of_copies(&command(&["sh", "-c", "trap '' TERM; cat"]), &idle(1)).unwrap();
    assert!(report.processes.iter().all(|process| is_gone(process.pid)));
}

/// A program with memory of many kinds, which waits.
const KINDS: &str = r#"
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <fcntl.h>
char zeros[1 << 20];
int main(int count, char **arguments) {
    int fd = memfd_create("kind", 0);
    ftruncate(fd, 1 << 16);
    memset(mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), 1, 1 << 16);
    memset(mmap(0, 1 << 18, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, 1 << 18);
    memset(mmap(0, 1 << 14, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), 1, 1 << 14);
    mmap(0, 1 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int data = open(arguments[1], O_RDONLY);
    volatile char *file = mmap(0, 8192, PROT_READ, MAP_PRIVATE, data, 0);
    char seen = file[0] + zeros[0];
    memset(zeros + (1 << 19), 1, 1 << 18);
    if (fork() == 0) { pause(); }
    for (;;) pause();
    return seen;
}"#;

fn build(folder: &Path, flags: &[&str]) -> Option<std::path::PathBuf> {
    let cc = testkit::tool("gcc")?;
    Some(testkit::compile(&cc, folder, "kinds", KINDS, flags))
}

fn kib_of(report: &SharingReport, kind: MemoryKind, name: &str) -> u64 {
    let rest = report.rest.iter().filter(|rest| rest.kind == kind && rest.name.contains(name));
    rest.map(|rest| rest.figures.memory.rss_kib).sum()
}

#[test]
fn kinds_of_memory_are_told_apart_and_zeros_belong_to_their_module() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::write(&data, [7; 8192]).unwrap();
    for flags in [&["-O1"][..], &["-O1", "-static"], &["-O1", "-no-pie"]] {
        let Some(program) = build(folder.path(), flags) else { return };
        let words = [program.to_str().unwrap(), data.to_str().unwrap()];
        let report = of_copies(&command(&words), &idle(1)).unwrap();
        check_sums(&report);
        assert_eq!(report.processes.len(), 2, "a process and its child, which touches nothing");
        assert_eq!(kib_of(&report, MemoryKind::SharedMemory, "memfd:kind"), 64);
        // The kernel maps the pages around the one that is touched, too.
        assert_eq!(kib_of(&report, MemoryKind::File, "/data"), 8);
        assert!(kib_of(&report, MemoryKind::Anonymous, "") >= 2 * 256);
        let totals = report.totals.figures.memory;
        assert!(totals.size_kib - totals.committed_kib >= 2 << 20, "{totals:?}");
        let own = report.modules.iter().find(|one| one.path == words[0]).unwrap();
        let bss = own.sections.iter().find(|section| section.name == ".bss").unwrap();
        assert!(bss.memory.size_kib >= 2 * 1024, "{flags:?}: {bss:?}");
        // Written by the parent, mapped by both; a page that was only read is the page of zeros.
        assert!((512..600).contains(&bss.memory.rss_kib), "{flags:?}: {bss:?}");
        assert_eq!(bss.memory.rss_kib, bss.memory.copied_kib);
    }
}

#[test]
fn running_processes_are_read_by_number_and_not_stopped() {
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    testkit::wait_until_asleep(child.id());
    let report = of_processes(&[child.id(), child.id(), 4_000_000], false).unwrap();
    check_sums(&report);
    assert_eq!((report.processes.len(), report.unread.len()), (1, 1));
    assert_eq!(report.processes[0].state, SharingState::Running);
    let state = os::processes::stat_fields(child.id().cast_signed()).unwrap().remove(0);
    assert_eq!(state, "S");
    child.kill().unwrap();
    child.wait().unwrap();
    let error = of_processes(&[child.id()], false).unwrap_err();
    assert!(error.to_string().contains("there is no process"), "{error}");
}

#[test]
fn deleted_programs_and_names_that_are_not_utf_8_are_read() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9 (deleted)"));
    std::fs::copy(&command(&["sleep"]).program, &program).unwrap();
    let mut child = std::process::Command::new(&program).arg("1000").spawn().unwrap();
    testkit::wait_until_asleep(child.id());
    let has = |report: &SharingReport, deleted| {
        let path = model::text::text(&program);
        check_sums(report);
        report.modules.iter().any(|module| module.path == path && module.deleted == deleted)
    };
    let named = of_processes(&[child.id()], false).unwrap();
    std::fs::remove_file(&program).unwrap();
    let deleted = of_processes(&[child.id()], false).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(has(&named, false), "{named:?}");
    // Only root can open the file of a mapping whose name is gone.
    let path = model::text::text(&program);
    let as_file = deleted.rest.iter().any(|rest| rest.name == path);
    assert!(has(&deleted, true) || as_file, "{deleted:?}");
}
