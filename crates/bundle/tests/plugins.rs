//! Plug-ins that are merged with what only they need: a bundle opens them as its program does.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::{BundleOptions, Made};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Does what its arguments say: letters and their operands. Where `m` stands, `merged` is told on standard error.
const HOST: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int shared_by_program = 7;
int program_asked(void) { return shared_by_program; }
int twice(void) { return 1; }
static void *open_at(const char *path, const char *flags) {
    int how = strchr(flags, 'l') ? RTLD_LAZY : RTLD_NOW;
    if (strchr(flags, 'g')) how |= RTLD_GLOBAL;
    if (strchr(flags, 'n')) how |= RTLD_NOLOAD;
    if (strchr(flags, 'd')) how |= RTLD_DEEPBIND;
    if (strchr(flags, 'k')) how |= RTLD_NODELETE;
    return strchr(flags, 'b') ? dlmopen(LM_ID_BASE, path, how) : dlopen(path, how);
}
int main(int count, char **words) {
    void *handles[10] = {0};
    setvbuf(stdout, 0, _IONBF, 0);
    for (int at = 1; at < count; at++) {
        char what = words[at][0];
        if (what == 'e') { setenv("FROM_PROGRAM", "changed", 1); continue; }
        if (what == 'm') {
            char line[4096];
            int merged = 0;
            FILE *maps = fopen("/proc/self/maps", "r");
            while (fgets(line, sizeof line, maps)) merged |= strstr(line, "/lib-") != 0;
            fclose(maps);
            fprintf(stderr, "%d", merged);
            continue;
        }
        if (what == 'f') {
            char from[4096], to[4096];
            snprintf(from, sizeof from, "%s.new", words[++at]);
            rename(from, words[at]);
            continue;
        }
        if (what == 's') {
            int (*found)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, words[++at]);
            printf("default %s %d\n", words[at], found ? found() : -1);
            continue;
        }
        int number = words[++at][0] - '0';
        if (what == 'o') {
            const char *path = words[++at];
            handles[number] = open_at(path, words[++at]);
            printf("open %d\n", handles[number] != 0);
            if (!handles[number]) dlerror();
        } else if (what == 'x') {
            printf("close %d\n", dlclose(handles[number]));
        } else if (what == 'c') {
            int (*found)(void) = (int (*)(void))dlsym(handles[number], words[++at]);
            printf("%s %d\n", words[at], found ? found() : -1);
        } else if (what == 'd') {
            void *found = dlsym(handles[number], words[++at]);
            Dl_info info = {0};
            char origin[4096] = "";
            int told = dladdr(found, &info);
            dlinfo(handles[number], RTLD_DI_ORIGIN, origin);
            printf("%s is %d %s in %s, at its address: %d, origin %s\n", words[at], told, info.dli_sname,
                info.dli_fname, info.dli_saddr == found, origin);
        } else if (what == 'p') {
            void *(*found)(void) = (void *(*)(void))dlsym(handles[number], "address_of_puts");
            void *(*own)(void) = (void *(*)(void))dlsym(handles[number], "address_of_program");
            printf("same functions %d %d\n", found() == (void *)puts, own() == (void *)program_asked);
        }
    }
    return 3;
}
"#;

/// What several plug-ins need. `DEP`: its name.
const SHARED: &str = r#"
#include <stdio.h>
static int count;
__attribute__((constructor)) static void first(void) { puts("begin shared"); }
__attribute__((destructor)) static void last(void) { puts("end shared"); }
int shared_count(void) { return ++count; }
int either(void) { return 30; }
"#;

const OWN: &str = r#"
#include <stdio.h>
static __thread int per_thread = 5;
__thread int outer = 8;
__attribute__((constructor)) static void first(void) { puts("begin own"); }
__attribute__((destructor)) static void last(void) { puts("end own"); }
int own_thread(void) { return per_thread++ + outer; }
int either(void) { return 20; }
"#;

