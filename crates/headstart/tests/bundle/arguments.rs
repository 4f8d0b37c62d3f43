//! What a process of a bundle and others see of its arguments, and where it writes titles.

use crate::common::{stderr, stdout};
use crate::place::Place;
use crate::stage::{KINDS, Stage, command, outcome, run};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use testkit::WhenFree;

/// It tells its arguments, and those that others see, before and after it has written a title.
const TELLS: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
extern char **environ;
static void show(const char *path) {
    char text[1 << 16];
    FILE *file = fopen(path, "r");
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    for (size_t at = 0; at < length; at++)
        putchar(text[at] ? text[at] : '|');
    puts("");
}
int main(int count, char **words) {
    char *file = (char *)getauxval(AT_EXECFN), *end = words[0];
    printf("%s %s %s %s %d\n", words[0], file, program_invocation_name,
           program_invocation_short_name, count);
    show("/proc/self/cmdline");
    show("/proc/self/environ");
    show("/proc/self/comm");
    for (int at = 0; at < count; at++)
        end = words[at] == end ? end + strlen(end) + 1 : end;
    for (int at = 0; environ[at]; at++)
        end = environ[at] == end ? end + strlen(end) + 1 : end;
    printf("room %zu\n", (size_t)(end - words[0]));
    memset(file, '-', strlen(file));
    memset(words[0], 0, end - words[0]);
    snprintf(words[0], end - words[0], "title: %s", "a server of some length");
    show("/proc/self/cmdline");
    return 7;
}
"#;

fn told(command: &mut Command) -> String {
    command.env_clear().env("ONE", "first").env("TWO", "").env("THREE", "the third variable");
    let output = command.output_when_free();
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn they_are_those_of_the_original() {
    let Some(place) = Place::new() else { return };
    let long = place.path(&"l".repeat(120));
    fs::create_dir(&long).unwrap();
    let source = place.built("source", TELLS, &[]);
    // Paths that are longer and shorter than those by which bundles are started.
    for program in [place.path("p"), long.join("a-program-of-a-long-name")] {
        fs::copy(&source, &program).unwrap();
        for (kind, words) in [("out", &[][..]), ("fixed", &["--fixed"])] {
            let out = place.path(kind).display().to_string();
            let name = program.to_str().unwrap();
            let made = run(&[&["bundle", "--out", &out, name], words].concat());
            assert!(made.status.success(), "{}", stderr(&made));
            for arguments in [&[][..], &["one"], &["", "two words", &"x".repeat(5000), "", "end"]] {
                let original = told(command(&program).args(arguments));
                let own = place.path(kind).join("run");
                let folder = place.path(kind);
                for mut started in
                    [command(&own), started_in(&folder, "./run"), started_in(&folder, "run")]
                {
                    let bundle = told(started.args(arguments));
                    assert_eq!(bundle, original, "{kind} {started:?}");
                }
                // The process has the loader's name then, and the kernel shows titles where that
                // stands.
                let mut started = loaded(&own);
                let bundle = told(started.args(arguments));
                let original = told(loaded(&program).args(arguments));
                let without_loader = original.replace("/lib64/ld-linux-x86-64.so.2|", "");
                assert_eq!(lines(&bundle), lines(&without_loader), "{kind} {started:?}");
            }
        }
    }
}

/// All but the name of the process, and its title.
fn lines(text: &str) -> Vec<&str> {
    text.lines().enumerate().filter(|(at, _)| ![3, 6].contains(at)).map(|(_, line)| line).collect()
}

/// The bundle in a folder, by a name that leads there from the folder.
fn started_in(folder: &Path, name: &str) -> Command {
    let mut started = command(&folder.join("run"));
    started.arg0(name).current_dir(folder);
    started
}

/// By the loader, named on the command line.
fn loaded(own: &Path) -> Command {
    let mut started = command(Path::new("/lib64/ld-linux-x86-64.so.2"));
    started.arg(own);
    started
}

/// Bundles of two programs, each in the place of the other's program.
#[test]
fn stale_bundles_that_start_each_other_end() {
    let Some(place) = Place::new() else { return };
    let source = place.built("source", "int main(void) { return 7; }", &[]);
    for kind in KINDS {
        for name in ["one", "two"] {
            fs::copy(&source, place.path(name)).unwrap();
            let (out, program) = (place.path(&format!("of-{name}")), place.path(name));
            let (out, program) = (out.to_str().unwrap(), program.to_str().unwrap());
            let fixed = kind.ends_with("fixed").then_some("--fixed");
            let words = ["bundle", "--out", out, program].into_iter().chain(fixed);
            let made = run(&words.collect::<Vec<_>>());
            assert!(made.status.success(), "{}", stderr(&made));
        }
        for (from, to) in [("of-one/run", "two"), ("of-two/run", "one")] {
            let moved = Command::new("cp").args([place.path(from), place.path(to)]).status();
            assert!(moved.unwrap().success());
        }
        let output = command(&place.path("of-one/run")).output_when_free();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(127), "{text}");
        assert!(text.contains("has started the bundle again 500 times"), "{text}");
        for name in ["of-one", "of-two"] {
            fs::remove_dir_all(place.path(name)).unwrap();
        }
    }
}

