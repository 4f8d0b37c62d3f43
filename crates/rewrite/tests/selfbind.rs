//! Programs with private copies of their libraries, held against glibc's own loader.
#![allow(clippy::unwrap_used)] // a test that cannot build its program fails

mod linked;

use image::elf::Loadable;
use linked::{Bench, Names, PROGRAMS, benches, bindings, installed, output};
use rewrite::selfbind::{self, LibraryChoice, OutsideReason, PrivateCopies};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use testkit::WhenFree;

/// Binds a program's own symbols and compares with the real loader: what it still looks up is as
/// before, and what it does not was a module's own.
fn bound(program: &Path, arguments: &[&str]) -> (PrivateCopies, PathBuf, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let counted = selfbind::program(program, folder.path(), &LibraryChoice::default()).unwrap();
    let names = Names::of_folder(folder.path());
    let before = bindings(&Names::of(program), arguments);
    let after = bindings(&names, arguments);
    let new: Vec<_> = after.difference(&before).collect();
    assert!(new.is_empty(), "{}: {new:#?}", program.display());
    let gone: Vec<_> =
        before.difference(&after).filter(|bound| bound.object != bound.definer).collect();
    assert!(gone.is_empty(), "{}: {gone:#?}", program.display());
    (counted, names.program, folder)
}

const FIRST: &str = "int shared(void) { return 1; } int data[4] = {1, 2, 3, 4}; __thread int tls = 5;\n\
    __attribute__((weak)) int soft(void) { return 6; } int missing(void) __attribute__((weak));\n\
    int (*points)(void) = shared; int *inside = &data[2]; int (*none)(void) = missing;\n\
    int *where(void) { return data; }\n\
    int first(void) { return shared() + soft() + points() + *inside + tls + (none ? 100 : 0)\n\
        + (missing ? 100 : 0); }";
const SECOND: &str = "int shared(void) { return 2; } int soft(void) { return 7; }\n\
    __attribute__((visibility(\"protected\"))) int guarded(void) { return 8; }\n\
    int (*pointer)(void) = guarded; int (*other)(void) = shared; extern __thread int tls;\n\
    static int chosen(void) { return 9; } static void *choose(void) { return chosen; }\n\
    int indirect(void) __attribute__((ifunc(\"choose\"))); int (*late)(void) = indirect;\n\
    int own(void) { return 10; } int (*table[])(void) = { own, own, soft };\n\
    int second(void) { return shared() + soft() + guarded() + pointer() + other() + tls\n\
        + indirect() + late() + own() + table[1]() + table[2](); }";
const MAIN: &str = "#include <stdio.h>\n\
    extern int data[4]; extern __thread int tls; int shared(void), first(void), second(void);\n\
    int guarded(void), *where(void); int (*taken)(void) = shared; int (*safe)(void) = guarded;\n\
    int main(void) { printf(\"%d %d %d %d %d %d %d\\n\", first(), second(), data[1], taken(), tls,\n\
        safe(), where() == data); return 0; }";

/// Interposition, data copied into the program, functions chosen at run time, thread-local data,
/// weak and protected symbols, addresses of functions, by every linker.
#[test]
fn kinds_of_symbols() {
    for bench in benches() {
        bench.library("libfirst.so", FIRST, &[]);
        bench.library("libsecond.so", SECOND, &["-l:libfirst.so"]);
        for form in [&["-no-pie", "-fno-pie"][..], &["-pie", "-fPIE"]] {
            let libraries = ["-l:libfirst.so", "-l:libsecond.so"];
            let program = bench.program("program", MAIN, &[&libraries, form].concat());
            let (counted, run, _folder) = bound(&program, &[]);
            let expected = output(&program, &[]);
            assert_eq!(expected.0, Some(0));
            assert_eq!(output(&run, &[]), expected);
            assert!(counted.converted.relative >= 4, "{counted:?}");
            assert!(counted.lookups_after < counted.lookups_before, "{counted:?}");
            assert_eq!(counted.private.len(), 2);
        }
    }
}

const CPP: &str = "#include <stdexcept>\n#include <typeinfo>\n\
    struct Base { virtual ~Base(); virtual int value() = 0; };\n\
    struct Failed : std::runtime_error { Failed(); };\n\
    template <class T> struct Once { static int count; };\n\
    template <class T> int Once<T>::count = 0;\n";