/// A plug-in. `NAME`: a text, `VALUE`: a number.
const PLUGIN: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern char **environ;
extern int program_asked(void), shared_count(void), own_thread(void), twice(void);
extern __thread int outer;
static int times;
int either(void) { return VALUE; }
int only(void) { return either() + 100; }
int twice(void) { return 2; }
static void at_unload(void) { puts("atexit " NAME); }
__attribute__((constructor)) static void first(void) { puts("begin " NAME); atexit(at_unload); }
__attribute__((destructor)) static void last(void) { puts("end " NAME); }
int counted(void) { return ++times; }
int of_program(void) { return program_asked(); }
int interposed(void) { return twice(); }
int of_shared(void) { return shared_count(); }
#ifdef WITH_OWN
int of_own(void) { return own_thread(); }
int of_thread(void) { return outer += 10; }
#endif
int of_environment(void) {
    const char *found = getenv("FROM_PROGRAM");
    int listed = 0;
    for (char **one = environ; *one; one++) listed |= !strncmp(*one, "FROM_PROGRAM=", 13);
    return (found ? 1 : 0) + 2 * listed;
}
int prints(void) { return fprintf(stdout, "printed\n"); }
void *address_of_puts(void) { return (void *)puts; }
void *address_of_program(void) { return (void *)program_asked; }
int is_in(void) {
    Dl_info info = {0};
    dladdr((void *)is_in, &info);
    printf("in %s\n", info.dli_fname);
    return dladdr((void *)program_asked, &info);
}
int finds_next(void) {
    int (*found)(void) = (int (*)(void))dlsym(RTLD_NEXT, "either");
    return found ? found() : -1;
}
int opens(void) {
    void *other = dlopen("$ORIGIN/two.so", RTLD_NOW);
    int (*found)(void) = other ? (int (*)(void))dlsym(other, "counted") : 0;
    return found ? found() : -1;
}
"#;

struct Case {
    _folder: tempfile::TempDir,
    at: PathBuf,

    program: PathBuf,
}

