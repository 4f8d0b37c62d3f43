//! Counted CPUID instructions, against a tracer that looks at every single instruction.

use crate::support::{folder, gcc, traced, traced_with};

/// Counts `0F A2` at the instruction pointer, step by step, to the end of the program.
const STEPPER: &str = r#"
#include <stdio.h>
#include <unistd.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
int main(int argc, char **argv) {
    int status;
    long count = 0;
    pid_t pid = fork();
    if (!pid) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(argv[1], argv + 1);
        _exit(1);
    }
    for (waitpid(pid, &status, 0); WIFSTOPPED(status); waitpid(pid, &status, 0)) {
        struct user_regs_struct registers;
        ptrace(PTRACE_GETREGS, pid, 0, &registers);
        count += (ptrace(PTRACE_PEEKTEXT, pid, registers.rip, 0) & 0xffff) == 0xa20f;
        ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
    }
    printf("%ld\n", count);
    return 0;
}"#;

fn counted(program: &str) -> Vec<(String, u64)> {
    let run = traced_with(&[program], |request| request.count_cpuid = true);
    run.launch.trace.cpuids.value().unwrap().clone()
}

#[test]
fn the_count_equals_single_stepping() {
    let folder = folder();
    let path = folder.path();
    let Some(stepper) = gcc(path, "stepper", STEPPER, &["-O2", "-w"]) else { return };
    let hello = "#include <stdio.h>\nint main(void) { return puts(\"hello\") < 0; }";
    let mut programs = vec!["/bin/true".to_owned()];
    for (name, flags) in [("dynamic", &[][..]), ("static", &["-static"]), ("pie", &["-static-pie"])]
    {
        let Some(program) = gcc(path, name, hello, flags) else { return };
        programs.push(program.to_str().unwrap().to_owned());
    }
    for program in programs {
        let output = std::process::Command::new(&stepper).arg(&program).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let stepped: u64 = text.lines().last().unwrap().parse().unwrap();
        let counts = counted(&program);
        let total: u64 = counts.iter().map(|(_, count)| count).sum();
        assert_eq!(total, stepped, "{program}: {counts:?}");
        assert!(total > 0);
    }
}

#[test]
fn threads_of_a_constructor_lose_no_instruction() {
    // Every answer must be right, and every instruction counted; those after main are not.
    let source = r#"
        #include <cpuid.h>
        #include <pthread.h>
        static unsigned expected;
        static void *ask(void *p) {
            unsigned a, b, c, d;
            for (int i = 0; i < 250; i++) {
                __cpuid(0, a, b, c, d);
                if (b != expected) return (void *)1;
            }
            return 0;
        }
        static long wrong;
        __attribute__((constructor)) static void early(void) {
            pthread_t threads[4];
            unsigned a, c, d;
            void *result;
            __cpuid(0, a, expected, c, d);
            for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, ask, 0);
            for (int i = 0; i < 4; i++) { pthread_join(threads[i], &result); wrong += (long)result; }
        }
        int main(void) { return wrong + (long)ask(0); }"#;
    let folder = folder();
    let Some(program) = gcc(folder.path(), "program", source, &["-pthread", "-O1"]) else { return };
    for cpu in [true, false] {
        let run = traced_with(&[program.to_str().unwrap()], |request| {
            request.count_cpuid = true;
            if !cpu {
                request.cpu = None;
            }
        });
        assert_eq!(run.code(), 0);
        let counts = run.launch.trace.cpuids.value().unwrap().clone();
        let own = counts.iter().find(|(path, _)| path.ends_with("/program")).unwrap();
        assert_eq!(own.1, 1001, "{counts:?}");
    }
}

#[test]
fn a_launch_that_does_not_count_says_so() {
    assert!(traced(&["true"]).launch.trace.cpuids.reason().is_some());
}
