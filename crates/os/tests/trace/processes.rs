//! Forks, threads, chains of execve, and what is left running.

use crate::support::{between, folder, gcc, is_running, kinds, traced, traced_with};
use model::Ending;
use model::MarkKind::*;
use std::time::{Duration, Instant};

fn traced_c(source: &str, flags: &[&str]) -> Option<crate::support::Run> {
    let folder = folder();
    let program = gcc(folder.path(), "program", source, flags)?;
    Some(traced(&[program.to_str().unwrap()]))
}

#[test]
fn forks_without_exec_do_not_die_of_the_parents_breakpoints() {
    // Each child calls exit, where the parent has a breakpoint.
    let source = r#"
        #include <stdlib.h>
        #include <unistd.h>
        #include <sys/wait.h>
        int main(void) {
            int status, bad = 0;
            for (int i = 0; i < 100; i++) {
                pid_t pid = fork();
                if (!pid) exit(i);
                waitpid(pid, &status, 0);
                bad += !WIFEXITED(status) || WEXITSTATUS(status) != i;
            }
            return bad;
        }"#;
    for flags in [&[][..], &["-static"]] {
        let Some(run) = traced_c(source, flags) else { return };
        assert_eq!(run.code(), 0);
        let processes = &run.launch.trace.processes;
        assert_eq!(processes.len(), 101);
        assert!(processes[1..].iter().all(|p| p.parent == Some(0) && p.images.is_empty()));
        assert!(kinds(run.image(0)).contains(&ExitCalled));
    }
}

#[test]
fn a_constructor_that_forks_leaves_main_to_the_parent() {
    let source = r#"
        #include <unistd.h>
        #include <sys/wait.h>
        __attribute__((constructor)) static void early(void) { if (!fork()) usleep(1000); else wait(0); }
        int main(void) { return 3; }"#;
    let Some(run) = traced_c(source, &[]) else { return };
    assert_eq!(run.code(), 3);
    assert_eq!(run.launch.trace.processes.len(), 2);
    assert!(run.launch.trace.processes[1].images.is_empty());
    assert!(kinds(run.image(0)).contains(&Main));
}

#[test]
fn a_vfork_child_borrows_breakpoints_and_leaves_them() {
    // The child calls exit in the parent's memory; the parent's own call comes 20 ms later.
    let source = r#"
        #include <stdlib.h>
        #include <unistd.h>
        #include <sys/wait.h>
        int main(void) {
            int status;
            pid_t pid = vfork();
            if (!pid) { execl("/bin/sh", "sh", "-c", "exit 4", (char *)0); _exit(1); }
            waitpid(pid, &status, 0);
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 4) return 1;
            pid = vfork();
            if (!pid) exit(5);
            waitpid(pid, &status, 0);
            usleep(20000);
            return WIFEXITED(status) && WEXITSTATUS(status) == 5 ? 0 : 2;
        }"#;
    let Some(run) = traced_c(source, &[]) else { return };
    assert_eq!(run.code(), 0);
    assert_eq!(run.launch.trace.processes.len(), 3);
    assert!(kinds(&run.launch.trace.processes[1].images[0]).contains(&Main));
    assert!(between(run.image(0), Main, ExitCalled) > 20_000.0);
}

#[test]
fn threads_belong_to_their_process() {
    let source = r#"
        #include <pthread.h>
        #include <stdlib.h>
        #include <unistd.h>
        static void *work(void *p) { usleep(2000); return p; }
        static void *end(void *p) { usleep(20000); exit(6); return p; }
        int main(void) {
            pthread_t t;
            for (int i = 0; i < 20; i++) pthread_create(&t, 0, work, 0);
            pthread_create(&t, 0, end, 0);
            pthread_exit(0);
        }"#;
    let Some(run) = traced_c(source, &["-pthread"]) else { return };
    assert_eq!(run.code(), 6);
    assert_eq!(run.launch.trace.processes.len(), 1);
    // main's thread has ended long before, which is not the end of the process.
    assert!(between(run.image(0), Main, Exiting) > 20_000.0);
    assert!(kinds(run.image(0)).ends_with(&[ExitCalled, Exiting]));
}