/// Exceptions, run-time types and unique symbols across C++ libraries.
#[test]
fn classes_across_libraries() {
    let Some(gxx) = testkit::tool("g++") else { return };
    let folder = tempfile::tempdir().unwrap();
    let build = |name: &str, source: &str, options: &[&str]| {
        let file = folder.path().join(format!("{name}.cc"));
        fs::write(&file, format!("{CPP}{source}")).unwrap();
        let mut command = Command::new(&gxx);
        command.current_dir(folder.path()).args(["-o", name]).arg(file).args(options);
        let output = command.arg("-Wl,-rpath,$ORIGIN").output_when_free();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        folder.path().join(name)
    };
    let shared = |name: &str, source: &str, options: &[&str]| {
        let soname = format!("-Wl,-soname,{name}");
        build(name, source, &[&["-shared", "-fPIC", &soname], options].concat());
    };
    shared(
        "libbase.so",
        "Base::~Base() {} Failed::Failed() : std::runtime_error(\"failed\") {}\n\
        int *a() { return &Once<int>::count; } void fail() { throw Failed(); }",
        &[],
    );
    shared(
        "libleaf.so",
        "struct Leaf : Base { int value() override { return 4; } };\n\
        Base *leaf() { return new Leaf; } int *b() { return &Once<int>::count; }",
        &["-L.", "-lbase"],
    );
    let program = build(
        "program",
        "#include <cstdio>\nBase *leaf(); int *a(), *b(); void fail();\n\
        int main() { Base *one = leaf(); int caught = 0; try { fail(); } catch (const Failed &) { caught = 1; }\n\
        printf(\"%d %d %d %s\\n\", one->value(), caught, a() == b(), typeid(*one).name()); delete one; }",
        &["-L.", "-lleaf", "-lbase"],
    );
    let (counted, run, _folder) = bound(&program, &[]);
    assert_eq!(output(&program, &[]).1, "4 1 1 4Leaf\n");
    assert_eq!(output(&run, &[]).1, "4 1 1 4Leaf\n");
    assert!(counted.private.iter().any(|path| path.ends_with("libbase.so")), "{counted:?}");
}

/// A plug-in that needs a library gets the program's private copy, whatever folder the plug-in
/// has in its DT_RUNPATH; LD_LIBRARY_PATH still comes first.
#[test]
fn plugins_and_other_libraries() {
    for bench in benches().into_iter().take(2) {
        let begin = "#include <stdio.h>\n__attribute__((constructor)) static void begin(void) { puts(\"begin\"); }\n\
            int count; int VALUE(void); int (*self)(void) = VALUE; int VALUE(void) { return ++count; }";
        let library = begin.replace("VALUE", "value");
        bench.library("libcount.so.1", &library, &[]);
        bench.library(
            "plugin.so",
            "int value(void); int plugin(void) { return value(); }",
            &["-l:libcount.so.1", "-Wl,-rpath,$ORIGIN", "-Wl,--enable-new-dtags"],
        );
        let plugin = bench.path("plugin.so").display().to_string();
        let source = format!(
            "#include <dlfcn.h>\n#include <stdio.h>\nint value(void);\n\
             int main(void) {{ value(); void *p = dlopen(\"{plugin}\", RTLD_NOW); void *c = dlopen(\"libcount.so.1\", RTLD_NOW | RTLD_NOLOAD);\n\
             int (*f)(void) = dlsym(p, \"plugin\"); printf(\"%d %d\\n\", f(), c != 0); return 0; }}"
        );
        let program =
            bench.program("program", &source, &["-l:libcount.so.1", "-Wl,--enable-new-dtags"]);
        let (counted, run, folder) = bound(&program, &[]);
        assert_eq!(counted.private.len(), 1, "{counted:?}");
        assert_eq!(output(&program, &[]).1, "begin\n2 1\n");
        assert_eq!(output(&run, &[]).1, "begin\n2 1\n");
        let copy = Loadable::open(&folder.path().join("lib/libcount.so.1")).unwrap();
        assert_eq!(copy.soname.as_deref(), Some("libcount.so.1"));

        fs::create_dir(bench.path("other")).unwrap();
        let other = library.replace("return ++count", "return count += 10");
        bench.cc("other/libcount.so.1", &other, &["-shared", "-fPIC", "-Wl,-soname,libcount.so.1"]);
        let mut command = Command::new(&run);
        let done = command.env("LD_LIBRARY_PATH", bench.path("other")).output_when_free();
        assert_eq!(String::from_utf8_lossy(&done.stdout), "begin\n20 1\n");
    }
}

