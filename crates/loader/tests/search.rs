//! The search for libraries against the loader itself: what `LD_DEBUG=libs` tells of every file
//! that it tries must be what the simulated search tries, in the same order.
#![allow(clippy::unwrap_used)]

mod search_oracle;

use loader::search::{SearchError, Searcher};
use search_oracle::{Attempts, Case, both, both_fail, launch, library, program, simulate};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A folder with folders in it.
fn folder(names: &[&str]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for name in names {
        std::fs::create_dir_all(root.path().join(name)).unwrap();
    }
    root
}

fn tried(attempts: &Attempts, path: &Path) -> bool {
    attempts.iter().any(|(_, other)| other == path)
}

#[test]
fn a_program_of_the_system_searches_only_the_cache() {
    let Some(git) = testkit::tool("git") else { return };
    let attempts = both(&Case::of(&git));
    assert!(attempts.iter().any(|(name, _)| name == "libc.so.6"), "{attempts:?}");
}

#[test]
fn rpath_of_the_program_is_for_all_and_runpath_for_its_own() {
    let Some(cc) = testkit::tool("cc") else { return };
    let root = folder(&["libs"]);
    let libs = root.path().join("libs");
    let inner = library(&cc, &libs, "libinner.so", &[]);
    library(&cc, &libs, "libouter.so", &["-L.", "-linner"]);
    let rpath = "-Wl,-rpath,/nowhere:$ORIGIN/libs/:$ORIGIN/libs";
    for (kind, found) in [("-Wl,--disable-new-dtags", true), ("-Wl,--enable-new-dtags", false)] {
        let main = program(&cc, root.path(), &["-Llibs", "-louter", rpath, kind]);
        let attempts = if found { both(&Case::of(&main)) } else { both_fail(&Case::of(&main)).2 };
        assert_eq!(tried(&attempts, &inner), found, "{attempts:?}");
    }
}

#[test]
fn an_rpath_is_inherited_past_images_with_a_runpath() {
    let Some(cc) = testkit::tool("cc") else { return };
    let root = folder(&["a", "b"]);
    let (a, b) = (root.path().join("a"), root.path().join("b"));
    let third = library(&cc, &b, "libthird.so", &[]);
    library(&cc, &a, "libsecond.so", &["-L../b", "-lthird"]);
    let own = ["-L.", "-lsecond", "-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN"];
    library(&cc, &a, "libfirst.so", &own);
    let rpath = "-Wl,-rpath,${ORIGIN}/a:${ORIGIN}/b";
    let flags = ["-La", "-lfirst", rpath, "-Wl,--disable-new-dtags"];
    let attempts = both(&Case::of(&program(&cc, root.path(), &flags)));
    assert!(tried(&attempts, &third), "{attempts:?}");
}

#[test]
fn the_environment_comes_between_rpath_and_runpath() {
    let Some(cc) = testkit::tool("cc") else { return };
    let root = folder(&["own", "env"]);
    for name in ["own", "env"] {
        library(&cc, &root.path().join(name), "libx.so", &[]);
    }
    let path = "/nowhere;$ORIGIN/$LIB:/a/$PLATFORM:$PLATFORMS:${ORIGIN}/env//:relative/folder";
    let rpath = "-Wl,-rpath,$ORIGIN/own";
    for (kind, winner) in [("-Wl,--disable-new-dtags", "own"), ("-Wl,--enable-new-dtags", "env")] {
        let main = program(&cc, root.path(), &["-Lown", "-lx", rpath, kind]);
        let attempts = both(&Case { library_path: Some(path.as_ref()), ..Case::of(&main) });
        assert!(tried(&attempts, &root.path().join(winner).join("libx.so")), "{attempts:?}");
    }
}

#[test]
fn the_environment_may_name_folders_in_any_bytes() {
    let Some(cc) = testkit::tool("cc") else { return };
    let root = folder(&["plain"]);
    library(&cc, &root.path().join("plain"), "libx.so", &[]);
    let main = program(&cc, root.path(), &["-Lplain", "-lx"]);
    let other = root.path().join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::rename(root.path().join("plain"), &other).unwrap();
    // As it stands in the environment, and below a folder that a token stands for.
    for path in [other.as_os_str(), OsStr::from_bytes(b"/nowhere:$ORIGIN/caf\xe9")] {
        both(&Case { library_path: Some(path), ..Case::of(&main) });
    }
}

