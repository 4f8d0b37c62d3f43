//! Launchers in a folder of our own.

use super::super::{made, remove, test_front};
use super::*;
use proptest::prelude::*;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use testkit::WhenFree;

fn store() -> Store {
    Store::of_user(Some("/nowhere".into())).unwrap()
}

fn of(program: &str) -> ProgramLauncher {
    ProgramLauncher { program: program.into(), ..ProgramLauncher::default() }
}

/// Bytes that a file's name or an argument may have here: none is NUL or a line break.
fn name() -> impl Strategy<Value = OsString> {
    let byte = any::<u8>().prop_filter("NUL, line break", |byte| ![0, b'\n'].contains(byte));
    prop::collection::vec(byte, 0..40).prop_map(OsString::from_vec)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_and_undone_without_a_trace(
        program in name(),
        arguments in prop::collection::vec(name(), 0..4),
        record in prop::option::of(name()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("x");
        let launcher = ProgramLauncher {
            program: Path::new("/").join(program),
            arguments,
            record: record.map(|record| Path::new("/").join(record)),
            disk: None,
        };
        // A program that is there by chance does not matter: only its name is kept.
        let first = format!("{MARK}{}", test_front().undo(&at));
        let bytes = written(&launcher, first, Vec::new(), &at).unwrap();
        std::fs::write(&at, bytes).unwrap();
        prop_assert_eq!(read(&at).unwrap(), Some(launcher));
        prop_assert_eq!(made(&at).unwrap(), Some(InstalledKind::Launcher));
        remove(std::slice::from_ref(&at)).unwrap();
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_launcher_has_text_for_people() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("bin/sh");
    let installed = install(&test_front(), &of("/bin/sh"), &store(), &at).unwrap();
    assert!(!installed.replaced && at.metadata().unwrap().permissions().mode() & 0o100 != 0);
    let bytes = std::fs::read(&at).unwrap();
    let wanted = format!("{MARK}headstart undo {}\nprogram: /bin/sh\n", at.display());
    assert_eq!(ahead::text(&bytes), Some(wanted.as_str()));
    assert!(install(&test_front(), &of("/bin/cat"), &store(), &at).unwrap().replaced);
    assert_eq!(read(&at).unwrap(), Some(of("/bin/cat")));
}

#[test]
fn what_headstart_has_not_made_is_neither_replaced_nor_removed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("text"), "mine").unwrap();
    std::fs::write(at("script"), "#!/bin/sh\n# A launcher made by hand\n").unwrap();
    std::fs::write(at("empty"), "").unwrap();
    install(&test_front(), &of("/bin/sh"), &store(), &at("real")).unwrap();
    symlink("real", at("link")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    for name in ["text", "script", "empty", "link", "dangling", "folder"] {
        let path = at(name);
        let before = (path.read_link().ok(), std::fs::read(&path).ok());
        let refused = install(&test_front(), &of("/bin/sh"), &store(), &path);
        assert!(matches!(refused, Err(InstallError::Refused { .. })), "{name}: {refused:?}");
        // One that is ours is given first, and stays as well.
        let refused = remove(&[at("real"), path.clone()]);
        assert!(matches!(refused, Err(InstallError::Refused { .. })), "{name}: {refused:?}");
        assert_eq!((path.read_link().ok(), std::fs::read(&path).ok()), before, "{name}");
        assert!(at("real").exists());
    }
}

#[test]
fn removing_may_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("x");
    install(&test_front(), &of("/bin/sh"), &store(), &at).unwrap();
    let removed = remove(&[at.clone(), at.clone()]).unwrap();
    let kinds: Vec<_> = removed.iter().map(|removed| removed.kind).collect();
    assert_eq!(kinds, [Some(InstalledKind::Launcher), None]);
    assert_eq!(remove(&[at]).unwrap()[0].kind, None);
}