/// Libraries that get no copy: one that asks for its own path, one without DT_SONAME, one that the
/// user names; a copy where the user wants one.
#[test]
fn libraries_that_stay_outside() {
    let Some(bench) = Bench::new("cc", &[]) else { return };
    let asks = "#define _GNU_SOURCE\n#include <dlfcn.h>\nint (*self)(void); int asks(void) { Dl_info i; return dladdr(&self, &i); }\n\
        int (*self)(void) = asks;";
    bench.library("libasks.so", asks, &[]);
    bench.cc(
        "libplain.so",
        "int plain(void) { return 1; } int (*p)(void) = plain;",
        &["-shared", "-fPIC"],
    );
    bench.library("libmine.so", "int mine(void) { return 1; } int (*m)(void) = mine;", &[]);
    bench.library("libothers.so", "int others(void) { return 1; } int (*o)(void) = others;", &[]);
    let program = bench.program(
        "program",
        "int asks(void), plain(void), mine(void), others(void);\n\
         int main(void) { return !(asks() && plain() && mine() && others()); }",
        &["-l:libasks.so", "-l:libplain.so", "-l:libmine.so", "-l:libothers.so"],
    );
    let with = |outside: &str, private: &str| {
        let folder = tempfile::tempdir().unwrap();
        let choice = LibraryChoice { outside: vec![outside.into()], private: vec![private.into()] };
        let counted = selfbind::program(&program, folder.path(), &choice).unwrap();
        assert_eq!(output(&folder.path().join("run"), &[]).0, Some(0));
        counted
    };
    let why = |counted: &PrivateCopies, name: &str| {
        counted.outside.iter().find(|(path, _)| path.ends_with(name)).map(|(_, why)| *why)
    };
    let counted = with("libmine.so", "none");
    assert_eq!(why(&counted, "libasks.so"), Some(OutsideReason::AsksWhereItIs));
    assert_eq!(why(&counted, "libplain.so"), Some(OutsideReason::NotKnownByName));
    assert_eq!(why(&counted, "libmine.so"), Some(OutsideReason::AsAsked));
    assert_eq!(why(&counted, "libc.so.6"), Some(OutsideReason::PartOfLibc));
    assert_eq!(counted.private, [bench.path("libothers.so")]);
    assert_eq!(why(&with("none", "libasks.so"), "libasks.so"), None);
}

/// A library by itself: with DT_SYMBOLIC its references are its own, in every program.
#[test]
fn a_library_by_itself() {
    for bench in benches() {
        let source = "int value(void) { return 1; } int data = 2; int *there = &data;\n\
            int (*points)(void) = value; int sum(void) { return points() + *there + value(); }";
        let plain = bench.library("libplain.so", source, &[]);
        let plain = Loadable::open(&plain).unwrap();
        let error = selfbind::library(&plain, None).err().unwrap().to_string();
        assert!(error.contains("could be bound to another"), "{error}");

        // Linkers leave nothing to do with -Bsymbolic; a library may be made so later.
        let mut edit = image::elf::edit::Edit::of(&plain).unwrap();
        edit.set_value(image::elf::spec::DT_SYMBOLIC, 0);
        fs::write(bench.path("libsymbolic.so"), edit.finish().unwrap().edited.to_bytes()).unwrap();
        let symbolic = Loadable::open(&bench.path("libsymbolic.so")).unwrap();
        let library = selfbind::library(&symbolic, None).unwrap();
        assert!(library.counts.relative >= 2, "{:?}", library.counts);
        let program = bench.program(
            "program",
            "int sum(void); int value(void) { return 100; } int main(void) { return sum(); }",
            &["-l:libplain.so", "-rdynamic"],
        );
        for (bytes, sum) in [
            (plain.bytes().to_vec(), 202),
            (symbolic.bytes().to_vec(), 4),
            (library.edited.to_bytes(), 4),
        ] {
            fs::remove_file(bench.path("libplain.so")).unwrap();
            fs::write(bench.path("libplain.so"), bytes).unwrap();
            assert_eq!(output(&program, &[]).0, Some(sum));
        }
    }
}

/// Real programs bind and print as before.
#[test]
fn programs_of_this_machine() {
    for name in PROGRAMS {
        let Some(program) = installed(name) else { continue };
        let version = ["--version"];
        let (counted, run, _folder) = bound(&program, &version);
        let ordered = &counted.ordered;
        assert!(ordered.probes_after < ordered.probes_before, "{name}: {ordered:?}");
        let text = |program: &Path| {
            let text = output(program, &version).1;
            // clang tells its own folder.
            text.lines().filter(|line| !line.starts_with("InstalledDir")).collect::<String>()
        };
        // emacs looks for its files beside itself.
        assert!(name == "emacs" || text(&program) == text(&run), "{name}");
    }
}

#[test]
fn what_is_refused_leaves_nothing() {
    let Some(bench) = Bench::new("cc", &[]) else { return };
    bench.library("libone.so", "int one(void) { return 0; } int (*o)(void) = one;", &[]);
    let source = "int one(void); int main(void) { return one(); }";
    let program = bench.program("program", source, &["-l:libone.so"]);
    let folder = bench.path("folder");
    let make = |program: &Path| selfbind::program(program, &folder, &LibraryChoice::default());
    let library = fs::read(bench.path("libone.so")).unwrap();
    for at in (0..library.len()).step_by(101) {
        // Cut short anywhere, and with any byte changed: an error, or a program that is proved.
        fs::write(bench.path("libone.so"), &library[..at]).unwrap();
        assert!(make(&program).is_err() || folder.join("run").exists());
        let _ = fs::remove_dir_all(&folder);
        let mut changed = library.clone();
        changed[at] ^= 0xff;
        fs::write(bench.path("libone.so"), changed).unwrap();
        let done = make(&program).is_ok();
        assert_eq!(done, folder.exists());
        let _ = fs::remove_dir_all(&folder);
    }
    fs::write(bench.path("libone.so"), &library).unwrap();
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("mine"), "").unwrap();
    assert!(make(&program).unwrap_err().to_string().contains("not empty"));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}
