//! Programs with another order of libraries, held against glibc's own loader.
#![allow(clippy::unwrap_used)] // a test that cannot build its program fails

mod linked;

use linked::{Bench, Dice, Names, PROGRAMS, benches, bindings, initialized, installed, output};
use rewrite::order_needed::{LibraryOrder, order_needed};
use rewrite::{ElfRewriteError, WriteTo, WrittenImage};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Orders into another folder and compares with the real loader.
fn ordered(
    program: &Path,
    strict: bool,
) -> Result<(LibraryOrder, PathBuf, TempDir), ElfRewriteError> {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("elsewhere");
    let WrittenImage { counts: counted, .. } =
        order_needed(program, WriteTo::New(&target), strict)?;
    assert_eq!(bindings(&Names::of(program), &[]), bindings(&Names::of(&target), &[]));
    assert_eq!(output(program, &[]), output(&target, &[]), "{}", program.display());
    assert!(counted.probes_after < counted.probes_before, "{counted:?}");
    Ok((counted, target, folder))
}

/// Many references, so that a library is worth to come early.
fn many(prefix: &str, definitions: bool) -> String {
    let names = (0..40).map(|n| format!("{prefix}{n}"));
    if definitions {
        return names.map(|name| format!("int {name}(void) {{ return 1; }}\n")).collect();
    }
    let mut text = String::new();
    let list: Vec<String> = names.collect();
    list.iter().for_each(|name| text += &format!("int {name}(void);\n"));
    text + &format!("int (*const {prefix}all[])(void) = {{ {} }};\n", list.join(", "))
}

/// Two libraries that export a common name stay in order though the later one is asked for much;
/// a third comes before both.
#[test]
fn common_names_stay_in_order() {
    for bench in benches() {
        let many_a = many("a", true);
        bench.library("libone.so", "int shared(void) { return 1; }", &[]);
        bench.library("libtwo.so", &format!("int shared(void) {{ return 2; }}\n{many_a}"), &[]);
        bench.library("libfree.so", &many("b", true), &[]);
        let user = many("a", false)
            + &many("b", false)
            + "int shared(void);\n\
            int user(void) { return shared() + aall[3]() + ball[4](); }";
        bench.library("libuser.so", &user, &["-l:libone.so", "-l:libtwo.so", "-l:libfree.so"]);
        let program = bench.program(
            "program",
            "int user(void); int main(void) { return user(); }",
            &["-l:libuser.so", "-l:libone.so", "-l:libtwo.so", "-l:libfree.so"],
        );
        let (counted, target, _folder) = ordered(&program, false).unwrap();
        assert!(counted.pairs >= 1, "{counted:?}");
        let needed = image::elf::Loadable::open(&target).unwrap().needed;
        let at = |name: &str| needed.iter().position(|needed| needed == name).unwrap();
        assert!(at("libfree.so") < at("libone.so") && at("libone.so") < at("libtwo.so"));
        assert_eq!(output(&target, &[]).0, Some(3));
    }
}

/// A library asks for the next definition of a name that it does not export itself: the same is
/// found behind it, and none that stands before it.
#[test]
fn the_next_definition_stays_the_next() {
    for bench in benches() {
        let asking = "#include <dlfcn.h>\nint asking(void) {\
            int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, \"common\");\
            return next ? next() : 9; }";
        let common = |value: &str| format!("int common(void) {{ return {value}; }}\n");
        bench.library("libbefore.so", &common("1"), &[]);
        bench.library("libasking.so", asking, &["-D_GNU_SOURCE"]);
        bench.library("libnext.so", &(common("2") + &many("a", true)), &[]);
        bench.library("liblast.so", &(common("3") + &many("b", true)), &[]);
        bench.library("libfree.so", &many("c", true), &[]);
        let source = ["a", "b", "c"].map(|prefix| many(prefix, false)).concat()
            + "int asking(void);\nint main(void) { return asking() + aall[1]() + ball[1]() + call[1](); }";
        let libraries =
            ["before", "asking", "next", "last", "free"].map(|name| format!("-l:lib{name}.so"));
        let flags: Vec<&str> = libraries.iter().map(String::as_str).collect();
        let program =
            bench.program("program", &source, &[&["-Wl,--no-as-needed"], &flags[..]].concat());
        assert_eq!(output(&program, &[]).0, Some(5));
        let (_, target, _folder) = ordered(&program, false).unwrap();
        assert_eq!(output(&target, &[]).0, Some(5));
    }
}

