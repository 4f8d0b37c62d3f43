//! Plug-ins that share names with others: of versions, of libraries, of symbols that exist once, of their own file.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

mod plugin_host;

use plugin_host::{Case, bundle, case, told};
use std::path::Path;
use std::process::Command;

/// The loader looks for the version of a unique symbol that a plug-in defines, and must not look for it in a library
/// that is not loaded by that name.
#[test]
fn versions_of_own_symbols_that_are_left_to_the_loader() {
    let (Some(case), Some(cpp)) = (case(), testkit::tool("g++")) else { return };
    let Case { at, program, .. } = &case;
    std::fs::write(at.join("map"), "OWN_1 { global: *; };").unwrap();
    let map = format!("-Wl,--version-script={}", at.join("map").display());
    let search = format!("-L{}", at.display());
    let counts = "inline int &counter() { static int all = 0; return all; }";
    let part = format!("{counts} int part() {{ return ++counter(); }}");
    let work = format!(
        "{counts} int part(); extern \"C\" int work() {{ return part() * 10 + ++counter(); }}"
    );
    for (name, source, needs) in [
        ("libpart.so", part.as_str(), ["-Wl,-soname,libpart.so", "-lc"]),
        ("alone.so", &work.replace("int part();", "static int part() { return 3; }"), ["-lc"; 2]),
        ("one.so", &work, ["-lpart", "-Wl,-rpath,$ORIGIN"]),
        ("two.so", &work, ["-lpart", "-Wl,-rpath,$ORIGIN"]),
    ] {
        let file = at.join("source.cpp");
        std::fs::write(&file, source).unwrap();
        let mut command = Command::new(&cpp);
        command.current_dir(at).args(["-shared", "-fPIC", "-o", name, "source.cpp"]);
        assert!(command.args([&map, &search]).args(needs).status().unwrap().success(), "{name}");
    }
    let files = ["alone.so", "one.so", "two.so"].map(Path::new);
    let made = bundle(&case, &files);
    assert_eq!(made.manifest.warnings, [""; 0]);
    for files in [&files[..1], &files[1..], &[files[2], files[0], files[1]]] {
        let found = told(&made.run, files, at);
        let expected = told(program, files, at);
        assert_eq!((found.0, &found.1, found.2.as_str()), (Some(3), &expected.1, "1"));
    }
}

/// The loader relocates the library with -Bsymbolic first, and then its definition is everybody's.
#[test]
fn definitions_of_which_the_first_to_be_relocated_counts() {
    let Some(case) = case() else { return };
    let Case { at, program, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    let search = format!("-L{}", at.display());
    for (number, flag) in [(1, "-lc"), (4, "-Wl,-Bsymbolic")] {
        let source = format!(
            "__asm__(\".globl once\\n.type once, @gnu_unique_object\\n.size once, 4\\n.data\\n.balign 4\\n\"
                \"once: .long {number}\\n.text\");
            extern int once; int get{number}(void) {{ return once; }}"
        );
        let soname = format!("-Wl,-soname,libonce{number}.so");
        let flags = ["-shared", "-fPIC", &soname, flag];
        testkit::compile(&cc, at, &format!("libonce{number}.so"), &source, &flags);
    }
    let work = "int work(void) { return get1() * 10 + get4(); }";
    let flags = ["-shared", "-fPIC", "-w", &search, "-lonce1", "-lonce4", "-Wl,-rpath,$ORIGIN"];
    testkit::compile(&cc, at, "plugin.so", work, &flags);
    let files = [Path::new("plugin.so")];
    let made = bundle(&case, &files);
    let warnings = &made.manifest.warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("once, which exists once"), "{warnings:?}");
    let found = told(&made.run, &files, at);
    assert_eq!((found.1.as_str(), found.2.as_str()), ("44\nend\n", "0"));
    assert_eq!(told(program, &files, at).1, found.1);
}

