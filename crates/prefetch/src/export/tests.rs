//! Lists of recordings, also with the program that reads them.

use super::*;
use model::{RecordedFile, RecordedIdentity, RecordingMode};
use std::process::Command;

fn recording(paths: &[&str]) -> Recording {
    let file = |path: &&str| RecordedFile {
        path: (*path).to_owned(),
        identity: RecordedIdentity {
            device: 1,
            inode: 1,
            size_bytes: 9,
            modified_ns: 0,
            build_id: None,
        },
        ranges: vec![(0, 9).into()],
        touched_us: vec![1.0],
    };
    Recording {
        program: "/root/bin/p".to_owned(),
        command: "p".to_owned(),
        mode: RecordingMode::Exact,
        approximate_files: 0,
        launches: 1,
        total_us: 1.0,
        page_bytes: 4096,
        files: paths.iter().map(file).collect(),
        looked_up: Vec::new(),
        notes: Vec::new(),
    }
}

fn list(paths: &[&str], format: ListFormat) -> Result<ExportedList, ExportProblem> {
    text(&recording(paths), format, Path::new("/root"))
}

const PATHS: [&str; 5] =
    ["/root/bin/p", "/lib/out.so", "/root/#1", "/root/a b/c\\d", "/root/bin/p"];

#[test]
fn lists_have_the_order_of_first_touch_below_the_root() {
    let of = |format| list(&PATHS, format).unwrap().text;
    assert_eq!(of(ListFormat::Mksquashfs), "bin/p 32767\n\\#1 32766\na\\ b/c\\\\d 32765\n");
    assert_eq!(of(ListFormat::Estargz), "bin/p\n#1\na b/c\\d\n");
    assert_eq!(of(ListFormat::Nydus), "/bin/p\n/#1\n/a b/c\\d\n");
    assert_eq!(list(&PATHS, ListFormat::Nydus).unwrap().left_out, ["/lib/out.so"]);
    let whole = text(&recording(&["/lib/out.so"]), ListFormat::Estargz, Path::new("/"));
    assert_eq!(whole.unwrap().text, "lib/out.so\n");
}

#[test]
fn what_no_list_can_have_is_refused() {
    let name = |path: &str, format| list(&["/root/p", path], format).unwrap_err().to_string();
    for format in ListFormat::ALL {
        assert!(name("/root/a\nb", format).contains("line break"));
        assert!(name("/root/a\u{ef80}", format).contains("UTF-8"));
    }
    assert!(name("/root/d/*", ListFormat::Mksquashfs).contains("the name *"));
    assert!(list(&["/root/d/*"], ListFormat::Nydus).is_ok());
    // No part of a name is stripped.
    let nothing = list(&["/rooted/p", "/root"], ListFormat::Nydus).unwrap_err();
    assert_eq!(nothing, ExportProblem::NothingBelow { root: "/root".to_owned(), files: 2 });
    let relative = text(&recording(&PATHS), ListFormat::Nydus, Path::new("root"));
    assert_eq!(relative, Err(ExportProblem::RelativeRoot("root".to_owned())));
}

#[test]
fn more_files_than_priorities_keep_their_order() {
    let names: Vec<String> = (0..70_000).map(|number| format!("f{number}")).collect();
    let text = mksquashfs::sort_file(&names);
    let priority = |line: &str| line.rsplit(' ').next().unwrap().parse::<u32>().unwrap();
    let priorities: Vec<u32> = text.lines().map(priority).collect();
    assert!(priorities.is_sorted_by(|one, next| one >= next && one - next <= 1));
    assert_eq!((priorities[0], priorities[69_999]), (32_767, 1));
}

/// Where the content of each file begins in an image that compresses nothing.
fn places(image: &Path, root: &Path, names: &[&str]) -> Vec<usize> {
    let image = std::fs::read(image).unwrap();
    let place = |name: &&str| {
        let content = std::fs::read(root.join(name)).unwrap();
        image.windows(64).position(|bytes| bytes == &content[..64]).unwrap()
    };
    names.iter().map(place).collect()
}

#[test]
fn mksquashfs_puts_the_files_in_the_recorded_order() {
    let Some(tool) = testkit::tool("mksquashfs") else { return };
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir_all(root.join("a b")).unwrap();
    let names = ["z", "a b/x\ty", "#1", "m\\", "é", "a"];
    for (number, name) in names.iter().enumerate() {
        // More than a block of 128 KiB each, and different from all others.
        let content: Vec<u8> =
            (0..150_000_u32).map(|at| (at / 7 + 31 * number as u32) as u8).collect();
        std::fs::write(root.join(name), [&[number as u8; 64][..], &content].concat()).unwrap();
    }
    let paths: Vec<String> =
        names.iter().map(|name| format!("{}/{name}", root.display())).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let sort = folder.path().join("sort");
    let found = text(&recording(&paths), ListFormat::Mksquashfs, &root).unwrap();
    std::fs::write(&sort, found.text).unwrap();
    let make = |name: &str, further: &[&std::ffi::OsStr]| {
        let image = folder.path().join(name);
        let mut command = Command::new(&tool);
        command.arg(&root).arg(&image).args(["-quiet", "-no-progress", "-noD", "-no-fragments"]);
        let output = command.args(further).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains("sortlist"), "{said}");
        places(&image, &root, &names)
    };
    assert!(!make("plain", &[]).is_sorted());
    let sorted = make("sorted", &["-sort".as_ref(), sort.as_os_str()]);
    assert!(sorted.is_sorted(), "{sorted:?}");
}
