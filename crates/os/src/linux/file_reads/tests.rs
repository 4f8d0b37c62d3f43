//! Reads of real cold launches.

use super::*;
use crate::linux::program::resolve;
use crate::linux::residency::page_bytes;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Touches pages of a mapped file in the order of its arguments. Without read-ahead
/// (MADV_RANDOM) each takes a read of its own.
const TOUCH: &str = r#"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int count, char **arguments) {
    int fd = open(arguments[1], O_RDONLY);
    long page = sysconf(_SC_PAGESIZE), bytes = lseek(fd, 0, SEEK_END), sum = 0;
    volatile char *file = mmap(0, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (file == MAP_FAILED || madvise((void *)file, bytes, MADV_RANDOM)) return 1;
    for (int i = 2; i < count; i++) sum += file[page * atol(arguments[i])];
    return sum != 7 * (count - 2);
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
    std::fs::write(&data, vec![7_u8; 300 * page_bytes() as usize]).unwrap();
    Some(Touch { _folder: folder, program, data })
}

impl Touch {
    fn command(&self, pages: &[u64]) -> Command {
        let paths = [&self.program, &self.data].map(|path| path.to_str().unwrap().to_owned());
        let argv = paths.into_iter().chain(pages.iter().map(u64::to_string));
        resolve(&argv.collect::<Vec<_>>()).unwrap()
    }
}

/// `None`, said loudly, where it is refused or the files are on no disk.
fn recorded(command: &Command, files: &[PathBuf]) -> Option<FileReads> {
    match record(command, files, &AttendOptions::default()) {
        Ok(found) if found.files.iter().all(|file| file.reads.is_empty()) => {
            testkit::skip("the folder for temporary files is on no block device");
            None
        }
        Ok(found) => Some(found),
        Err(error @ LaunchError::NotPermitted { .. }) => {
            testkit::skip(&error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn each_page_touched_without_read_ahead_is_a_read_of_its_own() {
    let Some(touch) = touch() else { return };
    let touched = [3, 250, 7, 8, 299, 0];
    let files = [touch.data.clone()];
    let Some(found) = recorded(&touch.command(&touched), &files) else { return };
    let file = &found.files[0];
    let offsets: Vec<u64> = file.reads.iter().map(|read| read.offset.0 / page_bytes()).collect();
    assert_eq!(offsets, touched, "{file:?}");
    assert!(file.reads.iter().all(|read| read.bytes == page_bytes()), "{file:?}");
    assert_eq!((file.pages, file.major_faults), (6, 6), "{file:?}");
    assert!(found.major_faults.get().unwrap() >= 6, "{found:?}");
    assert_eq!((found.cold.resident_pages.get(), found.lost), (Some(0), 0), "{found:?}");
    let mut before = 0.0;
    for read in &file.reads {
        let end = read.at_us + read.duration_us.get().unwrap();
        assert!(read.at_us > before && end > read.at_us && end < found.total_us, "{found:?}");
        // Each waits for the one before.
        before = end;
    }
}

#[test]
fn a_program_is_read_from_its_beginning_and_covers_what_it_ran() {
    let Some(touch) = touch() else { return };
    let files = [touch.program.clone(), touch.data.clone()];
    let Some(found) = recorded(&touch.command(&[1]), &files) else { return };
    let [program, data] = &found.files[..] else { panic!("{found:?}") };
    assert_eq!(program.reads[0].offset.0, 0, "read by execve itself: {program:?}");
    // What entered memory was read, but for what lies beyond the end of the file.
    let filled: u64 = program.reads.iter().map(|read| read.bytes.div_ceil(page_bytes())).sum();
    assert_eq!(filled, program.pages, "{program:?}");
    assert_eq!((data.reads.len(), data.bytes()), (1, page_bytes()), "{data:?}");
    let by_kernel = crate::linux::faults::totals(&touch.command(&[1]), &AttendOptions::default());
    let warm = by_kernel.unwrap().major.get().unwrap();
    assert_eq!(warm, 0, "the second launch finds all of it in memory");
}

#[test]
fn a_file_that_is_in_memory_for_others_is_counted_as_not_cold() {
    let Some(touch) = touch() else { return };
    // This process itself runs from its file.
    let own = std::env::current_exe().unwrap();
    match record(&touch.command(&[1]), &[own], &AttendOptions::default()) {
        Err(error @ LaunchError::NotPermitted { .. }) => testkit::skip(&error.to_string()),
        found => {
            let found = found.unwrap();
            assert!(found.cold.resident_pages.get().unwrap() > 0, "{found:?}");
            assert_eq!(found.files[0].reads, [], "the launch does not touch it");
        }
    }
}

#[test]
fn whether_it_is_permitted_is_told_beforehand() {
    let ls = resolve(&["ls".to_owned()]).unwrap();
    let found = record(&ls, std::slice::from_ref(&ls.program), &AttendOptions::default());
    match (permitted(), found) {
        (Ok(()), Ok(_)) => {}
        (Err(_), Err(error @ LaunchError::NotPermitted { .. })) => {
            let text = error.to_string();
            assert!(text.contains("root") || text.contains("perf_event_paranoid"), "{text}");
        }
        (before, then) => panic!("{before:?} and then {then:?}"),
    }
    let missing = record(&ls, &[Path::new("/no/such").into()], &AttendOptions::default());
    assert!(missing.unwrap_err().to_string().contains("/no/such"));
}

#[test]
fn pages_that_others_read_meanwhile_are_counted() {
    let Some(touch) = touch() else { return };
    let sleep = ["sh", "-c", "sleep 0.5"].map(str::to_owned);
    let files = [touch.data.clone()];
    let is_over = AtomicBool::new(false);
    let found = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                std::fs::read(&touch.data).unwrap();
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let found = record(&resolve(&sleep).unwrap(), &files, &AttendOptions::default());
        is_over.store(true, Ordering::Relaxed);
        found
    });
    match found {
        Err(error @ LaunchError::NotPermitted { .. }) => testkit::skip(&error.to_string()),
        found => {
            let found = found.unwrap();
            let before = found.cold.resident_pages.get().unwrap();
            assert_eq!(before + found.brought_pages.get().unwrap(), 300, "{found:?}");
            assert_eq!(found.files[0].pages, 0, "the launch does not touch it");
        }
    }
}