/// Versions that differ, of which one is hidden, are no common name.
#[test]
fn versions_stay_satisfied() {
    for bench in benches().into_iter().take(3) {
        fs::write(bench.path("map"), "V_1 { global: *; };").unwrap();
        let script = ["-Wl,--version-script,map"];
        bench.library("libold.so", &many("a", true), &script);
        bench.library("libnew.so", &(many("b", true) + "int more(void) { return 2; }"), &script);
        let user = many("b", false) + "int user(void) { return ball[0](); }";
        bench.library("libuser.so", &user, &["-l:libnew.so"]);
        let source = many("a", false)
            + "int user(void), more(void);\n\
            int main(void) { return user() + aall[1]() + more(); }";
        let program =
            bench.program("program", &source, &["-l:libuser.so", "-l:libold.so", "-l:libnew.so"]);
        let (_, target, _folder) = ordered(&program, false).unwrap();
        assert_eq!(output(&target, &[]).0, Some(4));
    }
}

const WITH_INIT: &str = "#include <stdio.h>\n__attribute__((constructor)) static void begin(void) {\
    puts(\"begin NAME\"); fflush(stdout); }\n";

/// Constructors: what is said to move does, and with `strict_init` none does.
#[test]
fn constructors() {
    for bench in benches() {
        for (name, needs) in [("e", ""), ("d", "e"), ("c", ""), ("b", "cd"), ("a", "bd")] {
            let options: Vec<String> =
                needs.chars().map(|need| format!("-l:libinit_{need}.so")).collect();
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let options = [&options[..], &["-Wl,-rpath,$ORIGIN"]].concat();
            let source = WITH_INIT.replace("NAME", name) + &many(name, true);
            bench.library(&format!("libinit_{name}.so"), &source, &options);
        }
        let source = many("c", false)
            + &many("e", false)
            + "int main(void) { return call[0]() + eall[1]() == 0; }";
        let program = bench.program(
            "program",
            &source,
            &["-l:libinit_a.so", "-l:libinit_c.so", "-l:libinit_e.so"],
        );
        let before = initialized(&program);
        assert!(before.len() >= 6, "{before:?}");
        let folder = tempfile::tempdir().unwrap();
        for strict in [false, true] {
            let target = folder.path().join(format!("strict-{strict}"));
            match order_needed(&program, WriteTo::New(&target), strict) {
                Ok(WrittenImage { counts: counted, .. }) => {
                    let same = initialized(&target) == before;
                    assert_eq!(same, counted.constructors_moved.is_empty(), "{counted:?}");
                    assert!(same || !strict);
                    assert_eq!(
                        bindings(&Names::of(&program), &[]),
                        bindings(&Names::of(&target), &[])
                    );
                }
                Err(error) => {
                    assert!(matches!(error, ElfRewriteError::NothingToGain { .. }), "{error}");
                    assert!(!target.exists());
                }
            }
        }
    }
}

