//! Signals reach the program as they would without a tracer.

use crate::support::{folder, gcc, kinds, traced};
use model::Ending;
use model::MarkKind::*;

fn ending(source: &str) -> Option<Ending> {
    let folder = folder();
    let program = gcc(folder.path(), "program", source, &["-pthread", "-w"])?;
    let run = traced(&[program.to_str().unwrap()]);
    assert_eq!(kinds(run.image(0)).last(), Some(&Exiting), "{:?}", run.image(0));
    Some(run.launch.ending)
}

fn expect(source: &str, expected: Ending) {
    if let Some(ending) = ending(source) {
        assert_eq!(ending, expected);
    }
}

#[test]
fn death_by_a_signal() {
    expect("#include <stdlib.h>\nint main(void) { abort(); }", Ending::Signal(6));
    expect("int main(void) { return *(volatile int *)0; }", Ending::Signal(11));
    expect("#include <signal.h>\nint main(void) { raise(SIGTRAP); }", Ending::Signal(5));
    expect("int main(void) { __asm__(\"int3\"); return 0; }", Ending::Signal(5));
    expect("#include <signal.h>\nint main(void) { raise(SIGKILL); }", Ending::Signal(9));
}

#[test]
fn a_handler_of_sigtrap_sees_its_own_traps_only() {
    let source = r#"
        #include <signal.h>
        static volatile int seen;
        static void handler(int signal) { seen++; }
        int main(void) {
            signal(SIGTRAP, handler);
            raise(SIGTRAP);
            __asm__("int3");
            return seen;
        }"#;
    expect(source, Ending::Code(2));
}

#[test]
fn handlers_and_ignored_signals() {
    let source = r#"
        #include <signal.h>
        #include <unistd.h>
        static volatile int seen;
        static void handler(int signal, siginfo_t *info, void *context) {
            seen += info->si_pid == getpid() && info->si_value.sival_int == 77;
        }
        int main(void) {
            struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
            sigaction(SIGUSR1, &action, 0);
            signal(SIGUSR2, SIG_IGN);
            signal(SIGTSTP, SIG_IGN);
            raise(SIGUSR2);
            raise(SIGTSTP);
            for (int i = 0; i < 10; i++)
                sigqueue(getpid(), SIGUSR1, (union sigval){ .sival_int = 77 });
            return seen;
        }"#;
    expect(source, Ending::Code(10));
}

/// A child stops the parent with `signal` for 200 ms; the parent watches the clock
/// meanwhile, and must miss 50 ms of it: a busy machine delays the stop.
fn stopping(signal: &str, thread: &str) -> String {
    format!(
        r#"
        #include <pthread.h>
        #include <signal.h>
        #include <time.h>
        #include <unistd.h>
        #include <sys/wait.h>
        static long now(void) {{ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000 + t.tv_nsec / 1000000; }}
        static volatile int over;
        static long begin;
        static long longest(void) {{
            long last = begin, gap = 0;
            for (int last_look = 0; !last_look;) {{
                // Whoever is stopped here may be continued so late that it is over.
                last_look = over;
                long t = now();
                if (t - last > gap) gap = t - last;
                last = t;
            }}
            return gap;
        }}
        static void *watch(void *p) {{ return (void *)longest(); }}
        static volatile int continued;
        static void on_continue(int s) {{ continued++; }}
        static void on_child(int s) {{ over = 1; }}
        int main(void) {{
            pthread_t thread;
            void *gap = (void *)1000;
            signal(SIGCONT, on_continue);
            signal(SIGCHLD, on_child);
            // Before the fork: the stop may come before anybody watches.
            begin = now();
            if ({thread}) pthread_create(&thread, 0, watch, 0);
            if (!fork()) {{
                usleep(5000);
                kill(getppid(), {signal}); usleep(200000); kill(getppid(), SIGCONT);
                usleep(5000);
                _exit(0);
            }}
            long own = longest();
            if ({thread}) pthread_join(thread, &gap);
            return own >= 50 && (long)gap >= 50 ? continued : 100;
        }}"#
    )
}

#[test]
fn a_stopped_program_stays_stopped_until_it_is_continued() {
    expect(&stopping("SIGSTOP", "0"), Ending::Code(1));
    expect(&stopping("SIGSTOP", "1"), Ending::Code(1));
}

#[test]
fn two_stops_in_a_row() {
    let source = r#"
        #include <signal.h>
        #include <unistd.h>
        #include <sys/wait.h>
        int main(void) {
            int status, stops = 0;
            pid_t pid = fork();
            if (!pid) { raise(SIGSTOP); raise(SIGSTOP); _exit(3); }
            while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status)) {
                stops++;
                kill(pid, SIGCONT);
            }
            return stops * 10 + WEXITSTATUS(status);
        }"#;
    expect(source, Ending::Code(23));
}