#[test]
fn an_empty_entry_is_the_current_folder() {
    let Some(cc) = testkit::tool("cc") else { return };
    let root = folder(&["cwd"]);
    let cwd = root.path().join("cwd");
    library(&cc, &cwd, "libx.so", &[]);
    let main = program(&cc, root.path(), &["-Lcwd", "-lx"]);
    let case = Case { folder: Some(&cwd), ..Case::of(&main) };
    for path in [":", "/nowhere:", ";", "../cwd/", "."] {
        both(&Case { library_path: Some(path.as_ref()), ..case });
    }
    both_fail(&Case { library_path: Some("".as_ref()), ..case });
    let main = program(&cc, root.path(), &["-Lcwd", "-lx", "-Wl,-rpath,/nowhere:"]);
    both(&Case { program: &main, ..case });
}

#[test]
fn files_of_another_class_or_machine_are_passed_over() {
    let Some(cc) = testkit::tool("cc") else { return };
    let root = folder(&["class", "machine", "good"]);
    let good = library(&cc, &root.path().join("good"), "libx.so", &[]);
    let bytes = std::fs::read(&good).unwrap();
    for (name, offset, value) in [("class", 4, 1), ("machine", 18, 183)] {
        let mut other = bytes.clone();
        other[offset] = value;
        std::fs::write(root.path().join(name).join("libx.so"), other).unwrap();
    }
    let path = "-Wl,-rpath,$ORIGIN/class:$ORIGIN/machine:$ORIGIN/good";
    let main = program(&cc, root.path(), &["-Lgood", "-lx", path]);
    assert!(tried(&both(&Case::of(&main)), &good));
    std::fs::remove_file(&good).unwrap();
    let (error, words, _) = both_fail(&Case::of(&main));
    assert!(matches!(&error, SearchError::OtherClass { name } if name == "libx.so"), "{error}");
    assert!(words.contains("wrong ELF class: ELFCLASS32"), "{words}");
}

#[test]
fn the_loader_stops_at_a_file_that_is_no_library() {
    let Some(cc) = testkit::tool("cc") else { return };
    let root = folder(&["bad", "good"]);
    let good = library(&cc, &root.path().join("good"), "libx.so", &[]);
    let path = "-Wl,-rpath,$ORIGIN/bad:$ORIGIN/good";
    let main = program(&cc, root.path(), &["-Lgood", "-lx", path]);
    let bytes = std::fs::read(&good).unwrap();
    let bad = root.path().join("bad/libx.so");
    let changed = |offset: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[offset] = value;
        bytes
    };
    let cases = [
        (b"GROUP ( libx.so.1 ) ".repeat(4), "invalid ELF header"),
        (b"\x7fELF".to_vec(), "file too short"),
        (Vec::new(), "file too short"),
        (changed(5, 2), "ELF file data encoding not little-endian"),
        (changed(6, 2), "ELF file version ident does not match current one"),
        (changed(7, 9), "ELF file OS ABI invalid"),
        (changed(8, 1), "ELF file ABI version invalid"),
        (changed(12, 1), "nonzero padding in e_ident"),
        (changed(16, 1), "only ET_DYN and ET_EXEC can be loaded"),
        (changed(20, 2), "ELF file version does not match current one"),
        (changed(54, 1), "ELF file's phentsize not the expected size"),
        (changed(37, 0x10), "cannot read file data"),
    ];
    for (bytes, expected) in cases {
        std::fs::write(&bad, bytes).unwrap();
        let (error, words, _) = both_fail(&Case::of(&main));
        assert!(words.contains(expected), "{expected}: {words}");
        let SearchError::Rejected { path, reason, .. } = &error else { panic!("{error}") };
        assert_eq!((path, *reason), (&bad, expected));
    }
    std::fs::remove_file(&bad).unwrap();
    std::fs::create_dir(&bad).unwrap();
    let (error, words, _) = both_fail(&Case::of(&main));
    assert!(words.contains("cannot read file data: Error 21"), "{words}");
    assert!(error.to_string().contains("cannot read file data: it is a folder"), "{error}");
}

