//! Functions in order of first call, in programs that make that hard.

use crate::support::{folder, gcc};
use model::{Command, Ending, Until};
use os::launcher::Stdio;
use os::trace::{FunctionRequest, RecordUntil, RecordedFunctions, functions};
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// A recorded launch of a program that was built here.
pub struct Recorded {
    pub functions: RecordedFunctions,
    pub output: String,
    /// Symbols of the program by RVA.
    names: HashMap<u32, String>,
}

impl Recorded {
    /// The program's own functions among `wanted`, in order of first call.
    pub fn order(&self, wanted: &[&str]) -> Vec<&str> {
        let program = self.functions.modules.iter().position(|m| m.path.ends_with("/program"));
        let program = program.unwrap();
        let calls = self.functions.calls.iter().filter(|call| call.module.index() == program);
        let names = calls.filter_map(|call| self.names.get(&call.rva.0));
        names.map(String::as_str).filter(|name| wanted.contains(name)).collect()
    }

    /// How often the program's function of that name was called, if it was and calls were counted.
    fn count(&self, wanted: &str) -> Option<u64> {
        let is_it = |rva: u32| self.names.get(&rva).is_some_and(|name| name == wanted);
        let mut calls = self.functions.calls.iter();
        calls.find(|call| call.module.index() == 0 && is_it(call.rva.0))?.count
    }
}

fn request(stdio: Stdio) -> FunctionRequest {
    FunctionRequest {
        until: RecordUntil::Launch(Until::Exit),
        first: None,
        count_limit: None,
        timeout: Duration::from_secs(60),
        cpu: Some(os::host::quiet_cpu()),
        stdio,
    }
}

pub fn record(folder: &Path, change: impl FnOnce(&mut FunctionRequest)) -> Recorded {
    let program = folder.join("program");
    let output = folder.join("output");
    let file = File::create(&output).unwrap();
    let mut request = request(Stdio::null().unwrap().with_output(file));
    change(&mut request);
    let command = os::program::resolve(&[&program]).unwrap();
    let functions = functions(&command, &request).unwrap();
    let output = std::fs::read_to_string(&output).unwrap();
    Recorded { functions, output, names: names(&program) }
}

/// Symbols of functions by nm, relative to the lowest address of the file.
fn names(program: &Path) -> HashMap<u32, String> {
    let base = image::function_starts(program).unwrap().preferred_base.0;
    let nm = std::process::Command::new("nm").arg(program).output().unwrap();
    let text = String::from_utf8(nm.stdout).unwrap();
    let lines = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [address, _, name] = words[..] else { return None };
        let address = u64::from_str_radix(address, 16).ok()?;
        Some((u32::try_from(address.checked_sub(base)?).ok()?, name.to_owned()))
    });
    lines.collect()
}

/// Builds and records; `None` without gcc.
pub fn built(source: &str, options: &[&str]) -> Option<Recorded> {
    let folder = folder();
    gcc(folder.path(), "program", source, options)?;
    Some(record(folder.path(), |_| {}))
}

const PLAIN: &str = r#"
    #include <stdio.h>
    __attribute__((noinline)) static void c(void) { puts("c"); }
    __attribute__((noinline)) void a(void) { puts("a"); }
    __attribute__((noinline)) void never(void) { puts("never"); }
    __attribute__((noinline)) void b(void) { puts("b"); }
    int main(int argc, char **argv) { b(); for (int i = 0; i < 3; i++) a(); c(); b();
        if (argc > 5) never(); return 3; }"#;

#[test]
fn functions_come_in_order_of_first_call_and_once() {
    for options in [&["-O1"][..], &["-O1", "-static"], &["-O1", "-no-pie"], &["-O1", "-static-pie"]]
    {
        let Some(run) = built(PLAIN, options) else { return };
        assert_eq!(run.order(&["a", "b", "c", "never", "main"]), ["main", "b", "a", "c"]);
        assert_eq!(run.functions.ending, Ending::Code(3), "{options:?}");
        assert_eq!(run.output, "b\na\na\na\nc\nb\n");
        assert!(run.functions.notes.is_empty(), "{:?}", run.functions.notes);
    }
}

