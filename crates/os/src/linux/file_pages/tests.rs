//! Pages of real cold launches, against what is known by construction.

use super::*;
use crate::linux::program::resolve;
use crate::linux::residency::page_bytes;
use model::{Ending, TouchedFile};
use std::path::Path;

/// Four MiB of constants, in pages.
const CONSTANTS: u64 = 1024;

/// Touches every third page of its constants, from the last to the first, and then with an argument
/// waits for ever. Each page of the section begins with a word of its own.
const THIRDS: &str = r#"
#include <stdio.h>
#include <unistd.h>
#define PAGE 4096
extern const volatile char constants[];
__asm__(".section .constants,\"a\",@progbits\n.balign 4096\nconstants:\n"
        ".rept 1024\n.ascii \"\\1thirds\"\n.zero 4089\n.endr\n.text\n");
int main(int count, char **arguments) {
    long sum = 0;
    for (long page = 1023; page >= 0; page -= 3) sum += constants[page * PAGE];
    if (count > 1) { puts("ready"); fflush(stdout); sleep(1000); }
    return sum != 342;
}"#;

fn thirds(folder: &Path) -> Option<PathBuf> {
    let cc = testkit::tool("cc")?;
    Some(testkit::compile(&cc, folder, "thirds", THIRDS, &["-O1"]))
}

/// Pages of the constants in the order of first touch, numbered from the first of them.
pub(super) fn of_constants(program: &Path, found: &TouchedFile) -> Vec<u64> {
    let bytes = std::fs::read(program).unwrap();
    let page = |at: u64| bytes.get((at * page_bytes()) as usize..).unwrap();
    let first = (0..found.pages).find(|&at| page(at).starts_with(b"\x01thirds")).unwrap();
    let touched = found.touched.value().unwrap().iter().map(|touched| touched.page);
    let own = touched.filter(|page| (first..first + CONSTANTS).contains(page));
    own.map(|page| page - first).collect()
}

pub(super) fn command(program: &Path, arguments: &[&str]) -> Command {
    let words = [program.to_str().unwrap()].into_iter().chain(arguments.iter().copied());
    resolve(&words.map(str::to_owned).collect::<Vec<_>>()).unwrap()
}

fn request(until: &Until) -> PagesRequest {
    let options = AttendOptions::default();
    let held = HeldFiles::Used;
    PagesRequest { until: until.clone(), first: None, with_read_ahead: false, held, options }
}

/// `None`, said loudly, where it is refused or the file system has no such pages.
fn recorded(command: &Command, until: &Until) -> Option<FilePages> {
    let files = [command.program.clone()];
    match record(command, &files, &request(until)) {
        Ok(found) => match found.files[0].touched.reason() {
            None => Some(found),
            Some(reason) => {
                testkit::skip(reason);
                None
            }
        },
        Err(error @ LaunchError::NotPermitted { .. }) => {
            testkit::skip(&error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

pub(super) fn every_third() -> Vec<u64> {
    (0..CONSTANTS).rev().step_by(3).collect()
}

#[test]
fn exactly_the_pages_that_a_program_touches_are_listed_in_its_order() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = thirds(folder.path()) else { return };
    let command = command(&program, &[]);
    for _ in 0..2 {
        let Some(found) = recorded(&command, &Until::Exit) else { return };
        let file = &found.files[0];
        assert_eq!(found.ending, Ending::Code(0));
        assert_eq!(of_constants(&program, file), every_third());
        assert!(file.is_exact() && found.lost == 0, "{found:?}");
        let touched = file.touched.value().unwrap();
        assert_eq!(touched[0].page, 0, "execve reads the headers first: {touched:?}");
        assert!(touched.is_sorted_by_key(|page| page.order), "{touched:?}");
        // Each page of the loader's tables and of the code is one more.
        assert!(touched.len() < every_third().len() + 20, "{}", touched.len());
    }
}

#[test]
fn a_launch_may_be_complete_before_the_program_ends() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = thirds(folder.path()) else { return };
    let ready = Until::Output("ready".to_owned());
    let Some(found) = recorded(&command(&program, &["wait"]), &ready) else { return };
    assert_eq!(found.ending, Ending::Ready);
    assert_eq!(of_constants(&program, &found.files[0]), every_third());
}

#[test]
fn a_launch_may_be_ended_after_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = thirds(folder.path()) else { return };
    let first = Some(Duration::from_secs(2));
    let request = PagesRequest { first, ..request(&Until::Exit) };
    let command = command(&program, &["wait"]);
    let files = [program.clone()];
    let found = match record(&command, &files, &request) {
        Ok(found) => found,
        Err(error) => return testkit::skip(&error.to_string()),
    };
    assert_eq!((found.ending, found.total_us), (Ending::TimedOut, 2e6));
    if let Some(reason) = found.files[0].touched.reason() {
        return testkit::skip(reason);
    }
    assert_eq!(of_constants(&program, &found.files[0]), every_third());
}

#[test]
fn a_page_that_is_mapped_elsewhere_is_listed_as_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = thirds(folder.path()) else { return };
    // The other one has every third page mapped.
    let mut other = std::process::Command::new(&program);
    let other = other.arg("wait").stdout(std::process::Stdio::piped());
    let mut other = other.spawn().unwrap();
    let mut said = [0; 5];
    std::io::Read::read_exact(other.stdout.as_mut().unwrap(), &mut said).unwrap();
    let found = recorded(&command(&program, &[]), &Until::Exit);
    other.kill().unwrap();
    other.wait().unwrap();
    let Some(found) = found else { return };
    let file = &found.files[0];
    assert!(!file.is_exact(), "{file:?}");
    assert!(of_constants(&program, file).is_empty(), "all of them were in memory");
    let in_memory: u64 = file.in_memory.iter().map(|range| range.end - range.start).sum();
    assert!(in_memory >= 342, "{in_memory}");
}

#[test]
fn a_file_that_is_always_in_memory_is_refused_with_the_reason() {
    let folder = match tempfile::tempdir_in("/dev/shm") {
        Ok(folder) => folder,
        Err(error) => return testkit::skip(&format!("/dev/shm: {error}")),
    };
    let Some(program) = thirds(folder.path()) else { return };
    let files = [program.clone(), "/no/such/file".into()];
    match record(&command(&program, &[]), &files, &request(&Until::Exit)) {
        Ok(found) => {
            let reason = found.files[0].touched.reason().unwrap();
            assert!(reason.contains("tmpfs") && reason.contains("in memory"), "{reason}");
            let reason = found.files[1].touched.reason().unwrap();
            assert!(reason.contains("No such file"), "{reason}");
        }
        Err(error @ LaunchError::NotPermitted { .. }) => testkit::skip(&error.to_string()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn whether_it_is_permitted_is_told_beforehand() {
    match permitted() {
        Ok(()) => assert!(rustix::process::geteuid().is_root()),
        Err(error) => assert!(error.to_string().contains("run headstart as root"), "{error}"),
    }
}