/// A program such as make that starts itself, by the path of a bundle that is no longer right.
#[test]
fn a_stale_bundle_may_be_started_within_itself() {
    let Some(place) = Place::new() else { return };
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {
    int level = atoi(words[1]), code = 0;
    char next[20];
    if (!level)
        return printf("%s\n", getenv("HEADSTART_STALE")) < 0;
    sprintf(next, "%d", level - 1);
    if (!fork())
        return execl(words[2], words[2], next, words[2], (char *)0);
    wait(&code);
    return WEXITSTATUS(code);
}"#;
    let program = place.built("program", source, &[]);
    place.built("newer", source, &["-O2"]);
    let out = place.path("out");
    let made = run(&["bundle", "--out", out.to_str().unwrap(), program.to_str().unwrap()]);
    assert!(made.status.success(), "{}", stderr(&made));
    fs::rename(place.path("newer"), &program).unwrap();
    let bundle = out.join("run");
    let output = command(&bundle).arg("100").arg(&bundle).output_when_free();
    assert_eq!((stdout(&output).as_str(), stderr(&output).as_str()), ("(null)\n", ""));
    assert_eq!(output.status.code(), Some(0));
}

/// What options of the loader bring in, the original gets.
#[test]
fn options_of_the_loader_are_followed() {
    let Some(stage) = Stage::bundled() else { return };
    let (preload, other) = (stage.text("preload.so"), stage.text("v2"));
    let cases: [&[&str]; 6] = [
        &[],
        &["--preload", &preload],
        &["--library-path", &other],
        &["--inhibit-cache", "--preload", &preload],
        &["--argv0", "/x/program"],
        &["--argv0", "", "--library-path", &other],
    ];
    for options in cases {
        let start = |name: &str, arguments: &[&str]| {
            let mut loader = command(Path::new("/lib64/ld-linux-x86-64.so.2"));
            loader.args(options).arg(stage.path(name)).args(arguments);
            outcome(&loader.output_when_free())
        };
        for arguments in [&[][..], &["", "a b", "--preload"]] {
            let original = start("program", arguments);
            assert!(original.contains("exit status: 7"), "{options:?}: {original}");
            for kind in KINDS {
                assert_eq!(start(&format!("{kind}/run"), arguments), original, "{options:?}");
            }
        }
    }
    let mut forbidden = command(Path::new("/lib64/ld-linux-x86-64.so.2"));
    forbidden.args(["--preload", &preload]).arg(stage.path("made/out/run"));
    let said = forbidden.env("HEADSTART_STALE", "never").output_when_free();
    let words = "an option of the loader was not given when the bundle was made";
    assert!(stderr(&said).contains(words), "{}", stderr(&said));
    assert_eq!(said.status.code(), Some(127));
}
