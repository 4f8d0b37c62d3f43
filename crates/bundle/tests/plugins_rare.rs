//! Plug-ins of rare kinds, those that stay as they are, and bundles with plug-ins that are made again.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

mod plugin_host;

use bundle::{BundleOptions, Made};
use plugin_host::{Case, bundle, case, told};
use std::ffi::{OsStr, OsString};
use std::fs::Permissions;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const THROWS: &str = r#"
#include <stdexcept>
#include <string>
thread_local int depth __attribute__((tls_model("initial-exec"))) = 3;
void throws(const std::string &text) { depth++; throw std::runtime_error(text + "!"); }
"#;

/// The counter exists once in a process (STB_GNU_UNIQUE).
const CATCHES: &str = r#"
#include <stdexcept>
#include <string>
#include <cstdio>
#include <vector>
extern thread_local int depth;
void throws(const std::string &);
inline int &counter() { static int all = 0; return all; }
struct Ends { ~Ends() { puts("ends " NAME); } };
static Ends ends;
extern "C" int work() {
    static thread_local std::vector<int> seen;
    seen.push_back(++counter());
    try { throws(NAME); } catch (const std::exception &error) { printf("%s %d\n", error.what(), depth); }
    return seen.back() * 10 + (int)seen.size();
}
"#;

/// Ends with how often something was wrong.
const THREADS: &str = r#"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
static char **files;
static int count;
static void *opens(void *number) {
    unsigned seed = (unsigned)(long)number;
    long wrong = 0;
    for (int turn = 0; turn < 3000; turn++) {
        int how = RTLD_NOW | (rand_r(&seed) % 8 == 0 ? RTLD_NOLOAD : 0);
        void *handle = dlopen(files[rand_r(&seed) % count], how);
        if (!handle) { wrong += !(how & RTLD_NOLOAD); continue; }
        int (*work)(void) = (int (*)(void))dlsym(handle, "work");
        wrong += !work || work() != 2;
        wrong += dlclose(handle) != 0;
    }
    return (void *)wrong;
}
int main(int words, char **arguments) {
    pthread_t threads[6];
    long wrong = 0;
    files = arguments + 1;
    count = words - 1;
    for (long at = 0; at < 6; at++) pthread_create(&threads[at], 0, opens, (void *)(at + 1));
    for (int at = 0; at < 6; at++) {
        void *found;
        pthread_join(threads[at], &found);
        wrong += (long)found;
    }
    return wrong != 0;
}
"#;

/// The folders of merged files.
fn merged(case: &Case) -> Vec<OsString> {
    let entries =
        case.at.join("bundle").read_dir().unwrap().map(|entry| entry.unwrap().file_name());
    entries
        .filter(|name| name.as_bytes().starts_with(b"lib-") || name.as_bytes().starts_with(b".lib"))
        .collect()
}

#[test]
fn exceptions_unique_symbols_and_static_thread_local_storage() {
    let (Some(case), Some(cpp)) = (case(), testkit::tool("g++")) else { return };
    let Case { at, program, .. } = &case;
    std::fs::write(at.join("throws.cpp"), THROWS).unwrap();
    std::fs::write(at.join("catches.cpp"), CATCHES).unwrap();
    let run = |arguments: &[&str]| {
        let status = Command::new(&cpp).current_dir(at).args(arguments).status().unwrap();
        assert!(status.success(), "{arguments:?}");
    };
    run(&["-shared", "-fPIC", "-o", "libthrows.so", "throws.cpp", "-Wl,-soname,libthrows.so"]);
    for name in ["one", "two"] {
        let (define, output) = (format!("-DNAME=\"{name}\""), format!("{name}.so"));
        let search = "-Wl,-rpath,$ORIGIN";
        run(&[
            "-shared",
            "-fPIC",
            "-o",
            &output,
            &define,
            "catches.cpp",
            "-L.",
            "-lthrows",
            search,
        ]);
    }
    let plugins = [Path::new("one.so"), Path::new("two.so")];
    let made = bundle(&case, &plugins);
    assert_eq!(made.manifest.warnings, [""; 0]);
    for files in [&plugins[..], &[plugins[1], plugins[0], plugins[1]]] {
        let expected = told(program, files, at);
        let found = told(&made.run, files, at);
        assert_eq!((found.0, &found.1), (expected.0, &expected.1));
        assert_eq!((found.0, found.2.as_str()), (Some(3), "1"));
    }
}