/// Folders with a library of one name each, whose `dep` tells which folder it is.
fn same_names(at: &Path, folders: [&str; 2]) {
    let cc = testkit::tool("gcc").unwrap();
    for (number, folder) in (7..).zip(folders) {
        let folder = at.join(folder);
        std::fs::create_dir(&folder).unwrap();
        let source = format!("int dep(void) {{ return {number}; }}");
        let flags = ["-shared", "-fPIC", "-Wl,-soname,libdep.so"];
        testkit::compile(&cc, &folder, "libdep.so", &source, &flags);
        let search = format!("-L{}", folder.display());
        let flags = ["-shared", "-fPIC", "-w", &search, "-ldep", "-Wl,-rpath,$ORIGIN"];
        let work = "static int calls; int work(void) { return dep() * 10 + ++calls; }";
        testkit::compile(&cc, &folder, "plugin.so", work, &flags);
    }
}

/// Opened by one process, the first gives its library to the second. Opened alone, each has its own.
#[test]
fn plugins_with_different_libraries_of_one_name() {
    let Some(case) = case() else { return };
    let Case { at, program, .. } = &case;
    same_names(at, ["a", "b"]);
    let [one, two] = ["a/plugin.so", "b/plugin.so"].map(Path::new);
    let made = bundle(&case, &[one, two]);
    let [warning] = &made.manifest.warnings[..] else { panic!("{:?}", made.manifest.warnings) };
    let reason = format!("it has {} only if another", at.join("b/libdep.so").display());
    assert!(
        warning.contains("b/plugin.so is not merged") && warning.contains(&reason),
        "{warning}"
    );
    for (files, merged) in [(vec![one], "1"), (vec![two], "0"), (vec![one, two], "1")] {
        let (found, expected) = (told(&made.run, &files, at), told(program, &files, at));
        assert_eq!((found.1.as_str(), found.2.as_str()), (expected.1.as_str(), merged));
    }
    assert_eq!(told(&made.run, &[two, one], at).1, told(program, &[two, one], at).1);
}

/// As wheels of Python have them. A library that asks where it is may do something else there.
#[test]
fn plugins_with_copies_of_one_library() {
    let Some(case) = case() else { return };
    let Case { at, program, .. } = &case;
    same_names(at, ["a", "b"]);
    let [one, two] = ["a/plugin.so", "b/plugin.so"].map(Path::new);
    let [part, copy] = ["a/libdep.so", "b/libdep.so"].map(|name| at.join(name));
    std::fs::copy(&part, &copy).unwrap();
    let made = bundle(&case, &[one, two]);
    assert_eq!(made.manifest.warnings, [""; 0]);
    for files in [vec![one], vec![two], vec![two, one]] {
        let (found, expected) = (told(&made.run, &files, at), told(program, &files, at));
        assert_eq!((found.1.as_str(), found.2.as_str()), (expected.1.as_str(), "1"));
    }
    // The copy is looked at, too.
    std::fs::write(at.join("other"), std::fs::read(&part).unwrap()).unwrap();
    std::fs::rename(at.join("other"), &copy).unwrap();
    assert_eq!(told(&made.run, &[two], at).2, "0");
    assert_eq!(told(&made.run, &[one], at).2, "1");
    let cc = testkit::tool("gcc").unwrap();
    let asks = "int dladdr(const void *, void *); long about[4];
        int dep(void) { return dladdr((void *)dep, about) ? 5 : 6; }";
    let flags = ["-shared", "-fPIC", "-w", "-Wl,-soname,libdep.so"];
    testkit::compile(&cc, &at.join("a"), "libdep.so", asks, &flags);
    std::fs::copy(&part, &copy).unwrap();
    let warnings = bundle(&case, &[one, two]).manifest.warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("b/libdep.so only if"), "{warnings:?}");
}