/// Libraries that only a library's DT_RUNPATH leads to, with and without DT_SONAME, and versions
/// asked of them.
#[test]
fn libraries_that_the_program_does_not_find() {
    for bench in benches() {
        fs::create_dir(bench.path("deep")).unwrap();
        let deep = many("a", true);
        bench.cc("deep/libplain.so", &deep, &["-shared", "-fPIC"]);
        bench.cc(
            "deep/libnamed.so",
            &many("b", true),
            &["-shared", "-fPIC", "-Wl,-soname,libnamed.so"],
        );
        let user = many("a", false)
            + &many("b", false)
            + "int user(void) { return aall[2]() + ball[3](); }";
        let options = [
            "-Ldeep",
            "-l:libplain.so",
            "-l:libnamed.so",
            "-Wl,-rpath,$ORIGIN/deep",
            "-Wl,--enable-new-dtags",
        ];
        bench.library("libuser.so", &user, &options);
        bench.library("libother.so", &many("z", true), &[]);
        let source =
            many("z", false) + "int user(void); int main(void) { return user() + zall[0](); }";
        let program = bench.program(
            "program",
            &source,
            &[
                "-l:libuser.so",
                "-l:libother.so",
                "-Wl,--enable-new-dtags",
                "-Wl,--allow-shlib-undefined",
            ],
        );
        let (counted, target, _folder) = ordered(&program, false).unwrap();
        assert_eq!(output(&target, &[]).0, Some(3), "{counted:?}");
        let is_deep = |path: &PathBuf| path.parent().unwrap().ends_with("deep");
        assert!(counted.by_path.iter().all(is_deep) && !counted.by_path.is_empty(), "{counted:?}");
    }
}

/// The program asks for a version of a library that only another library needs, and that is then
/// asked for by path: the versions have to be asked for in the same words.
#[test]
fn versions_of_a_library_by_path() {
    for bench in benches() {
        fs::create_dir(bench.path("deep")).unwrap();
        fs::write(bench.path("map"), "V_1 { global: *; };").unwrap();
        let named = ["-shared", "-fPIC", "-Wl,-soname,libnamed.so", "-Wl,--version-script,map"];
        bench.cc("deep/libnamed.so", &many("b", true), &named);
        let options =
            ["-Ldeep", "-l:libnamed.so", "-Wl,-rpath,$ORIGIN/deep", "-Wl,--enable-new-dtags"];
        bench.library("libuser.so", "int user(void) { return 1; }", &options);
        for idle in ["libidle.so", "libidler.so"] {
            bench.library(idle, "static int idle;", &[]);
        }
        let source = many("b", false) + "int main(void) { return ball[3](); }";
        let options = [
            "-l:libuser.so",
            "-l:libidle.so",
            "-l:libidler.so",
            "-Ldeep",
            "-l:libnamed.so",
            "-Wl,--enable-new-dtags",
        ];
        let linked = bench.program("linked", &source, &options);
        let program = bench.path("program");
        without_need(&linked, "libnamed.so", &program);
        let (counted, target, _folder) = ordered(&program, false).unwrap();
        assert_eq!(counted.by_path, [bench.path("deep/libnamed.so")]);
        let target = image::elf::Loadable::open(&target).unwrap();
        let asked = target.versions().find(|version| version.name == b"V_1").unwrap();
        assert_eq!(asked.library, Some(counted.by_path[0].display().to_string().into_bytes()));
    }
}

/// What the program would look for in a folder of its own first is left to those that find it at
/// once, if it answers few look-ups.
#[test]
fn few_files_are_tried_in_vain() {
    for bench in benches() {
        let user = "#include <string>\n\
            extern \"C\" int user(void) { return std::to_string(1234).size(); }";
        let Some(cxx) = testkit::tool("g++") else { return };
        let source = "int user(void); int main(void) { return user(); }";
        let mut asked = Vec::new();
        for own_folder in [false, true] {
            let at = bench.path(if own_folder { "with" } else { "without" });
            fs::create_dir(&at).unwrap();
            let library = at.join("libuser.so").display().to_string();
            let name = if own_folder { "libuser.so" } else { library.as_str() };
            let flags = ["-x", "c++", "-shared", "-fPIC", &format!("-Wl,-soname,{name}")];
            testkit::compile(&cxx, &at, "libuser.so", user, &flags);
            let search = format!("-Wl,--enable-new-dtags,-rpath,{}", at.display());
            let program = at.join("program").display().to_string();
            let options = [library.as_str(), "-Wl,--allow-shlib-undefined", &search];
            bench.cc(&program, source, if own_folder { &options } else { &options[..2] });
            let (_, target, _folder) = ordered(Path::new(&program), false).unwrap();
            assert_eq!(output(&target, &[]).0, Some(4));
            let needed = image::elf::Loadable::open(&target).unwrap().needed;
            assert!(needed.contains(&"libstdc++.so.6".to_owned()), "{needed:?}");
            asked.push(needed.contains(&"libm.so.6".to_owned()));
        }
        assert_eq!(asked, [true, false]);
    }
}