#[test]
fn many_threads_reach_a_breakpoint_at_once() {
    let source = r#"
        #include <pthread.h>
        #include <stdlib.h>
        static pthread_barrier_t barrier;
        static void *end(void *p) { pthread_barrier_wait(&barrier); exit(6); return p; }
        int main(void) {
            pthread_t t;
            pthread_barrier_init(&barrier, 0, 8);
            for (int i = 0; i < 7; i++) pthread_create(&t, 0, end, 0);
            end(0);
        }"#;
    let folder = folder();
    let Some(program) = gcc(folder.path(), "program", source, &["-pthread"]) else { return };
    for _ in 0..20 {
        let run = traced_with(&[program.to_str().unwrap()], |request| request.cpu = None);
        assert_eq!(run.code(), 6);
        let marks = kinds(run.image(0));
        assert!(marks.ends_with(&[ExitCalled, Exiting]), "{:?}", run.image(0));
    }
}

#[test]
fn execve_by_another_thread_takes_the_process_over() {
    let source = r#"
        #include <pthread.h>
        #include <unistd.h>
        static void *run(void *p) { execl("/bin/sh", "sh", "-c", "exit 8", (char *)0); return p; }
        int main(void) {
            pthread_t t;
            pthread_create(&t, 0, run, 0);
            for (;;) pause();
        }"#;
    let Some(run) = traced_c(source, &["-pthread"]) else { return };
    assert_eq!(run.code(), 8);
    assert_eq!(run.launch.trace.processes.len(), 1);
    assert_eq!(run.launch.trace.processes[0].images.len(), 2);
    assert!(kinds(run.image(1)).starts_with(&[ExecCalled, ExecDone]));
}

#[test]
fn scripts_and_chains_are_followed() {
    let folder = folder();
    let script = testkit::script(
        folder.path(),
        "start",
        "#!/bin/sh\n/bin/sh -c 'exit 1'\nexec env sh -c 'exit 2'\n",
    );
    let run = traced(&[script.to_str().unwrap(), "argument"]);
    assert_eq!(run.code(), 2);
    let argv: Vec<_> = (0..3).map(|image| run.image(image).argv[0].clone()).collect();
    assert!(argv[0].ends_with("sh") && argv[1] == "env" && argv[2] == "sh", "{argv:?}");
    assert_eq!(run.image(0).argv[1..], [script.to_str().unwrap(), "argument"]);
    assert_eq!(kinds(run.image(2)).last(), Some(&Exiting));
    assert!(!kinds(run.image(0)).contains(&ExitCalled));
    let child = &run.launch.trace.processes[1];
    assert_eq!((child.parent, child.images.len()), (Some(0), 1));
}

#[test]
fn exit_without_handlers_is_only_an_ending() {
    let Some(run) = traced_c("#include <unistd.h>\nint main(void) { _exit(7); }", &[]) else {
        return;
    };
    assert_eq!(run.code(), 7);
    assert!(!kinds(run.image(0)).contains(&ExitCalled));
    assert!(kinds(run.image(0)).ends_with(&[Main, Exiting]));
}

#[test]
fn a_daemon_is_ended_with_the_launch() {
    let source = r#"
        #include <unistd.h>
        #include <sys/wait.h>
        int main(void) {
            int ready[2];
            char byte;
            pipe(ready);
            if (fork()) { read(ready[0], &byte, 1); wait(0); return 0; }
            setsid();
            if (fork()) _exit(0);
            write(ready[1], "x", 1);
            sleep(1000);
        }"#;
    let Some(run) = traced_c(source, &["-w"]) else { return };
    assert_eq!(run.code(), 0);
    assert_eq!(run.launch.left_running, 1);
    assert!(run.launch.trace.processes.iter().all(|process| !is_running(process.pid)));
}

#[test]
fn a_launch_that_takes_too_long_is_ended_with_its_children() {
    let begun = Instant::now();
    let run = traced_with(&["sh", "-c", "sleep 1000 & sleep 1000 & sleep 1000"], |request| {
        request.timeout = Duration::from_millis(300);
    });
    assert_eq!(run.launch.ending, Ending::TimedOut);
    assert_eq!(run.launch.left_running, 3);
    assert!(run.launch.trace.processes.iter().all(|process| !is_running(process.pid)));
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_program_that_traces_finds_ptrace_taken_and_lives() {
    let source = r#"
        #include <sys/ptrace.h>
        int main(void) { return ptrace(PTRACE_TRACEME, 0, 0, 0) == -1 ? 0 : 1; }"#;
    let Some(run) = traced_c(source, &[]) else { return };
    assert_eq!(run.code(), 0);
}

#[test]
fn launches_by_many_threads_do_not_mix() {
    std::thread::scope(|scope| {
        for code in 0..6 {
            scope.spawn(move || {
                let script = format!("sh -c 'exit 1'; exit {code}");
                let run = traced_with(&["sh", "-c", &script], |request| request.cpu = None);
                assert_eq!(run.code(), code);
                assert_eq!(run.launch.trace.processes.len(), 2);
            });
        }
    });
}