#[test]
fn a_stripped_program_has_the_same_calls() {
    let folder = folder();
    let Some(program) = gcc(folder.path(), "program", PLAIN, &["-O1"]) else { return };
    let whole = record(folder.path(), |_| {});
    let strip = std::process::Command::new("strip").arg(&program).status().unwrap();
    assert!(strip.success());
    let stripped = record(folder.path(), |_| {});
    let own = |run: &Recorded| {
        let calls = run.functions.calls.iter().filter(|call| call.module.index() == 0);
        calls.map(|call| call.rva).collect::<Vec<_>>()
    };
    // The start code of the C library has symbols, but nothing to unwind.
    let without_unwinding = ["_init", "_fini", "deregister_tm_clones", "register_tm_clones"];
    let more = ["__do_global_dtors_aux", "frame_dummy"];
    let mut expected = own(&whole);
    expected.retain(|rva| {
        let name = whole.names.get(&rva.0).map(String::as_str).unwrap_or_default();
        !without_unwinding.contains(&name) && !more.contains(&name)
    });
    assert_eq!(own(&stripped), expected);
}

#[test]
fn repetitions_of_a_string_instruction_are_one_call_and_threads_make_counts_lower_bounds() {
    let source = r#"
        #include <pthread.h>
        __asm__(".type fill, @function\nfill: rep stosb\nret\n.size fill, . - fill");
        __attribute__((noinline)) void called(void) { __asm__(""); }
        static void *work(void *none) {
            for (int at = 0; at < 500; at++) called();
            return none;
        }
        int main(int argc, char **argv) {
            static char room[300];
            for (int at = 0; at < 3; at++) {
                void *to = room;
                long bytes = sizeof room;
                __asm__ volatile("call fill" : "+D"(to), "+c"(bytes) : "a"(0) : "memory");
            }
            pthread_t thread;
            if (argc > 1) return 1;
            pthread_create(&thread, 0, work, 0);
            work(0);
            return pthread_join(thread, 0);
        }"#;
    let folder = folder();
    if gcc(folder.path(), "program", source, &["-O1", "-pthread", "-mno-red-zone"]).is_none() {
        return;
    }
    let run = record(folder.path(), |request| request.count_limit = Some(1_000_000));
    assert_eq!(run.count("fill"), Some(3));
    let called = run.count("called").unwrap();
    assert!((500..=1000).contains(&called), "{called}");
    let notes = run.functions.notes.iter().filter(|note| note.contains("lower bounds"));
    assert_eq!(notes.count(), 1, "{:?}", run.functions.notes);
}

#[test]
fn flags_that_a_function_saves_are_those_of_the_program() {
    let source = r#"
        #include <stdio.h>
        __asm__(".type flags, @function\nflags: pushfq\npop %rax\nret\n.size flags, . - flags");
        long flags(void);
        int main(void) {
            for (int at = 0; at < 3; at++) printf("%ld\n", flags() & 0x100);
            return 0;
        }"#;
    let folder = folder();
    if gcc(folder.path(), "program", source, &["-O1"]).is_none() {
        return;
    }
    let run = record(folder.path(), |request| request.count_limit = Some(100));
    assert_eq!((run.count("flags"), run.output.as_str()), (Some(3), "0\n0\n0\n"));
}

#[test]
fn calls_are_counted_up_to_the_limit() {
    let folder = folder();
    if gcc(folder.path(), "program", PLAIN, &["-O1"]).is_none() {
        return;
    }
    for (limit, expected) in [(100, [1, 2, 3, 1]), (2, [1, 2, 2, 1])] {
        let run = record(folder.path(), |request| request.count_limit = Some(limit));
        assert_eq!(["main", "b", "a", "c"].map(|name| run.count(name).unwrap()), expected);
        assert_eq!(run.output, "b\na\na\na\nc\nb\n");
    }
}

