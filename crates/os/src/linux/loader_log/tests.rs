//! Logs of real loaders.

use super::*;
use crate::linux::program::resolve;
use std::path::Path;

fn command(program: &Path, arguments: &[&str]) -> Command {
    let mut argv = vec![program.to_str().unwrap().to_owned()];
    argv.extend(arguments.iter().map(|&argument| argument.to_owned()));
    resolve(&argv).unwrap()
}

/// The position of the first line that starts with `start` and holds `part`.
fn place(log: &LoaderLog, start: &str, part: &str) -> usize {
    let mut lines = log.lines.iter();
    let found = lines.position(|line| line.text.starts_with(start) && line.text.contains(part));
    found.unwrap_or_else(|| panic!("no '{start} … {part}' in {:#?}", log.lines))
}

#[test]
fn records_mapping_relocation_and_initializers_of_libraries_in_order() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let library = "static int v; __attribute__((constructor)) static void start(void) { v = 1; }
                   int NAME(void) { return v; }";
    for name in ["one", "two", "three"] {
        let source = library.replace("NAME", name);
        testkit::compile(&cc, here, &format!("lib{name}.so"), &source, &["-shared", "-fPIC"]);
    }
    let source = "int one(void); int two(void); int three(void);
                  int main(void) { return one() + two() + three() == 3 ? 0 : 1; }";
    let flags = ["-L.", "-lone", "-ltwo", "-lthree", "-Wl,-rpath,$ORIGIN"];
    let program = testkit::compile(&cc, here, "program", source, &flags);

    let log = record(&command(&program, &[]), "files,reloc", &AttendOptions::default()).unwrap();
    for name in ["libone.so", "libtwo.so", "libthree.so"] {
        let mapped = place(&log, "file=", &format!("{name} [0];  generating link map"));
        let relocated = place(&log, "relocation processing:", name);
        let initialized = place(&log, "calling init:", name);
        assert!(mapped < relocated && relocated < initialized, "{name}: {:#?}", log.lines);
    }
    place(&log, "transferring control:", "program");
    assert!(log.lines.iter().all(|line| line.pid == log.pid));
    assert!(log.lines.is_sorted_by(|a, b| a.at_us <= b.at_us));
    assert!(log.lines.iter().all(|line| line.at_us > 0.0 && line.at_us < log.total_us));
}

#[test]
fn follows_the_children_of_a_script() {
    let folder = tempfile::tempdir().unwrap();
    let script = testkit::script(folder.path(), "script", "#!/bin/sh\n/bin/true\n/bin/cat\n");
    let log = record(&command(&script, &[]), "files", &AttendOptions::default()).unwrap();
    let pid_of = |program: &str| log.lines[place(&log, "transferring control:", program)].pid;
    assert_eq!(pid_of("/bin/sh"), log.pid);
    assert_ne!(pid_of("/bin/true"), log.pid);
    assert_ne!(pid_of("/bin/cat"), pid_of("/bin/true"));
}

#[test]
fn survives_a_megabyte_on_stderr_and_keeps_the_lines_after_it() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    // Much more than the socket holds, in pieces that an ordinary user's socket accepts.
    let source = "#include <unistd.h>
        #include <string.h>
        static char text[100000];
        int main(void) {
            memset(text, '7', sizeof text);
            for (int i = 0; i < 100; i++)
                if (write(2, text, sizeof text) != sizeof text) return 1;
            return 0;
        }";
    let program = testkit::compile(&cc, folder.path(), "loud", source, &[]);
    let log = record(&command(&program, &[]), "files", &AttendOptions::default()).unwrap();
    assert!(place(&log, "transferring control:", "loud") < place(&log, "calling fini:", "libc"));
    assert!(log.lines.iter().all(|line| !line.text.contains("7777")));
}

#[test]
fn a_launch_that_outlasts_its_time_keeps_its_log_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#!/bin/sh\nsleep 61 & echo $! > child\nsleep 62\n";
    let script = testkit::script(folder.path(), "hang", text);
    let mut hang = command(&script, &[]);
    hang.directory = Some(folder.path().to_owned());
    let timeout = std::time::Duration::from_millis(300);
    let log =
        record(&hang, "files", &AttendOptions { timeout, cpu: None, to_entry: false }).unwrap();
    assert!((300_000.0..5_000_000.0).contains(&log.total_us), "{}", log.total_us);
    place(&log, "transferring control:", "/bin/sh");
    let child = std::fs::read_to_string(folder.path().join("child")).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
    assert!(status.is_err() || status.unwrap().contains(") Z "), "the child still runs");
}

#[test]
fn a_program_without_glibc_has_an_empty_log() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = "int main(void) { return 0; }";
    let program = testkit::compile(&cc, folder.path(), "static", source, &["-static"]);
    let log = record(&command(&program, &[]), "files", &AttendOptions::default()).unwrap();
    assert_eq!(log.lines, []);
}

#[test]
fn musl_keeps_silent() {
    let Some(cc) = testkit::tool("musl-gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = testkit::compile(&cc, folder.path(), "musl", "int main(void) { return 0; }", &[]);
    let log = record(&command(&program, &[]), "files", &AttendOptions::default()).unwrap();
    assert_eq!(log.lines, []);
    assert!(log.total_us > 0.0);
}