#[test]
fn a_name_with_a_slash_is_a_path() {
    let Some(cc) = testkit::tool("cc") else { return };
    let root = folder(&["own"]);
    let soname = "-Wl,-soname,$ORIGIN/own/libx.so";
    let made = library(&cc, &root.path().join("own"), "libx.so", &[soname]);
    let main = program(&cc, root.path(), &["-Lown", "-lx"]);
    let attempts = both(&Case::of(&main));
    assert!(attempts.iter().any(|(name, _)| name == "libc.so.6"), "{attempts:?}");
    std::fs::remove_file(made).unwrap();
    let (error, words, _) = both_fail(&Case::of(&main));
    assert!(words.contains("/own/libx.so: cannot open shared object file"), "{words}");
    assert!(matches!(error, SearchError::NotFound { tried: 1, .. }), "{error}");
}

#[test]
fn subfolders_of_the_processor_come_first() {
    let Some(cc) = testkit::tool("cc") else { return };
    let subfolders = Searcher::new("x86_64", None).unwrap().subfolders();
    let root = folder(&["libs"]);
    let libs = root.path().join("libs");
    let built = library(&cc, &libs, "libx.so", &[]);
    let main = program(&cc, root.path(), &["-Llibs", "-lx", "-Wl,-rpath,$ORIGIN/libs"]);
    // From the last to the first, each takes the place of the one before.
    for subfolder in subfolders.iter().rev() {
        let place = libs.join(subfolder);
        std::fs::create_dir_all(&place).unwrap();
        if !subfolder.is_empty() {
            std::fs::copy(&built, place.join("libx.so")).unwrap();
        }
        let attempts = both(&Case::of(&main));
        assert!(tried(&attempts, &place.join("libx.so")), "{subfolder}: {attempts:?}");
    }
}

#[test]
fn preloaded_names_are_searched_as_the_programs_own() {
    let Some(cc) = testkit::tool("cc") else { return };
    let root = folder(&["own"]);
    let made = library(&cc, &root.path().join("own"), "libx.so", &[]);
    let main = program(&cc, root.path(), &["-Wl,-rpath,$ORIGIN/own"]);
    let attempts = both(&Case { preload: Some("libx.so"), ..Case::of(&main) });
    assert!(tried(&attempts, &made), "{attempts:?}");
}

#[test]
fn default_folders_can_be_declined() {
    let Some(cc) = testkit::tool("cc") else { return };
    let root = folder(&[]);
    let main = program(&cc, root.path(), &["-Wl,-z,nodefaultlib"]);
    // The loader tells what it finds in the cache, and then does not open it.
    let (words, _) = launch(&Case::of(&main));
    assert!(words.contains("libc.so.6: cannot open shared object file"), "{words}");
    let simulated = simulate(&Case::of(&main));
    let error = simulated.error.unwrap();
    assert!(matches!(error, SearchError::NotFound { tried: 0, .. }), "{error}");
}

#[test]
fn a_missing_library_is_looked_for_everywhere() {
    let Some(cc) = testkit::tool("cc") else { return };
    let root = folder(&["own"]);
    let made = library(&cc, &root.path().join("own"), "libno-such-thing.so", &[]);
    let main = program(&cc, root.path(), &["-Lown", "-lno-such-thing"]);
    std::fs::remove_file(made).unwrap();
    let (error, words, attempts) = both_fail(&Case::of(&main));
    assert!(words.contains("cannot open shared object file: No such file"), "{words}");
    assert!(matches!(error, SearchError::NotFound { tried, .. } if tried == attempts.len()));
    for folder in Searcher::new("x86_64", None).unwrap().default_folders() {
        assert!(tried(&attempts, &folder.join("libno-such-thing.so")), "{attempts:?}");
    }
}