#[test]
fn threads_forks_vforks_and_execs_are_followed() {
    let source = r#"
        #include <pthread.h>
        #include <spawn.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/wait.h>
        #include <unistd.h>
        extern char **environ;
        __attribute__((noinline)) void in_thread(void) { __asm__(""); }
        __attribute__((noinline)) void in_fork(void) { __asm__(""); }
        __attribute__((noinline)) void in_both(void) { __asm__(""); }
        __attribute__((noinline)) void in_executed(void) { __asm__(""); }
        static void *thread(void *p) { for (int i = 0; i < 1000; i++) { in_thread(); } return p; }
        int main(int argc, char **argv) {
            if (argc > 1) { in_executed(); return 0; }
            pthread_t threads[8];
            for (int i = 0; i < 8; i++) pthread_create(threads + i, 0, thread, 0);
            for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
            pid_t child = fork();
            if (child == 0) { in_fork(); in_both(); _exit(0); }
            int status; waitpid(child, &status, 0);
            in_both();
            char *args[] = { "program", "again", 0 };
            if (posix_spawn(&child, "/proc/self/exe", 0, 0, args, environ)) return 9;
            waitpid(child, &status, 0);
            return status ? 8 : 0;
        }"#;
    let Some(run) = built(source, &["-O1", "-pthread"]) else { return };
    assert_eq!(run.functions.ending, Ending::Code(0));
    let names = ["main", "in_thread", "in_fork", "in_both", "in_executed"];
    // The parent's own call of in_both comes after the fork's; the executed program has its own.
    let expected = ["main", "in_thread", "in_fork", "in_both", "in_both", "main", "in_executed"];
    assert_eq!(run.order(&names), expected);
    let programs = &run.functions.programs;
    let forks = programs.iter().filter(|program| program.forked_from == Some(0)).count();
    assert!(forks >= 1, "{programs:?}");
    assert_eq!(programs.iter().filter(|program| program.forked_from.is_none()).count(), 2);
}

#[test]
fn libraries_that_come_and_go_are_recorded() {
    let folder = folder();
    let library = "__attribute__((noinline)) int one(void) { return 1; }\n\
                   int two(void) { return one() + 1; }";
    let options = ["-O1", "-shared", "-fPIC", "-fno-ipa-ra", "-fno-inline"];
    let Some(first) = gcc(folder.path(), "first.so", library, &options) else { return };
    let second = gcc(folder.path(), "second.so", library, &options).unwrap();
    let source = format!(
        r#"#include <dlfcn.h>
        int use(const char *path) {{
            void *library = dlopen(path, RTLD_NOW);
            int (*two)(void) = (int (*)(void))dlsym(library, "two");
            int result = two();
            dlclose(library);
            return result;
        }}
        int main(void) {{
            int sum = 0;
            for (int i = 0; i < 5; i++) sum += use("{}") + use("{}");
            return sum;
        }}"#,
        first.display(),
        second.display()
    );
    gcc(folder.path(), "program", &source, &["-O1"]).unwrap();
    let run = record(folder.path(), |_| {});
    assert_eq!(run.functions.ending, Ending::Code(20));
    for library in ["first.so", "second.so"] {
        let modules = &run.functions.modules;
        let module = modules.iter().position(|m| m.path.ends_with(library)).unwrap();
        let calls = run.functions.calls.iter().filter(|call| call.module.index() == module);
        // It is mapped five times, and every time is a first one.
        assert!(calls.count() >= 10, "{library}");
    }
}

