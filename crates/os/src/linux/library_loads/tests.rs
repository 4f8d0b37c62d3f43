//! Tests of loading libraries, with small ones that gcc builds.

use super::*;
use std::path::Path;

fn load(names: &[&Path], watch: bool) -> TimedLoads {
    let names = names.iter().map(|name| c_name(name.as_os_str()).unwrap()).collect();
    let request = LoadRequest { names, timeout: Duration::from_secs(1), watch };
    LibraryLoads::prepare(&request).unwrap().load(&mut |_| ()).unwrap()
}

/// A library with this initializer.
fn library(folder: &Path, name: &str, body: &str) -> Option<PathBuf> {
    let cc = testkit::tool("gcc")?;
    let source = format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <signal.h>\n\
         #include <pthread.h>\n#include <sys/ptrace.h>\nstatic void *rest(void *p) {{ for (;;) pause(); }}\n\
         __attribute__((constructor)) static void begin(void) {{ pthread_t t; (void)t; (void)rest; {body} }}\n"
    );
    Some(testkit::compile(&cc, folder, name, &source, &["-shared", "-fPIC", "-pthread"]))
}

#[test]
fn libraries_that_end_their_process_are_told_and_the_others_are_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name, body| library(folder.path(), name, body);
    let Some(good) = make("good.so", "") else { return };
    let crash = make("crash.so", "raise(SIGSEGV);").unwrap();
    let exits = make("exits.so", "exit(7);").unwrap();
    let hangs = make("hangs.so", "for (;;) pause();").unwrap();
    let last = make("last.so", "").unwrap();
    let missing = folder.path().join("missing.so");
    let found = load(&[&good, &crash, &exits, &missing, &hangs, &last, &good], false);
    let endings: Vec<&LoadEnding> = found.loads.iter().map(|load| &load.ending).collect();
    assert_eq!(*endings[0], LoadEnding::Loaded);
    assert_eq!(*endings[1], LoadEnding::Killed(libc::SIGSEGV));
    assert_eq!(*endings[2], LoadEnding::Exited(7));
    assert!(matches!(endings[3], LoadEnding::Refused(text) if text.contains("No such file")));
    assert_eq!(*endings[4], LoadEnding::TimedOut);
    assert_eq!([endings[5], endings[6]], [&LoadEnding::Loaded; 2]);
    // The last one was there: the process behind the others has loaded it again.
    let modules: Vec<u64> = found.loads.iter().map(|load| load.modules).collect();
    assert_eq!([modules[0], modules[5], modules[6]], [1, 1, 0]);
    let known: Vec<bool> = found.loads.iter().map(|load| load.us.is_some()).collect();
    assert_eq!(known, [true, false, false, true, false, true, true]);
    assert_eq!((found.processes, found.left_running), (4, 0));
    assert_eq!(found.loads[0].path.as_deref(), Some(good.as_path()));
}

#[test]
fn a_library_that_crashes_the_second_time_is_left_out_then() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let body = format!(
        "if (access(\"{0}\", F_OK) == 0) abort(); fclose(fopen(\"{0}\", \"w\"));",
        mark.display()
    );
    let Some(once) = library(folder.path(), "once.so", &body) else { return };
    let crash = library(folder.path(), "crash.so", "raise(SIGKILL);").unwrap();
    let last = library(folder.path(), "last.so", "").unwrap();
    let found = load(&[&once, &crash, &last], false);
    let endings: Vec<LoadEnding> = found.loads.into_iter().map(|load| load.ending).collect();
    assert_eq!(endings, [LoadEnding::Loaded, LoadEnding::Killed(9), LoadEnding::Loaded]);
    assert_eq!(found.processes, 3);
}

#[test]
fn a_library_that_stops_for_a_tracer_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let body = "ptrace(PTRACE_TRACEME, 0, 0, 0); raise(SIGTRAP);";
    let Some(traced) = library(folder.path(), "traced.so", body) else { return };
    let last = library(folder.path(), "last.so", "").unwrap();
    let found = load(&[&traced, &last], false);
    let endings: Vec<LoadEnding> = found.loads.into_iter().map(|load| load.ending).collect();
    assert_eq!(endings, [LoadEnding::Traced(libc::SIGTRAP), LoadEnding::Loaded]);
    assert_eq!((found.processes, found.left_running), (2, 0));
}

#[test]
fn side_effects_and_modules_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name, body| library(folder.path(), name, body);
    let Some(quiet) = make("quiet.so", "") else { return };
    let prints = make("prints.so", "puts(\"hello\"); fflush(stdout);").unwrap();
    let starts = make("starts.so", "pthread_create(&t, 0, rest, 0);").unwrap();
    let forks = make("forks.so", "if (fork() == 0) for (;;) pause();").unwrap();
    let after = make("after.so", "").unwrap();
    let paths = [&quiet, &prints, &starts, &after, &forks];
    let found = load(&paths.map(PathBuf::as_path), true);
    let effects: Vec<bool> = found.loads.iter().map(|load| load.has_side_effects).collect();
    assert_eq!(effects, [false, true, true, false, true]);
    assert!(paths.iter().all(|path| found.modules.contains(path)), "{:?}", found.modules);
    assert_eq!((found.threads, found.left_running), (1, 1));
}

/// A copy of the loading process, which a library has made, loads nothing.
#[test]
fn a_library_that_forks_and_returns_is_loaded_once() {
    let folder = tempfile::tempdir().unwrap();
    let Some(forks) = library(folder.path(), "forks.so", "fork();") else { return };
    let count = folder.path().join("count");
    let body =
        format!("FILE *f = fopen(\"{}\", \"a\"); fputc('x', f); fclose(f);", count.display());
    let counts = library(folder.path(), "counts.so", &body).unwrap();
    let found = load(&[&forks, &counts], false);
    assert!(found.loads.iter().all(|load| load.ending == LoadEnding::Loaded), "{found:?}");
    assert_eq!(std::fs::read_to_string(count).unwrap(), "x");
}