/// A library with little room for its storage stands between two others of the same plug-in.
#[test]
fn files_do_not_need_each_other() {
    let Some(case) = case() else { return };
    let Case { at, program, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    let begins = "__attribute__((constructor)) static void first(void)";
    let third =
        format!("static int set; {begins} {{ set = 3; }} int third(void) {{ return set; }}");
    let second = format!(
        "#include <stdlib.h>
        int third(void); static int *table;
        static __thread int near __attribute__((tls_model(\"initial-exec\")));
        {begins} {{ table = malloc(sizeof *table); *table = third(); }}
        int second(void) {{ return ++near + *table; }}"
    );
    let first = format!(
        "int second(void); int third(void); static int set;
        {begins} {{ set = second() * 10 + third(); }} int first_of_all(void) {{ return set; }}"
    );
    let work = "int first_of_all(void); int work(void) { return first_of_all(); }".to_owned();
    let search = format!("-L{}", at.display());
    let sources = [
        ("libthird.so", third, ["-Wl,-soname,libthird.so", "-lc"]),
        ("libsecond.so", second, ["-lthird", "-lc"]),
        ("libfirst.so", first, ["-lsecond", "-lthird"]),
        ("plugin.so", work, ["-lfirst", "-lc"]),
    ];
    for (name, source, needs) in &sources {
        let flags = ["-shared", "-fPIC", "-w", &search, "-Wl,-rpath,$ORIGIN", needs[0], needs[1]];
        testkit::compile(&cc, at, name, source, &flags);
    }
    let files = [Path::new("plugin.so")];
    let made = bundle(&case, &files);
    assert_eq!(made.manifest.warnings, [""; 0]);
    assert_eq!(made.manifest.carried.len(), 4);
    let found = told(&made.run, &files, at);
    assert_eq!((found.0, found.1.as_str(), found.2.as_str()), (Some(3), "43\nend\n", "1"));
    assert_eq!(told(program, &files, at).1, found.1);
}

#[test]
fn libraries_that_need_each_other_are_in_one_file_or_none() {
    let Some(case) = case() else { return };
    let Case { at, program, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    let search = format!("-L{}", at.display());
    let shared = ["-shared", "-fPIC", "-w", &search, "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed"];
    for (name, storage) in [("plain", ""), ("near", "__attribute__((tls_model(\"initial-exec\")))")]
    {
        let [one, two] = ["one", "two"].map(|part| format!("{name}{part}"));
        let soname = format!("-Wl,-soname,lib{two}.so");
        let [on_one, on_two] = [&one, &two].map(|part| format!("-l{part}"));
        let empty = [&shared[..], &[soname.as_str()]].concat();
        testkit::compile(
            &cc,
            at,
            &format!("lib{two}.so"),
            "int second(void) { return 0; }",
            &empty,
        );
        let first =
            "int second(void); int first(void) { return second(); } int base(void) { return 4; }";
        let with = [&shared[..], &[on_two.as_str()]].concat();
        testkit::compile(&cc, at, &format!("lib{one}.so"), first, &with);
        let second = format!(
            "int base(void); static __thread int near {storage} = 3;
            int second(void) {{ return near++ + base(); }}"
        );
        let with = [&shared[..], &[soname.as_str(), on_one.as_str()]].concat();
        testkit::compile(&cc, at, &format!("lib{two}.so"), &second, &with);
        let with = [&shared[..], &[on_one.as_str()]].concat();
        let work = "int first(void); int work(void) { return first(); }";
        testkit::compile(&cc, at, &format!("{name}.so"), work, &with);
    }
    let files = ["plain.so", "near.so"].map(Path::new);
    let made = bundle(&case, &files);
    let warnings = &made.manifest.warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("near.so is not merged"), "{warnings:?}");
    assert!(warnings[0].contains("need each other"), "{warnings:?}");
    assert_eq!(made.manifest.carried.len(), 2);
    let found = told(&made.run, &files, at);
    assert_eq!((found.1.as_str(), found.2.as_str()), ("7\n7\nend\n", "1"));
    assert_eq!(told(program, &files, at).1, found.1);
}

/// Constructors find what is being opened, and do not load it again.
#[test]
fn what_is_being_opened_is_found_by_its_names() {
    let Some(case) = case() else { return };
    let Case { at, program, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    let part = "int began; __attribute__((constructor)) static void first(void) { began++; }
        int *counter(void) { return &began; }";
    let flags = ["-shared", "-fPIC", "-w", "-Wl,-soname,libpart.so"];
    testkit::compile(&cc, at, "libpart.so", part, &flags);
    let whole = format!(
        "#include <dlfcn.h>
        int *counter(void); static int found;
        static int is_same(const char *name, int how) {{
            void *handle = dlopen(name, how);
            int *(*other)(void) = handle ? (int *(*)(void))dlsym(handle, \"counter\") : 0;
            return other && other() == counter();
        }}
        __attribute__((constructor)) static void first(void) {{
            found = is_same(\"libpart.so\", RTLD_NOW | RTLD_NOLOAD);
            found = found * 10 + is_same(\"{path}\", RTLD_NOW);
            found = found * 10 + is_same(\"{path}\", RTLD_NOW | RTLD_NOLOAD);
        }}
        int work(void) {{ return found * 10 + *counter(); }}",
        path = at.join("libpart.so").display()
    );
    let search = format!("-L{}", at.display());
    let flags = ["-shared", "-fPIC", "-w", &search, "-lpart", "-Wl,-rpath,$ORIGIN"];
    testkit::compile(&cc, at, "whole.so", &whole, &flags);
    let files = [Path::new("whole.so")];
    let made = bundle(&case, &files);
    assert_eq!(made.manifest.warnings, [""; 0]);
    let found = told(&made.run, &files, at);
    assert_eq!((found.1.as_str(), found.2.as_str()), ("1111\nend\n", "1"));
    assert_eq!(told(program, &files, at).1, found.1);
}

/// A library that was loaded by a name by which another plug-in needs it is not loaded once more.
#[test]
fn libraries_are_known_by_all_names_by_which_they_are_needed() {
    let Some(case) = case() else { return };
    let Case { at, program, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    let part = "static int count; int part(void) { return ++count; }";
    testkit::compile(&cc, at, "libpart.so", part, &["-shared", "-fPIC"]);
    std::os::unix::fs::symlink("libpart.so", at.join("libother.so")).unwrap();
    let search = format!("-L{}", at.display());
    let work = "int part(void); int work(void) { return part(); }";
    for (name, library) in [("one.so", "-lpart"), ("two.so", "-lother"), ("left.so", "-lother")] {
        let flags = ["-shared", "-fPIC", &search, library, "-Wl,-rpath,$ORIGIN"];
        testkit::compile(&cc, at, name, work, &flags);
    }
    let made = bundle(&case, &["one.so", "two.so"].map(Path::new));
    assert_eq!(made.manifest.warnings, [""; 0]);
    for (files, merged) in [(["left.so", "one.so"], "0"), (["one.so", "left.so"], "1")] {
        let files = files.map(Path::new);
        let found = told(&made.run, &files, at);
        assert_eq!((found.1.as_str(), found.2.as_str()), ("1\n2\nend\n", merged));
        assert_eq!(told(program, &files, at).1, found.1);
    }
}

/// Threads that open and close plug-ins at once: what is looked at of the loader's list must not go away meanwhile.
#[test]
fn threads_open_and_close_plugins_at_once() {
    let Some(case) = case() else { return };
    let Case { at, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    let program = testkit::compile(&cc, at, "threads", THREADS, &["-w", "-pthread", "-ldl"]);
    let case = Case { program, at: at.clone(), _folder: case._folder };
    let Case { at, program, .. } = &case;
    let files = ["one.so", "two.so", "three.so", "four.so"].map(Path::new);
    let part = "int part(void) { return 2; }";
    testkit::compile(&cc, at, "libpart.so", part, &["-shared", "-fPIC", "-Wl,-soname,libpart.so"]);
    let search = format!("-L{}", at.display());
    let flags = ["-shared", "-fPIC", &search, "-Wl,--no-as-needed", "-lpart", "-Wl,-rpath,$ORIGIN"];
    for file in files {
        let source = "int part(void); int work(void) { return part(); }";
        testkit::compile(&cc, at, &file.display().to_string(), source, &flags);
    }
    let made = bundle(&case, &files);
    assert_eq!(made.manifest.warnings, [""; 0]);
    let run = |path: &Path| {
        let mut command = Command::new(path);
        // What is freed is overwritten.
        command.env("GLIBC_TUNABLES", "glibc.malloc.perturb=85").env("HEADSTART_STALE", "never");
        command.args(files.map(|file| at.join(file))).output().unwrap()
    };
    for path in [program, &made.run] {
        let output = run(path);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

#[test]
fn names_may_be_of_any_bytes() {
    let Some(case) = case() else { return };
    let Case { at, program, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    let library = testkit::compile(
        &cc,
        at,
        "plain.so",
        "int work(void) { return 5; }",
        &["-shared", "-fPIC"],
    );
    let name = Path::new(OsStr::from_bytes(b"n\xff \xc3\xb6.so"));
    if std::fs::rename(library, at.join(name)).is_err() {
        return testkit::skip("this file system has no names of any bytes");
    }
    let made = bundle(&case, &[name]);
    assert_eq!(made.manifest.warnings, [""; 0]);
    let found = told(&made.run, &[name], at);
    assert_eq!((found.1.as_str(), found.2.as_str()), ("5\nend\n", "1"));
    assert_eq!(told(program, &[name], at).1, found.1);
    assert!(bundle::verify(&at.join("bundle")).unwrap().found.current);
    assert!(made.manifest.carried.iter().all(|file| file.path.is_ascii()));
}

/// Copies of `good.so`: of one the second part is not at a page, and of one the first part, which has the strings, is
/// not loaded.
fn damaged(at: &Path) {
    let good = std::fs::read(at.join("good.so")).unwrap();
    // Program headers follow the file header; a type has 4 bytes, and an address is at 16 of 56.
    let mut damaged = good.clone();
    damaged[64 + 56 + 16] = 0xff;
    std::fs::write(at.join("damaged.so"), damaged).unwrap();
    let mut nameless = good;
    nameless[64] = 0xff;
    std::fs::write(at.join("nameless.so"), nameless).unwrap();
}

#[test]
fn what_is_not_merged_is_told_and_opened_as_before() {
    let Some(case) = case() else { return };
    let Case { at, program, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    let shared = ["-shared", "-fPIC", "-w"];
    let with = |more: &'static str| [&shared[..], &[more]].concat();
    let work = "int work(void) { return 5; }";
    testkit::compile(&cc, at, "good.so", work, &with("-Wl,-soname,good.so"));
    testkit::compile(&cc, at, "first.so", work, &with("-Wl,-z,initfirst"));
    testkit::compile(&cc, at, "global.so", work, &with("-Wl,-z,global"));
    testkit::compile(
        &cc,
        at,
        "lacks.so",
        "int none(void); int work(void) { return none(); }",
        &shared,
    );
    std::fs::write(at.join("text.so"), "text").unwrap();
    damaged(at);
    let names = [
        "good.so",
        "first.so",
        "global.so",
        "lacks.so",
        "text.so",
        "damaged.so",
        "nameless.so",
        "host",
    ];
    let names = names.map(Path::new);
    let made = bundle(&case, &names);
    let warnings = made.manifest.warnings.join("\n");
    for reason in [
        "first.so is not merged, and is opened as before: ",
        "(DF_1_INITFIRST)",
        "(DF_1_GLOBAL)",
        "lacks.so is not merged, and is opened as before: ",
        "text.so is not merged, and is opened as before: ",
        "damaged.so is not merged, and is opened as before: the loader cannot map it",
        "nameless.so is not merged, and is opened as before: its name (DT_SONAME)",
        "host is not merged, and is opened as before: the program needs it",
    ] {
        assert!(warnings.contains(reason), "{reason}: {warnings}");
    }
    assert_eq!(made.manifest.plugins.len(), 1, "{warnings}");
    let files = [Path::new("good.so"), Path::new("first.so"), Path::new("lacks.so")];
    assert_eq!(told(&made.run, &files, at).1, told(program, &files, at).1);
    // A program that opens nothing has no use for them.
    let program = testkit::compile(&cc, at, "opens_nothing", "int main(void) { return 3; }", &[]);
    let case = Case { program, ..case };
    let folder = case.at.join("other");
    std::fs::create_dir(&folder).unwrap();
    let include = [case.at.join("good.so")].into();
    let options = BundleOptions { include, ..BundleOptions::default() };
    let made = bundle::make(&case.program, &folder, &options).unwrap();
    assert!(made.manifest.warnings[0].contains("no merged code calls dlopen"));
    assert!(made.manifest.plugins.is_empty() && made.manifest.carried.is_empty());
}

#[test]
fn what_is_to_stay_outside_is_not_merged() {
    let Some(case) = case() else { return };
    let Case { at, program, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    let shared = ["-shared", "-fPIC", "-w"];
    testkit::compile(&cc, at, "libpart.so", "int part(void) { return 5; }", &shared);
    let search = format!("-L{}", at.display());
    let with = [&shared[..], &[&search, "-lpart", "-Wl,-rpath,$ORIGIN"]].concat();
    let needs = "int part(void); int work(void) { return part(); }";
    testkit::compile(&cc, at, "needs.so", needs, &with);
    for name in ["named.so", "good.so"] {
        testkit::compile(&cc, at, name, "int work(void) { return 6; }", &shared);
    }
    let folder = at.join("bundle");
    std::fs::create_dir(&folder).unwrap();
    let files = ["needs.so", "named.so", "good.so"].map(Path::new);
    let include = files.iter().map(|file| at.join(file)).collect();
    let outside = vec!["libpart".to_owned(), at.join("named.so").display().to_string()];
    let options = BundleOptions { include, outside, ..BundleOptions::default() };
    let made = bundle::make(program, &folder, &options).unwrap();
    let told_of = |name: &str| {
        let mut warnings = made.manifest.warnings.iter();
        warnings.any(|text| text.contains(name) && text.contains("stays outside"))
    };
    assert!(told_of("needs.so") && told_of("named.so"), "{:?}", made.manifest.warnings);
    assert_eq!(made.manifest.plugins.len(), 1);
    assert_eq!(told(&made.run, &files, at).1, told(program, &files, at).1);
}

#[test]
fn who_may_not_read_a_plugin_any_more_may_not_read_its_merged_file() {
    let Some(case) = case() else { return };
    let Case { at, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    let plugin = Path::new("one.so");
    let work = "int work(void) { return 5; }";
    testkit::compile(&cc, at, "one.so", work, &["-shared", "-fPIC"]);
    let mode_of = |made: &Made| {
        let file = at.join("bundle").join(&made.manifest.carried[0].path);
        file.metadata().unwrap().permissions().mode() & 0o777
    };
    let set = |mode| std::fs::set_permissions(at.join(plugin), Permissions::from_mode(mode));
    for mode in [0o755, 0o600] {
        set(mode).unwrap();
        assert_eq!(mode_of(&bundle(&case, &[plugin])), mode);
    }
}

#[test]
fn files_come_and_go_with_the_bundle() {
    let Some(case) = case() else { return };
    let Case { at, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    for (name, number) in [("one.so", 5), ("two.so", 6)] {
        let source = format!("int work(void) {{ return {number}; }}");
        testkit::compile(&cc, at, name, &source, &["-shared", "-fPIC"]);
    }
    let [one, two] = ["one.so", "two.so"].map(Path::new);
    let first = bundle(&case, &[one]);
    let before = merged(&case);
    assert_eq!(before.len(), 1);
    // Made again, the same files stay.
    bundle(&case, &[one]);
    assert_eq!(merged(&case), before);
    // Of another bundle they go.
    bundle(&case, &[two]);
    assert_ne!(merged(&case), before);
    assert_eq!(merged(&case).len(), 1);
    assert_eq!(told(&first.run, &[one, two], at).1, "5\n6\nend\n");
    // What was changed is told, and what the bundle cannot open is not needed.
    let folder = at.join("bundle");
    let changed = folder.join(&merged(&case)[0]);
    std::fs::rename(&changed, at.join("away")).unwrap();
    let found = bundle::verify(&folder).unwrap().found;
    assert!(!found.current && found.used, "{found:?}");
    assert_eq!((found.changed_merged, found.changed_plugins), (Some(1), None));
    let output = told(&first.run, &[two], at);
    assert_eq!((output.1.as_str(), output.2.as_str()), ("6\nend\n", "0"));
    std::fs::rename(at.join("away"), &changed).unwrap();
    assert!(bundle::verify(&folder).unwrap().found.current);
    std::fs::write(at.join(two), "text").unwrap();
    let found = bundle::verify(&folder).unwrap().found;
    assert_eq!((found.changed_plugins, found.changes.len(), found.used), (Some(1), 1, true));
    // None are left where there are no plug-ins.
    bundle(&case, &[]);
    assert_eq!(merged(&case), [""; 0]);
}

#[test]
fn folders_of_the_user_stay() {
    let Some(case) = case() else { return };
    let Case { at, program, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    for (name, number) in [("one.so", 5), ("two.so", 6)] {
        let source = format!("int work(void) {{ return {number}; }}");
        testkit::compile(&cc, at, name, &source, &["-shared", "-fPIC"]);
    }
    let folder = at.join("bundle");
    std::fs::create_dir(&folder).unwrap();
    let put = |place: &str| {
        std::fs::create_dir_all(folder.join(place)).unwrap();
        std::fs::write(folder.join(place).join("precious"), "of the user").unwrap();
    };
    let kept = |place: &str| folder.join(place).join("precious").exists();
    // Names that are not headstart's, and one that it could have given.
    let theirs = [".lib-000000000000.next", "lib-0123456789ab"];
    theirs.iter().for_each(|place| put(place));
    for plugins in [&[Path::new("one.so")][..], &[Path::new("two.so")], &[]] {
        bundle(&case, plugins);
        assert!(theirs.iter().all(|place| kept(place)), "{plugins:?}");
    }
    // A reserved name: nothing is made, and nothing is removed.
    let before = std::fs::read(folder.join("run")).unwrap();
    for place in [".lib.next", ".lib.next/new", ".lib.next/old"] {
        put(place);
        for plugins in [&["one.so"][..], &[]] {
            let include = plugins.iter().map(|name| at.join(name)).collect();
            let options = BundleOptions { include, ..BundleOptions::default() };
            let error = bundle::make(program, &folder, &options).unwrap_err().to_string();
            assert!(error.contains(".lib.next is not a folder that headstart has made"), "{error}");
            assert!(kept(place), "{place}");
        }
        std::fs::remove_dir_all(folder.join(".lib.next")).unwrap();
    }
    assert_eq!(std::fs::read(folder.join("run")).unwrap(), before);
    // What the user has put beside merged files stays, and they go.
    bundle(&case, &[Path::new("one.so")]);
    let own = |name: &&OsString| name.as_bytes() != theirs[1].as_bytes();
    let mine = merged(&case).iter().filter(|name| name.as_bytes()[0] == b'l').find(own).cloned();
    let mine = mine.unwrap().into_string().unwrap();
    put(&mine);
    bundle(&case, &[]);
    assert!(kept(&mine));
    assert_eq!(folder.join(&mine).read_dir().unwrap().count(), 1);
}

/// Where headstart was killed before `run` got its name, no manifest names the new folder.
#[test]
fn folders_of_a_killed_headstart_go() {
    let Some(case) = case() else { return };
    let Case { at, .. } = &case;
    let cc = testkit::tool("gcc").unwrap();
    for (name, number) in [("one.so", 5), ("two.so", 6), ("three.so", 7)] {
        let source = format!("int work(void) {{ return {number}; }}");
        testkit::compile(&cc, at, name, &source, &["-shared", "-fPIC"]);
    }
    let folder = at.join("bundle");
    bundle(&case, &["one.so", "two.so", "three.so"].map(Path::new));
    let [left] = merged(&case).try_into().unwrap();
    let kept = at.join("kept");
    std::fs::rename(folder.join(&left), &kept).unwrap();
    bundle(&case, &[Path::new("one.so")]);
    let [used] = merged(&case).try_into().unwrap();
    std::fs::rename(&kept, folder.join(&left)).unwrap();
    bundle(&case, &[Path::new("one.so")]);
    assert_eq!(merged(&case), [used]);
}