/// A copy of a program without one of its DT_NEEDED.
fn without_need(program: &Path, name: &str, target: &Path) {
    let image = image::elf::Loadable::open(program).unwrap();
    let mut edit = image::elf::edit::Edit::of(&image).unwrap();
    let mut entries = edit.dynamic().to_vec();
    let mut names = image.needed.iter();
    let needed = image::elf::spec::DT_NEEDED;
    entries.retain(|entry| entry.tag != needed || names.next().unwrap() != name);
    edit.set_dynamic(entries);
    fs::write(target, edit.finish().unwrap().edited.to_bytes()).unwrap();
    fs::set_permissions(target, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A library without DT_SONAME beside the program is asked for by the name that it has.
#[test]
fn libraries_without_a_name_of_their_own() {
    for bench in benches() {
        bench.cc("libplain.so", &many("a", true), &["-shared", "-fPIC"]);
        let user = many("a", false) + "int user(void) { return aall[2](); }";
        bench.library("libuser.so", &user, &["-l:libplain.so", "-Wl,-rpath,$ORIGIN"]);
        bench.library("libidle.so", "int idle;", &[]);
        let program = bench.program(
            "program",
            "int user(void); int main(void) { return user(); }",
            &["-l:libidle.so", "-l:libuser.so", "-Wl,--allow-shlib-undefined"],
        );
        let (_, target, _folder) = ordered(&program, false).unwrap();
        let needed = image::elf::Loadable::open(&target).unwrap().needed;
        assert!(needed.contains(&"libplain.so".to_owned()), "{needed:?}");
    }
}

/// Needs of any form among libraries that all define one symbol, and some others.
#[test]
fn any_needs() {
    const LIBRARIES: u64 = 7;
    let Some(bench) = Bench::new("cc", &[]) else { return };
    let mut dice = Dice(5);
    let mut better = 0;
    for _ in 0..6 {
        for library in (0..LIBRARIES).rev() {
            let needs = (library + 1..LIBRARIES).filter(|_| dice.below(2) == 0);
            let options: Vec<String> = needs.map(|need| format!("-l:libany{need}.so")).collect();
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let common = if dice.below(3) == 0 {
                "int common(void) { return 1; }\n"
            } else {
                "int common(void);\n"
            };
            let source = format!(
                "{common}int own{library}(void) {{ return common(); }}\n{}\
                 __attribute__((constructor)) void begin{library}(void) {{ common(); }}",
                many(&format!("s{library}_"), true)
            );
            bench.library(&format!("libany{library}.so"), &source, &options);
        }
        bench.library("libbase.so", "int common(void) { return 2; }", &[]);
        let wanted = dice.below(LIBRARIES);
        let source = many(&format!("s{wanted}_"), false) + "int main(void) { return 0; }";
        let all: Vec<String> = (0..LIBRARIES).map(|n| format!("-l:libany{n}.so")).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).chain(["-l:libbase.so"]).collect();
        let program = bench.program("program", &source, &all);
        match ordered(&program, dice.below(2) == 0) {
            Ok(_) => better += 1,
            Err(error) => {
                assert!(matches!(error, ElfRewriteError::NothingToGain { .. }), "{error}")
            }
        }
    }
    assert!(better >= 3, "{better}");
}

/// Generated programs of every form of dependencies.
#[test]
fn shapes() {
    for kind in workload::Kind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let shape = workload::Workload::Shape(workload::Shape { kind, n: 60 });
        let program = workload::generate(&shape).unwrap().write_to(folder.path()).unwrap().program;
        match ordered(&program, false) {
            Ok((_, target, _folder)) => {
                assert_eq!(output(&program, &["--call"]), output(&target, &["--call"]))
            }
            Err(error) => {
                assert!(matches!(error, ElfRewriteError::NothingToGain { .. }), "{error}")
            }
        }
    }
}

