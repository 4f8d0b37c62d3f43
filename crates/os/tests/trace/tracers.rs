//! Recorded programs that use ptrace, or start children that no tracer is to have.

use crate::functions::built;
use model::Ending;

#[test]
fn untraced_children_are_recorded_and_see_what_they_asked_for() {
    let source = r#"
        #define _GNU_SOURCE
        #include <linux/sched.h>
        #include <signal.h>
        #include <stdio.h>
        #include <sys/syscall.h>
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) void in_copy(void) { __asm__(""); }
        __attribute__((noinline)) void in_second_copy(void) { __asm__(""); }
        static const struct clone_args wanted = { .flags = CLONE_UNTRACED, .exit_signal = SIGCHLD };
        static long clone_with(unsigned long *flags) {
            register long r10 __asm__("r10") = 0, r8 __asm__("r8") = 0;
            long result;
            __asm__ volatile("syscall" : "=a"(result), "+D"(*flags)
                : "a"(SYS_clone), "S"(0), "d"(0), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
            return result;
        }
        static int code(long child) {
            int status;
            waitpid(child, &status, 0);
            return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        }
        int main(int argc, char **argv) {
            if (argc > 1) return 7;
            unsigned long asked = CLONE_UNTRACED | SIGCHLD, flags = asked;
            long child = clone_with(&flags);
            if (child == 0) {
                in_copy();
                if (flags == asked) execl("/proc/self/exe", "program", "again", (char *)0);
                _exit(1);
            }
            printf("%d %d\n", flags == asked, code(child));
            child = syscall(SYS_clone3, &wanted, sizeof wanted);
            if (child == 0) { in_second_copy(); _exit(wanted.flags == CLONE_UNTRACED ? 8 : 1); }
            printf("%d %d\n", wanted.flags == CLONE_UNTRACED, code(child));
            flags = asked | CLONE_THREAD;
            printf("%ld", clone_with(&flags));
            printf(" %d\n", flags == (asked | CLONE_THREAD));
            return 0;
        }"#;
    let Some(run) = built(source, &["-O1"]) else { return };
    assert_eq!(run.output, "1 7\n1 8\n-22 1\n");
    let expected = ["main", "in_copy", "main", "in_second_copy"];
    assert_eq!(run.order(&["main", "in_copy", "in_second_copy"]), expected);
}

/// As LeakSanitizer does at the end of a program.
#[test]
fn a_process_may_stop_the_threads_whose_memory_it_shares() {
    let source = r#"
        #define _GNU_SOURCE
        #include <elf.h>
        #include <pthread.h>
        #include <sched.h>
        #include <signal.h>
        #include <stdio.h>
        #include <sys/ptrace.h>
        #include <sys/syscall.h>
        #include <sys/uio.h>
        #include <sys/user.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static volatile long rounds, before, after, found, ended;
        static volatile pid_t spinning;
        static char stack[65536];
        __attribute__((noinline)) void in_tracer(void) { __asm__(""); }
        __attribute__((noinline)) void afterwards(void) { __asm__(""); }
        static void *spin(void *p) {
            spinning = syscall(SYS_gettid);
            while (!ended) rounds++;
            return p;
        }
        static int tracer(void *leader) {
            pid_t threads[] = { spinning, *(pid_t *)leader };
            struct user_regs_struct all, set;
            in_tracer();
            for (int i = 0; i < 2; i++) {
                int status = 0;
                struct iovec part = { &set, sizeof set };
                if (ptrace(PTRACE_ATTACH, threads[i], 0, 0)) return 10;
                if (waitpid(threads[i], &status, __WALL) != threads[i]) return 11;
                if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP) return 12;
                if (ptrace(PTRACE_GETREGS, threads[i], 0, &all)) return 13;
                if (ptrace(PTRACE_GETREGSET, threads[i], (void *)NT_PRSTATUS, &part)) return 14;
                found += all.rsp == set.rsp && all.rip == set.rip && part.iov_len == sizeof set;
            }
            before = rounds;
            usleep(20000);
            after = rounds;
            if (ptrace(PTRACE_PEEKUSER, threads[0], 0, 0) != -1) return 15;
            // The main thread goes on when this process has ended.
            return ptrace(PTRACE_DETACH, threads[0], 0, 0) ? 16 : 0;
        }
        int main(void) {
            pthread_t thread;
            int status = -1;
            pid_t own = getpid();
            pthread_create(&thread, 0, spin, 0);
            while (!rounds) sched_yield();
            int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED;
            pid_t child = clone(tracer, stack + sizeof stack, flags, &own);
            waitpid(child, &status, __WALL);
            afterwards();
            for (long now = rounds; rounds == now;) sched_yield();
            ended = 1;
            pthread_join(thread, 0);
            printf("%d %ld %d\n", status, found, before == after);
            return 0;
        }"#;
    let Some(run) = built(source, &["-O1", "-pthread"]) else { return };
    assert_eq!(run.output, "0 2 1\n");
    assert_eq!(run.order(&["in_tracer", "afterwards"]), ["in_tracer", "afterwards"]);
    assert!(run.functions.notes.is_empty(), "{:?}", run.functions.notes);
}

#[test]
fn a_debugger_fails_and_a_note_says_why() {
    let source = r#"
        #include <errno.h>
        #include <sys/ptrace.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            pid_t child = fork();
            if (child == 0) { for (;;) pause(); }
            int traced = ptrace(PTRACE_SEIZE, child, 0, 0) == 0 || errno != EPERM;
            return traced || ptrace(PTRACE_TRACEME, 0, 0, 0) == 0;
        }"#;
    let Some(run) = built(source, &["-O1"]) else { return };
    assert_eq!(run.functions.ending, Ending::Code(0));
    let notes = &run.functions.notes;
    assert!(
        notes[0].contains("/program' uses ptrace, which fails in a traced launch"),
        "{notes:?}"
    );
}