#[test]
fn sigtrap_stays_the_programs_own() {
    let source = r#"
        #define _GNU_SOURCE
        #include <signal.h>
        #include <stdio.h>
        #include <string.h>
        #include <ucontext.h>
        #include <unistd.h>
        __attribute__((noinline)) void first(void) { __asm__(""); }
        __attribute__((noinline)) void second(void) { __asm__(""); }
        __attribute__((noinline)) void third(void) { __asm__(""); }
        __attribute__((noinline)) void fourth(void) { __asm__(""); }
        __attribute__((noinline)) void while_pending(void) { __asm__(""); }
        static volatile int seen;
        static volatile long trap, code;
        __attribute__((noinline)) static void handler(int s, siginfo_t *information, void *context) {
            trap = ((ucontext_t *)context)->uc_mcontext.gregs[REG_TRAPNO];
            code = information->si_code;
            seen++;
            second();
        }
        __attribute__((noinline)) static void other(int s) { third(); }
        static int is_blocked(void) {
            sigset_t now;
            sigprocmask(SIG_SETMASK, 0, &now);
            return sigismember(&now, SIGTRAP);
        }
        int main(void) {
            struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO }, old;
            sigset_t all, before;
            sigfillset(&all);
            sigaction(SIGTRAP, &action, 0);
            sigprocmask(SIG_BLOCK, &all, &before);
            first();                                    // hit while SIGTRAP is blocked
            if (!is_blocked()) return 10;
            raise(SIGTRAP);
            while_pending();                            // hit while SIGTRAP is pending
            if (seen) return 11;                        // still pending
            sigaction(SIGTRAP, 0, &old);
            if (old.sa_sigaction != handler) return 12;
            sigprocmask(SIG_SETMASK, &before, 0);
            if (seen != 1) return 13;
            if (code != SI_TKILL) return 20;
            if (is_blocked()) return 14;
            __asm__("int3");
            if (seen != 2) return 15;
            if (trap != 3 || code != SI_KERNEL) return 19;
            // A handler that blocks everything, hit inside of it.
            struct sigaction blocking = { .sa_handler = other };
            sigfillset(&blocking.sa_mask);
            sigaction(SIGUSR1, &blocking, 0);
            raise(SIGUSR1);
            if (is_blocked()) return 16;
            raise(SIGTRAP);
            if (seen != 3) return 17;
            signal(SIGTRAP, SIG_IGN);
            fourth();                                   // hit while SIGTRAP is ignored
            raise(SIGTRAP);
            kill(getpid(), SIGTRAP);
            if (signal(SIGTRAP, SIG_DFL) != SIG_IGN) return 18;
            return 0;
        }"#;
    let folder = folder();
    if gcc(folder.path(), "program", source, &["-O1"]).is_none() {
        return;
    }
    let expected =
        ["main", "first", "while_pending", "handler", "second", "other", "third", "fourth"];
    // Counted calls are stepped over.
    for count_limit in [None, Some(100)] {
        let run = record(folder.path(), |request| request.count_limit = count_limit);
        assert_eq!(run.functions.ending, Ending::Code(0), "{count_limit:?}");
        assert_eq!(run.order(&expected), expected, "{count_limit:?}");
    }
}

#[test]
fn a_trap_of_the_programs_own_still_ends_it() {
    let Some(run) = built("int main(void) { __asm__(\"int3\"); return 0; }", &["-O1"]) else {
        return;
    };
    assert_eq!(run.functions.ending, Ending::Signal(libc::SIGTRAP));
}

#[test]
fn a_killed_program_leaves_what_it_called() {
    let source = r#"
        #include <signal.h>
        #include <unistd.h>
        __attribute__((noinline)) void before(void) { __asm__(""); }
        int main(void) { before(); kill(getpid(), SIGKILL); return 0; }"#;
    let Some(run) = built(source, &["-O1"]) else { return };
    assert_eq!(run.functions.ending, Ending::Signal(libc::SIGKILL));
    assert_eq!(run.order(&["main", "before"]), ["main", "before"]);
}