/// Real programs bind and print as before.
#[test]
fn programs_of_this_machine() {
    for name in PROGRAMS {
        let Some(program) = installed(name) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join(name);
        let WrittenImage { counts: counted, .. } =
            order_needed(&program, WriteTo::New(&target), false).unwrap();
        assert!(counted.probes_after < counted.probes_before, "{name}: {counted:?}");
        let version = ["--version"];
        let (before, after) = (Names::of(&program), Names::of(&target));
        assert_eq!(bindings(&before, &version), bindings(&after, &version), "{name}");
        let text = |program: &Path| {
            let text = output(program, &version).1;
            // clang tells its own folder.
            text.lines().filter(|line| !line.starts_with("InstalledDir")).collect::<String>()
        };
        // emacs looks for its files beside itself.
        assert!(name == "emacs" || text(&program) == text(&target), "{name}");
    }
}

#[test]
fn what_is_refused_leaves_nothing() {
    let Some(bench) = Bench::new("cc", &[]) else { return };
    bench.library("libone.so", "int one;", &[]);
    bench.library("libtwo.so", &many("a", true), &[]);
    let source = many("a", false) + "int main(void) { return aall[0] == 0; }";
    let program = bench.program("program", &source, &["-l:libone.so", "-l:libtwo.so"]);
    let target = bench.path("target");
    let refused = |program: &Path| {
        let error = order_needed(program, WriteTo::New(&target), false).unwrap_err();
        assert!(!target.exists());
        error.to_string()
    };
    let set = |mode| fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
    set(0o4755);
    assert!(refused(&program).contains("set-user-ID"));
    set(0o755);
    assert!(refused(&bench.path("none")).contains("none"));
    let alone = bench.cc("alone", "int main(void) { return 0; }", &["-static"]);
    assert!(refused(&alone).contains("is static"));
    let bytes = fs::read(&program).unwrap();
    for length in (0..bytes.len()).step_by(97) {
        // Cut short anywhere, and with any byte changed: an error, or a program that is proved.
        let damaged = bench.path("damaged");
        fs::write(&damaged, &bytes[..length]).unwrap();
        let _ = order_needed(&damaged, WriteTo::New(&target), false);
        let mut changed = bytes.clone();
        changed[length] ^= 0xff;
        fs::write(&damaged, changed).unwrap();
        let _ = order_needed(&damaged, WriteTo::New(&target), false);
        let _ = fs::remove_file(&target);
    }
    fs::write(&target, "mine").unwrap();
    let error = order_needed(&program, WriteTo::New(&target), false).unwrap_err().to_string();
    assert!(error.contains("exists already") && fs::read(&target).unwrap() == b"mine", "{error}");
    let left = fs::read_dir(bench.folder.path()).unwrap().flatten();
    assert!(
        left.into_iter().all(|file| !file.file_name().to_string_lossy().starts_with(".headstart"))
    );
}

/// In place, and back to the same bytes.
#[test]
fn in_place_and_undone() {
    let Some(bench) = Bench::new("cc", &[]) else { return };
    bench.library("libone.so", "int one;", &[]);
    bench.library("libtwo.so", &many("a", true), &[]);
    let source = many("a", false) + "int main(void) { return aall[0](); }";
    let program = bench.program("program", &source, &["-l:libone.so", "-l:libtwo.so"]);
    let bytes = fs::read(&program).unwrap();
    let before = bindings(&Names::of(&program), &[]);
    order_needed(&program, WriteTo::InPlace, false).unwrap();
    assert_ne!(fs::read(&program).unwrap(), bytes);
    assert_eq!((bindings(&Names::of(&program), &[]), output(&program, &[]).0), (before, Some(1)));
    let rpath = image::elf::Loadable::open(&program).unwrap();
    let rpath = rpath.runpath.or(rpath.rpath).unwrap();
    assert_eq!(rpath, "$ORIGIN", "it stays where it is");
    files::undo(&program).unwrap();
    assert_eq!(fs::read(&program).unwrap(), bytes);
}
