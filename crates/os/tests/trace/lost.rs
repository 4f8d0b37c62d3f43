//! What a recording does not have, and the notes that say so.

use crate::functions::{Recorded, built, record};
use crate::support::{folder, gcc};
use model::Ending;
use os::trace::RecordUntil;
use std::os::unix::fs::PermissionsExt;

/// Whether exactly one note has all of these parts.
fn notes_one(run: &Recorded, parts: &[&str]) -> bool {
    let notes = run.functions.notes.iter();
    notes.filter(|note| parts.iter().all(|part| note.contains(part))).count() == 1
}

#[test]
fn processes_that_are_left_behind_are_named() {
    let source = r#"
        #include <unistd.h>
        int main(void) {
            for (int i = 0; i < 2; i++) if (fork() == 0) for (;;) pause();
            return 0;
        }"#;
    let Some(run) = built(source, &["-O1"]) else { return };
    assert_eq!(run.functions.left_running, 2);
    assert!(notes_one(&run, &["left running", "2 ('/", "/program')"]), "{:?}", run.functions);
}

#[test]
fn what_a_complete_launch_leaves_is_not_noted() {
    let source = r#"
        #include <unistd.h>
        void done(void) { __asm__(""); }
        int main(void) {
            if (fork() == 0) for (;;) pause();
            done();
            for (;;) pause();
        }"#;
    let folder = folder();
    if gcc(folder.path(), "program", source, &["-O0"]).is_none() {
        return;
    }
    let wanted = |name: &str| RecordUntil::Function(name.to_owned());
    let run = record(folder.path(), |request| request.until = wanted("done"));
    assert_eq!((run.functions.left_running, run.functions.notes.len()), (1, 0));
    let source = "int main(void) { return 0; }";
    gcc(folder.path(), "program", source, &["-O0"]).unwrap();
    let run = record(folder.path(), |request| request.until = wanted("absent"));
    assert!(!run.functions.ready && notes_one(&run, &["no module", "'absent'"]));
}

#[test]
fn a_program_without_its_privileges_is_named() {
    let folder = folder();
    let Some(helper) = gcc(folder.path(), "helper", "int main(void) { return 0; }", &["-O1"])
    else {
        return;
    };
    let run_helper = format!(
        r#"#include <stdlib.h>
        int main(void) {{ return system("{}"); }}"#,
        helper.display()
    );
    gcc(folder.path(), "program", &run_helper, &["-O1"]).unwrap();
    let has_note = || notes_one(&record(folder.path(), |_| {}), &["/helper'", "set-user-ID"]);
    assert!(!has_note());
    std::fs::set_permissions(&helper, PermissionsExt::from_mode(0o4755)).unwrap();
    // It grants what its owner has already.
    assert!(!has_note());
    // Only root can give it to somebody else.
    if std::os::unix::fs::chown(&helper, Some(12345), None).is_ok() {
        std::fs::set_permissions(&helper, PermissionsExt::from_mode(0o4755)).unwrap();
        assert!(has_note());
    }
}

#[test]
fn a_module_without_known_functions_is_named() {
    let source = r#"__asm__(".globl _start\n_start: call 1f\nmov $60, %eax\nxor %edi, %edi\n"
        "syscall\n1: ret\n.skip 600, 0x90\n.globl named\n.type named, @function\nnamed: ret");"#;
    let short = source.replace("600", "60");
    let kinds = [(source, "-s", true), (source, "-g", false), (&short, "-s", false)];
    for (source, strip, is_noted) in kinds {
        let Some(run) = built(source, &["-nostdlib", "-static", strip]) else { return };
        assert_eq!(notes_one(&run, &["/program'", "no function starts are known"]), is_noted);
        assert_eq!(run.functions.notes.len(), usize::from(is_noted));
    }
}

#[test]
fn a_program_that_copies_its_code_is_named() {
    let source = r#"
        #include <string.h>
        #include <sys/mman.h>
        __attribute__((noinline)) int copied(int x) { return x * 7 + 3; }
        __attribute__((noinline)) int behind(int x) { return x * 5 + 3; }
        int main(void) {
            int protection = PROT_READ | PROT_WRITE | PROT_EXEC;
            char *copy = mmap(0, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            memcpy(copy, (void *)copied, (char *)behind - (char *)copied);
            return ((int (*)(int))copy)(3);
        }"#;
    let Some(run) = built(source, &["-O1"]) else { return };
    assert!(notes_one(&run, &["/program' executed a breakpoint", "copied a function"]));
    let Some(run) = built("int main(void) { __asm__(\"int3\"); return 0; }", &["-O1"]) else {
        return;
    };
    assert!(run.functions.notes.is_empty(), "{:?}", run.functions.notes);
}

#[test]
fn a_program_that_interprets_its_code_is_told_what_ended_it() {
    // As valgrind ends a program in whose code it finds a breakpoint.
    let source = r#"
        #include <signal.h>
        __attribute__((noinline)) int interpreted(int x) { return x * 7 + 3; }
        int main(void) {
            if (*(volatile unsigned char *)interpreted == 0xcc) raise(SIGTRAP);
            return interpreted(1) - 10;
        }"#;
    let Some(run) = built(source, &["-O1"]) else { return };
    assert_eq!(run.functions.ending, Ending::Signal(libc::SIGTRAP));
    assert!(notes_one(&run, &["SIGTRAP", "programs that interpret code"]));
    assert_eq!(run.functions.notes.len(), 1);
}