impl Case {
    fn new(pie: bool) -> Option<Case> {
        let cc = testkit::tool("gcc")?;
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        let shared = ["-shared", "-fPIC", "-w"];
        let with = |more: &[&'static str]| [&shared[..], more].concat();
        let search = "-Wl,-rpath,$ORIGIN";
        testkit::compile(&cc, &at, "libshared.so", SHARED, &with(&["-Wl,-soname,libshared.so"]));
        let own = ["-Wl,-soname,libown.so", "-Wl,--no-as-needed", "-L.", "-lshared", search];
        testkit::compile(&cc, &at, "libown.so", OWN, &with(&own));
        let libraries = ["-L.", "-lown", "-lshared", search];
        let one = ["-DNAME=\"one\"", "-DVALUE=10", "-DWITH_OWN"];
        testkit::compile(&cc, &at, "one.so", PLUGIN, &[&with(&one)[..], &libraries].concat());
        let two = ["-DNAME=\"two\"", "-DVALUE=11"];
        let libraries = ["-L.", "-lshared", search];
        testkit::compile(&cc, &at, "two.so", PLUGIN, &[&with(&two)[..], &libraries].concat());
        let kind = if pie { "-fPIE" } else { "-fno-pie" };
        let linked = if pie { "-pie" } else { "-no-pie" };
        let program =
            testkit::compile(&cc, &at, "host", HOST, &["-w", kind, linked, "-rdynamic", "-ldl"]);
        Some(Case { _folder: folder, at, program })
    }

    fn path(&self, name: &str) -> String {
        self.at.join(name).to_str().unwrap().to_owned()
    }

    fn bundle(&self, fixed: bool, plugins: &[&str]) -> Made {
        let bundle = self.at.join("bundle");
        let _ = std::fs::create_dir(&bundle);
        let include = plugins.iter().map(|name| self.at.join(name)).collect();
        let options = BundleOptions { fixed, include, ..BundleOptions::default() };
        bundle::make(&self.program, &bundle, &options).unwrap()
    }

    /// Words of the host; of those that begin with `@` the path of the file.
    fn words(&self, text: &str) -> Vec<String> {
        let word = |word: &str| match word.strip_prefix('@') {
            Some(file) => self.path(file),
            None => word.to_owned(),
        };
        text.split_whitespace().map(word).collect()
    }

    /// Both do the same; whether the bundle has opened merged files where `m` stands is told.
    fn same(&self, made: &Made, text: &str) -> String {
        let words = self.words(text);
        let (expected, _) = told(&self.program, &words);
        let (found, merged) = told(&made.run, &words);
        assert_eq!(found, expected, "{text}");
        assert_eq!(found.0, Some(3), "{found:?}");
        merged
    }
}

/// Status and output, and what is told of merged files.
fn told(program: &Path, words: &[String]) -> ((Option<i32>, String), String) {
    let output = Command::new(program).args(words).env("HEADSTART_STALE", "z").output();
    let Output { status, stdout, stderr } = output.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    ((status.code(), text(stdout)), text(stderr))
}

#[test]
fn plugins_do_what_they_do_as_files() {
    for (pie, fixed) in [(true, false), (true, true), (false, true)] {
        let Some(case) = Case::new(pie) else { return };
        let made = case.bundle(fixed, &["one.so", "two.so"]);
        assert_eq!(made.manifest.warnings, [""; 0]);
        let same = |text: &str| case.same(&made, text);
        // Own definitions by each handle, the shared library once, and what comes from the program.
        assert_eq!(
            same(
                "o 1 @one.so w o 2 @two.so w c 1 either c 2 either c 1 only c 2 only c 1 of_shared c 2 of_shared \
                 c 1 of_program c 2 of_program c 1 interposed c 1 shared_count c 2 own_thread c 1 own_thread p 1 m"
            ),
            "1"
        );
    }
}

#[test]
fn plugins_are_loaded_and_unloaded_as_files_are() {
    let Some(case) = Case::new(true) else { return };
    let made = case.bundle(false, &["one.so", "two.so"]);
    let same = |text: &str| case.same(&made, text);
    // What is opened first and last begins and ends with what it needs; the other plug-in does not.
    assert_eq!(same("o 1 @one.so w c 1 counted m x 1"), "1");
    assert_eq!(
        same(
            "o 1 @one.so w c 1 counted c 1 of_shared x 1 o 1 @one.so w c 1 counted c 1 of_shared m"
        ),
        "1"
    );
    assert_eq!(
        same("o 2 @two.so w m c 2 of_shared o 1 @one.so l c 1 of_shared x 2 c 1 of_shared x 1"),
        "1"
    );
    // Twice open, and closed once.
    assert_eq!(
        same("o 1 @one.so w o 2 @one.so w c 1 counted c 2 counted x 1 c 2 counted m x 2"),
        "1"
    );
    // Only if it is open.
    assert_eq!(same("o 1 @one.so n m o 1 @one.so w o 2 @one.so n c 2 counted m"), "01");
    // For all, at once or later.
    assert_eq!(same("s only o 1 @one.so w s only o 2 @one.so g s only s shared_count m"), "1");
    assert_eq!(same("o 1 @one.so g s only c 1 either s twice m"), "1");
    // It stays.
    assert_eq!(same("o 1 @one.so k c 1 counted x 1 o 1 @one.so w c 1 counted m"), "1");
    // By the other function.
    assert_eq!(same("o 1 @one.so b c 1 counted o 2 @one.so w c 2 counted m"), "1");
    // What was opened for all may come before: then the plug-in itself is opened.
    assert_eq!(
        same("o 1 @one.so g m o 2 @two.so w c 2 either c 2 only c 2 of_shared c 1 of_shared"),
        "1"
    );
    // Its own come first: the merged file would not know that.
    assert_eq!(same("o 1 @one.so d m c 1 interposed c 1 either"), "0");
    // Merged files are not opened beside what they are made of.
    assert_eq!(same("o 1 @libshared.so w c 1 shared_count o 2 @one.so w c 2 of_shared m"), "0");
    assert_eq!(same("o 1 @one.so w c 1 of_shared o 2 @libshared.so w c 2 shared_count m"), "1");
}

#[test]
fn plugins_are_told_what_they_are() {
    let Some(case) = Case::new(true) else { return };
    let made = case.bundle(false, &["one.so", "two.so"]);
    let same = |text: &str| case.same(&made, text);
    assert_eq!(
        same("o 1 @one.so w d 1 only d 1 counted c 1 is_in o 2 @two.so w d 2 only c 2 is_in m"),
        "1"
    );
    assert_eq!(same("o 1 @one.so w c 1 opens c 1 opens o 2 @two.so w c 2 counted m"), "1");
    assert_eq!(same("o 1 @one.so w c 1 of_environment e c 1 of_environment c 1 prints m"), "1");
    assert_eq!(same("o 1 @one.so w c 1 finds_next m"), "1");
    assert_eq!(same("o 1 @one.so w c 1 of_own c 1 of_own c 1 of_thread c 1 of_own m"), "1");
}

#[test]
fn one_library_is_never_there_twice() {
    let Some(case) = Case::new(true) else { return };
    std::os::unix::fs::symlink("one.so", case.at.join("link.so")).unwrap();
    std::fs::create_dir(case.at.join("sub")).unwrap();
    let made = case.bundle(false, &["one.so"]);
    let same = |text: &str| case.same(&made, text);
    // By other spellings.
    let sub = case.path("sub");
    assert_eq!(
        same(&format!(
            "o 1 {sub}/../one.so w c 1 counted o 2 @link.so w c 2 counted o 3 @one.so w c 3 counted m"
        )),
        "1"
    );
    // One that is not merged finds the shared library that is, and the other way round.
    assert_eq!(
        same("o 1 @one.so w c 1 of_shared o 2 @two.so w c 2 of_shared x 2 c 1 of_shared m"),
        "1"
    );
    assert_eq!(same("o 2 @two.so w c 2 of_shared o 1 @one.so w c 1 of_shared m"), "0");
}

#[test]
fn what_was_replaced_is_opened_itself() {
    let Some(case) = Case::new(true) else { return };
    let cc = testkit::tool("gcc").unwrap();
    let made = case.bundle(false, &["one.so", "two.so"]);
    let source = "int either(void) { return 99; }";
    testkit::compile(&cc, &case.at, "one.so.new", source, &["-shared", "-fPIC"]);
    let words = case.words("o 2 @two.so w c 2 either f @one.so o 1 @one.so w c 1 either m");
    let ((code, output), merged) = told(&made.run, &words);
    assert_eq!((code, merged.as_str()), (Some(3), "1"), "{output}");
    assert!(output.contains("either 11\nopen 1\neither 99\n"), "{output}");
    let found = bundle::verify(&case.at.join("bundle")).unwrap().found;
    assert!(!found.current && found.used);
    assert!(found.changes.iter().any(|change| change.path == case.path("one.so")), "{found:?}");
    // So is a plug-in of which a library was replaced.
    let shared = SHARED.replace("++count", "count += 50");
    let flags = ["-shared", "-fPIC", "-w", "-Wl,-soname,libshared.so"];
    testkit::compile(&cc, &case.at, "libshared.so.new", &shared, &flags);
    std::fs::rename(case.at.join("libshared.so.new"), case.at.join("libshared.so")).unwrap();
    let ((_, output), merged) = told(&made.run, &case.words("o 2 @two.so w c 2 of_shared m"));
    assert_eq!(merged, "0");
    assert!(output.contains("of_shared 50\n"), "{output}");
}
