//! Calls in which programs wait, and those in which they only work.

use crate::support::{folder, gcc, traced_with};
use model::{Wait, WaitFor};

/// One program, whose argument says what it does.
const WAITER: &str = r#"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void nap(long ms) {
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&t, 0);
}
static void busy(long ms) {
    struct timespec t;
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int held;
static void *hold(void *unused) {
    pthread_mutex_lock(&lock);
    held = 1;
    nap(100);
    pthread_mutex_unlock(&lock);
    return 0;
}
static void *work(void *unused) { busy(100); return 0; }
static void *rest(void *unused) { nap(20000); return 0; }
static void nothing(int signal) {}
int main(int argc, char **argv) {
    const char *what = argv[1];
    int ends[2], got;
    char byte = 0;
    pthread_t thread;
    struct sockaddr_in address = { AF_INET, 0, { htonl(INADDR_LOOPBACK) } };
    socklen_t length = sizeof address;
    if (!strcmp(what, "sleep")) nap(100);
    if (!strcmp(what, "select")) { struct timeval t = { 0, 100000 }; select(0, 0, 0, 0, &t); }
    if (!strcmp(what, "interrupted")) {
        signal(SIGUSR1, nothing);
        pid_t me = getpid();
        if (fork() == 0) { nap(30); kill(me, SIGSTOP); nap(30); kill(me, SIGCONT); _exit(0); }
        nap(100);
        wait(0);
    }
    if (!strcmp(what, "child")) { if (fork() == 0) { nap(100); _exit(0); } wait(&got); }
    if (!strcmp(what, "lock")) {
        pthread_create(&thread, 0, hold, 0);
        while (!held) sched_yield();
        pthread_mutex_lock(&lock);
    }
    if (!strcmp(what, "join")) { pthread_create(&thread, 0, work, 0); pthread_join(thread, 0); }
    if (!strcmp(what, "pipe") || !strcmp(what, "poll") || !strcmp(what, "polls")) {
        pipe(ends);
        if (fork() == 0) { nap(100); write(ends[1], "x", 1); _exit(0); }
        struct pollfd wanted[] = { { eventfd(0, 0), POLLIN, 0 }, { ends[0], POLLIN, 0 } };
        if (what[1] == 'o') poll(wanted + !what[4], 1 + !!what[4], -1);
        read(ends[0], &byte, 1);
    }
    if (!strcmp(what, "socket")) {
        int server = socket(AF_INET, SOCK_STREAM, 0);
        bind(server, (struct sockaddr *)&address, length);
        listen(server, 1);
        getsockname(server, (struct sockaddr *)&address, &length);
        if (fork() == 0) { got = accept(server, 0, 0); nap(100); send(got, "x", 1, 0); _exit(0); }
        int client = socket(AF_INET, SOCK_STREAM, 0);
        connect(client, (struct sockaddr *)&address, length);
        recv(client, &byte, 1, 0);
    }
    if (!strcmp(what, "signal")) { signal(SIGALRM, nothing); ualarm(100000, 0); pause(); }
    if (!strcmp(what, "fifo")) {
        mkfifo(argv[2], 0600);
        if (fork() == 0) { nap(100); open(argv[2], O_WRONLY); _exit(0); }
        open(argv[2], O_RDONLY);
    }
    if (!strcmp(what, "killed")) {
        pid_t child = fork();
        if (child == 0) { pause(); _exit(0); }
        nap(100);
        kill(child, SIGKILL);
        wait(0);
    }
    if (!strcmp(what, "ignored")) {
        struct pollfd ignored = { -1, POLLIN, 0 };
        poll(&ignored, 1, 100);
    }
    if (!strcmp(what, "left")) {
        if (fork() == 0) { pthread_create(&thread, 0, rest, 0); pause(); }
        nap(100);
    }
    if (!strcmp(what, "busy")) busy(100);
    if (!strcmp(what, "bytes")) {
        static char block[1 << 20];
        int zero = open("/dev/zero", O_RDONLY);
        for (int i = 0; i < 400; i++) read(zero, block, sizeof block);
    }
    return 0;
}"#;

/// The waits of the program's main process longer than a millisecond, and all of them.
fn waits(arguments: &[&str]) -> Option<(Vec<Wait>, Vec<Wait>)> {
    let folder = folder();
    let program = gcc(folder.path(), "waiter", WAITER, &["-w", "-pthread"])?;
    let fifo = folder.path().join("fifo");
    let argv = [&[program.to_str().unwrap()], arguments, &[fifo.to_str().unwrap()]].concat();
    let run = traced_with(&argv, |request| request.record_waits = true);
    assert_eq!(run.code(), 0);
    let all: Vec<Wait> = run.launch.waits.iter().map(|recorded| recorded.wait.clone()).collect();
    let threads = &run.launch.threads;
    for wait in &all {
        assert!(wait.from_us <= wait.to_us, "{wait:?}");
        let thread = threads.iter().find(|life| life.thread == wait.thread).unwrap();
        assert_eq!(thread.pid, wait.pid);
        assert!(thread.started_us <= wait.from_us, "{wait:?} {thread:?}");
    }
    let root = run.launch.trace.processes[0].pid;
    let long = |wait: &&Wait| wait.pid == root && wait.to_us - wait.from_us > 1000.0;
    Some((all.iter().filter(long).cloned().collect(), all))
}

/// Asserts that main's one long wait is this one and took about a tenth of a second.
fn waits_once(what: &str, call: &str, on: WaitFor) {
    let Some((long, all)) = waits(&[what]) else { return };
    let [wait] = &long[..] else { panic!("{what}: {all:?}") };
    assert_eq!((wait.call.as_str(), wait.on), (call, on), "{what}: {all:?}");
    let us = wait.to_us - wait.from_us;
    assert!((80_000.0..400_000.0).contains(&us), "{what}: {us}");
}

#[test]
fn sleeping_is_a_wait_for_time() {
    waits_once("sleep", "clock_nanosleep", WaitFor::Time);
    // glibc makes select of pselect6 on some kernels and versions.
    let Some((long, all)) = waits(&["select"]) else { return };
    assert!(long.len() == 1 && long[0].on == WaitFor::Time, "{all:?}");
}

#[test]
fn a_child_a_pipe_and_a_poll_on_a_pipe() {
    waits_once("child", "wait4", WaitFor::Child);
    waits_once("pipe", "read", WaitFor::Pipe);
    waits_once("poll", "poll", WaitFor::Pipe);
    // What only wakes the program itself is not what it waits for.
    waits_once("polls", "poll", WaitFor::Pipe);
}

#[test]
fn a_lock_that_another_thread_holds() {
    let Some((_, all)) = waits(&["lock"]) else { return };
    let futex = all.iter().find(|w| w.on == WaitFor::Lock && w.thread == w.pid).unwrap();
    let sleep = all.iter().find(|w| w.on == WaitFor::Time && w.thread != w.pid).unwrap();
    assert!(futex.to_us - futex.from_us > 50_000.0, "{all:?}");
    assert!(sleep.to_us - sleep.from_us > 80_000.0, "{all:?}");
}

#[test]
fn a_socket_whose_server_takes_its_time() {
    waits_once("socket", "recvfrom", WaitFor::Socket);
}

#[test]
fn a_signal_and_a_fifo() {
    waits_once("signal", "pause", WaitFor::Signal);
    waits_once("fifo", "openat", WaitFor::File);
}

#[test]
fn a_sleep_that_is_stopped_and_continued_goes_on_as_a_sleep() {
    let Some((_, all)) = waits(&["interrupted"]) else { return };
    assert!(all.iter().all(|wait| wait.call != "restart_syscall"), "{all:?}");
    let slept: f64 =
        all.iter().filter(|w| w.on == WaitFor::Time).map(|w| w.to_us - w.from_us).sum();
    assert!(slept > 80_000.0, "{all:?}");
}

#[test]
fn a_thread_that_is_killed_while_it_waits_has_waited() {
    let Some((_, all)) = waits(&["killed"]) else { return };
    let paused = all.iter().find(|wait| wait.call == "pause").unwrap();
    assert!(paused.to_us - paused.from_us > 80_000.0, "{all:?}");
}

#[test]
fn descriptors_that_poll_ignores_are_no_files() {
    waits_once("ignored", "poll", WaitFor::Time);
}

/// By which a server in the background is told from work.
#[test]
fn every_thread_that_is_left_waiting_has_waited_until_the_end() {
    let Some((_, all)) = waits(&["left"]) else { return };
    let paused = all.iter().find(|wait| wait.call == "pause").unwrap();
    let mut same = all.iter().filter(|wait| wait.pid == paused.pid);
    let slept = same.find(|wait| wait.thread != paused.thread && wait.on == WaitFor::Time).unwrap();
    for wait in [paused, slept] {
        assert!(wait.to_us - wait.from_us > 50_000.0, "{all:?}");
    }
}

#[test]
fn work_is_no_wait_in_the_program_or_in_the_kernel() {
    for what in ["busy", "bytes"] {
        let Some((_, all)) = waits(&[what]) else { return };
        let waited: f64 = all.iter().map(|wait| wait.to_us - wait.from_us).sum();
        assert!(waited < 5000.0, "{what}: {all:?}");
    }
}

#[test]
fn stacks_are_kept_of_long_waits_only() {
    let folder = folder();
    let Some(program) = gcc(folder.path(), "waiter", WAITER, &["-w", "-pthread"]) else { return };
    let run = traced_with(&[program.to_str().unwrap(), "sleep"], |request| {
        request.record_waits = true;
        request.keep_stacks = true;
    });
    let kept: Vec<_> = run.launch.waits.iter().filter_map(|wait| wait.stack.as_ref()).collect();
    let [stack] = kept[..] else { panic!("{kept:?}") };
    assert!(stack.code.iter().any(|mapping| mapping.path.ends_with("/waiter")));
    let next = model::MappedVa(stack.registers[16]);
    assert!(stack.code.iter().any(|code| code.memory.contains(&next)));
    assert!(stack.memory.len() > 1000);
}