const LONG: &str = r#"
    #include <signal.h>
    #include <stdio.h>
    #include <unistd.h>
    __attribute__((noinline)) void before(void) { __asm__(""); }
    __attribute__((noinline)) void after(void) { __asm__(""); }
    __attribute__((noinline)) void headstart_startup_done(void) { __asm__(""); }
    int main(void) {
        signal(SIGUSR2, SIG_IGN);
        before();
        headstart_startup_done();
        raise(SIGUSR2);
        puts("listening"); fflush(stdout);
        usleep(300000);
        after();
        for (;;) pause();
    }"#;

#[test]
fn a_launch_is_complete_when_the_program_says_so() {
    let folder = folder();
    if gcc(folder.path(), "program", LONG, &["-O1"]).is_none() {
        return;
    }
    let ends = [
        RecordUntil::Function("headstart_startup_done".to_owned()),
        RecordUntil::Signal(libc::SIGUSR2),
        RecordUntil::Launch(Until::Output("listening".to_owned())),
    ];
    for until in ends {
        let run = record(folder.path(), |request| request.until = until.clone());
        assert!(run.functions.ready, "{until:?}");
        assert_eq!(run.functions.ending, Ending::Signal(libc::SIGTERM), "{until:?}");
        assert_eq!(run.order(&["before", "after"]), ["before"], "{until:?}");
    }
    let entry = record(folder.path(), |request| request.until = RecordUntil::Launch(Until::Entry));
    assert!(entry.functions.ready && entry.order(&["main", "before"]).is_empty());
    let time = |request: &mut FunctionRequest| request.timeout = Duration::from_millis(1000);
    let timed_out = record(folder.path(), time);
    assert_eq!(timed_out.functions.ending, Ending::TimedOut);
    assert_eq!(timed_out.order(&["before", "after"]), ["before", "after"]);
    let first = record(folder.path(), |request| {
        request.first = Some(Duration::from_millis(150));
        request.timeout = Duration::from_millis(1000);
    });
    assert_eq!(first.order(&["before", "after"]), ["before"]);
}

#[test]
fn a_program_that_hides_its_memory_is_let_go() {
    let source = r#"
        #include <sys/prctl.h>
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) int before(void) { __asm__(""); return 1; }
        __attribute__((noinline)) int after(void) { __asm__(""); return 2; }
        int main(void) {
            int sum = before();
            prctl(PR_SET_DUMPABLE, 0);
            sum += after();
            if (fork() == 0) _exit(sum);
            int status; wait(&status);
            return WEXITSTATUS(status) + sum;
        }"#;
    let Some(run) = built(source, &["-O1"]) else { return };
    assert_eq!(run.functions.ending, Ending::Code(6));
    assert_eq!(run.order(&["before", "after"]), ["before"]);
    assert!(run.functions.notes[0].contains("undumpable"), "{:?}", run.functions.notes);
}

#[test]
fn code_that_the_program_has_replaced_stays() {
    let source = r#"
        #include <stdint.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <sys/prctl.h>
        __attribute__((noinline)) int replaced(void) { __asm__(""); return 2; }
        int main(void) {
            static const unsigned char seven[] = { 0x6a, 0x07, 0x58, 0xc3 }; // push 7; pop rax; ret
            void *page = (void *)((uintptr_t)replaced & ~4095ul);
            mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
            memcpy((void *)replaced, seven, sizeof seven);
            prctl(PR_SET_DUMPABLE, 0); // All breakpoints are lifted.
            return replaced();
        }"#;
    let Some(run) = built(source, &["-O1"]) else { return };
    assert_eq!(run.functions.ending, Ending::Code(7));
}

#[test]
fn a_program_with_privileges_is_declined() {
    let folder = folder();
    let Some(program) = gcc(folder.path(), "program", PLAIN, &["-O1"]) else { return };
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o4755)).unwrap();
    let command: Command = os::program::resolve(&[&program]).unwrap();
    let error = functions(&command, &request(Stdio::inherited())).unwrap_err().to_string();
    assert!(error.contains("set-user-ID"), "{error}");
}