#[test]
fn programs_that_are_unfit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let refused = |program: &Path, words: &str| {
        let launcher =
            ProgramLauncher { program: program.to_owned(), ..ProgramLauncher::default() };
        let error =
            install(&test_front(), &launcher, &store(), &at("new")).unwrap_err().to_string();
        assert!(error.contains(words) && !at("new").exists(), "{error}");
    };
    install(&test_front(), &of("/bin/sh"), &store(), &at("one")).unwrap();
    refused(&at("one"), "it is a launcher itself");
    std::fs::write(at("setuid"), "").unwrap();
    std::fs::set_permissions(at("setuid"), PermissionsExt::from_mode(0o4755)).unwrap();
    refused(&at("setuid"), "set-user-ID");
    refused(Path::new("/a\nb"), "line break");
    refused(Path::new(&format!("/{}", "\u{ef80}".repeat(4000))), "shorten");
}

#[test]
fn a_launcher_of_a_launcher_and_a_damaged_one_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let command = |name: &str| Command {
        argv: vec![at(name).into(), "a".into()],
        program: at(name),
        directory: None,
        environment: Vec::new(),
    };
    let write = |name: &str, text: String| {
        let data = LauncherData { text, ..LauncherData::default() };
        std::fs::write(at(name), ahead::write(&data).unwrap()).unwrap();
    };
    let fatal = ["", "program: sh\n", "program /bin/sh\n", "program: /bin/sh\nx\n"];
    for (number, rest) in fatal.iter().enumerate() {
        let name = number.to_string();
        write(&name, format!("{MARK}y\n{rest}"));
        assert!(read(&at(&name)).is_err() && meant(command(&name)).is_err(), "{rest:?}");
    }
    write("other", "another program that is made in the same way".to_owned());
    assert!(read(&at("other")).unwrap().is_none());
    write("self", format!("{MARK}y\nprogram: {}\n", at("self").display()));
    let error = meant(command("self")).unwrap_err().to_string();
    assert!(error.contains("starts another launcher"), "{error}");
    write("good", format!("{MARK}y\nprogram: /bin/sh\nargument: -c\nrecord: /r\ndisk: hdd\n"));
    let (found, record) = meant(command("good")).unwrap();
    assert_eq!(found.argv, ["/bin/sh", "-c", "a"]);
    assert_eq!((found.program, record), ("/bin/sh".into(), Some("/r".into())));
    assert_eq!(read(&at("good")).unwrap().unwrap().disk, Some(Disk::MovingHead));
}

/// Each launch gets the plan of its class, and any other launch gets what all classes read. That is tried many times,
/// because a page that a launcher looks at may be in memory only because it has looked.
#[test]
fn launches_read_what_is_recorded_of_their_class() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let store = Store::of_user(Some(at("cache"))).unwrap();
    let Ok(program) = Path::new("/bin/true").canonicalize() else { return };
    let files = ["--one", "--two"].map(|option| {
        let file = at(&option[2..]);
        std::fs::write(&file, vec![1; 64 << 10]).unwrap();
        std::fs::File::open(&file).unwrap().sync_all().unwrap();
        let recording = crate::sample::of_file(&program, &format!("true {option}"), &file);
        store.keep(&store.path(&program, &[option]), &recording).unwrap();
        file
    });
    let launcher = ProgramLauncher { program, ..ProgramLauncher::default() };
    install(&test_front(), &launcher, &store, &at("launcher")).unwrap();
    let pages = |file: &PathBuf| {
        os::cache::check(&[file], model::CacheState::ColdEvicted).resident_pages.get()
    };
    let classes = [
        (&["--one=1"][..], [Some(16), Some(0)]),
        (&["--two"], [Some(0), Some(16)]),
        (&["--one", "--two"], [Some(16), Some(16)]),
        (&[], [Some(16), Some(16)]),
    ];
    for (arguments, wanted) in classes.into_iter().cycle().take(60) {
        let now = || files.each_ref().map(pages);
        let evicted = || {
            os::cache::evict(&files.each_ref().map(|file| file.as_path()));
            now() == [Some(0); 2]
        };
        let launch = || {
            let mut launcher = std::process::Command::new(at("launcher"));
            assert!(launcher.args(arguments).output_when_free().status.success());
        };
        let Some(found) = testkit::brought_in(&wanted, evicted, launch, now) else {
            return testkit::skip("residency is not told of temporary files");
        };
        assert_eq!(found, wanted, "{arguments:?}");
    }
}