/// By a path through another folder, `$ORIGIN` is that folder.
#[test]
fn a_plugin_by_links_in_other_folders() {
    let Some(case) = case() else { return };
    let Case { at, program, .. } = &case;
    same_names(at, ["a", "b"]);
    std::fs::rename(at.join("b/plugin.so"), at.join("b/other.so")).unwrap();
    std::fs::hard_link(at.join("a/plugin.so"), at.join("b/plugin.so")).unwrap();
    std::os::unix::fs::symlink("../a/plugin.so", at.join("b/link.so")).unwrap();
    std::os::unix::fs::symlink("plugin.so", at.join("a/link.so")).unwrap();
    std::os::unix::fs::symlink("a", at.join("c")).unwrap();
    let cc = testkit::tool("gcc").unwrap();
    let work = "int work(void) { static int calls; return ++calls; }";
    testkit::compile(&cc, at, "a/plain.so", work, &["-shared", "-fPIC"]);
    std::os::unix::fs::symlink("../a/plain.so", at.join("b/plain.so")).unwrap();
    let told_of = ["a/plugin.so", "a/plain.so", "a/link.so", "b/link.so", "b/plain.so"];
    let made = bundle(&case, &told_of.map(Path::new));
    let [warning] = &made.manifest.warnings[..] else { panic!("{:?}", made.manifest.warnings) };
    assert!(warning.contains("b/link.so is not merged") && warning.contains("another folder"));
    let cases: [(&[&str], &str); 7] = [
        (&["a/plugin.so", "b/plugin.so", "b/link.so"], "1"),
        (&["a/link.so"], "1"),
        (&["c/plugin.so", "b/../a/plugin.so"], "1"),
        (&["b/plain.so", "a/plain.so"], "1"),
        (&["b/plugin.so", "a/plugin.so"], "0"),
        (&["b/link.so", "a/plugin.so", "c/link.so"], "0"),
        (&["b/other.so", "a/plugin.so"], "0"),
    ];
    for (files, merged) in cases {
        let files: Vec<&Path> = files.iter().map(Path::new).collect();
        let (found, expected) = (told(&made.run, &files, at), told(program, &files, at));
        assert_eq!(
            (found.1.as_str(), found.2.as_str()),
            (expected.1.as_str(), merged),
            "{files:?}"
        );
    }
}

/// The loader takes the one that was loaded first, whichever that is.
#[test]
fn two_plugins_of_one_name() {
    let Some(case) = case() else { return };
    let Case { at, program, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    for (folder, number) in [("a", 1), ("b", 2)] {
        std::fs::create_dir(at.join(folder)).unwrap();
        let work = format!("int me(void) {{ return {number}; }} int work(void) {{ return me(); }}");
        let named = ["-shared", "-fPIC", "-Wl,-soname,libplug.so"];
        testkit::compile(&cc, at, &format!("{folder}/libplug.so"), &work, &named);
    }
    let user = "int me(void); int work(void) { return 10 + me(); }";
    let needs = at.join("a/libplug.so");
    let needs = ["-w", "-shared", "-fPIC", needs.to_str().unwrap()];
    testkit::compile(&cc, at, "user.so", user, &needs);
    let made = bundle(&case, &["a/libplug.so", "b/libplug.so"].map(Path::new));
    assert_eq!(made.manifest.warnings, [""; 0]);
    for (files, answer) in [
        (["b/libplug.so", "a/libplug.so", "user.so"], "2\n1\n12\n"),
        (["a/libplug.so", "b/libplug.so", "user.so"], "1\n2\n11\n"),
        (["b/libplug.so", "user.so", "a/libplug.so"], "2\n12\n1\n"),
    ] {
        let files = files.map(Path::new);
        let (found, expected) = (told(&made.run, &files, at), told(program, &files, at));
        assert!(expected.1.starts_with(answer), "{files:?}: {expected:?}");
        assert_eq!((found.1, found.2.as_str()), (expected.1, "1"), "{files:?}");
    }
}

/// A plug-in that asks for its own path is told the one by which it was opened.
#[test]
fn a_plugin_that_asks_where_it_is_by_a_link() {
    let Some(case) = case() else { return };
    let Case { at, program, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    let asks = "
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <string.h>
        int work(void) {
            Dl_info found;
            return dladdr((void *)work, &found) ? strrchr(found.dli_fname, '/')[-1] : -1;
        }";
    for folder in ["a", "b"] {
        std::fs::create_dir(at.join(folder)).unwrap();
    }
    testkit::compile(&cc, at, "a/asks.so", asks, &["-shared", "-fPIC"]);
    std::os::unix::fs::symlink("../a/asks.so", at.join("b/asks.so")).unwrap();
    let made = bundle(&case, &[Path::new("a/asks.so")]);
    for (file, answer, merged) in [("a/asks.so", "97", "1"), ("b/asks.so", "98", "0")] {
        let files = [Path::new(file)];
        let (found, expected) = (told(&made.run, &files, at), told(program, &files, at));
        assert!(expected.1.starts_with(answer), "{expected:?}");
        assert_eq!((found.1, found.2.as_str()), (expected.1, merged), "{file}");
    }
}
