//! What the process takes itself for.

use crate::bench::{Bench, launch, named};
use startup::Tables;
use std::os::unix::fs::symlink;
use std::process::Command;

fn installed() -> Option<(Bench, String)> {
    let bench = Bench::new()?;
    bench.install(&bench.tables());
    let original = bench.path("original").to_str().unwrap().to_owned();
    Some((bench, original))
}

#[test]
fn a_bundle_is_the_original_by_every_name() {
    let Some((bench, _)) = installed() else { return };
    // Shorter than the bundle's path, as long, and longer.
    let length = bench.path("run").to_str().unwrap().len();
    for original in ["/bin/p".into(), format!("/{}", "p".repeat(length - 1)), "/q".repeat(length)] {
        let tables = Tables { original: original.clone().into(), ..bench.tables() };
        bench.install(&tables);
        for own in [bench.path("run").to_str().unwrap(), "run", "./run"] {
            let launched = launch(named(&mut bench.command(&["report", "one", "", "3"]), own));
            assert!(launched.is_bundle(), "{launched:?}");
            for name in ["argv0 ", "invocation ", "execfn ", "dladdr "] {
                assert_eq!(launched.line(name), original, "{name} of {own}");
            }
            assert_eq!(launched.stdout.matches("argument ").count(), 3);
            assert_eq!(launched.line("in a row"), "1");
            let comm = &original[original.rfind('/').unwrap() + 1..];
            // What ps shows, and where titles are written.
            let line = format!("{original} report one  3");
            assert_eq!(launched.line("command line"), line);
            assert_eq!(launched.line("environment"), "HOME=/");
            let room = format!("{} {}", line.len() + 1, line.len() + 1 + "HOME=/".len() + 1);
            assert_eq!(launched.line("room"), room);
            assert_eq!(launched.line("title"), "program: master process");
            assert_eq!(launched.line("comm"), &comm[..comm.len().min(15)]);
        }
    }
}

/// What tells the preamble that the program has executed itself, by either path.
const EXECUTED: [&str; 2] = ["/proc//self/exe", "/proc/self//exe"];

#[test]
fn a_program_that_executes_itself_is_told_the_path_and_gives_its_arguments() {
    let Some((bench, _)) = installed() else { return };
    // Shorter than what was executed, as long, and longer.
    for original in ["/bin/p".into(), format!("/{}", "p".repeat(14)), "/long".repeat(9)] {
        let file = format!("{original}-1");
        let (path, file_path) = (original.clone().into(), file.clone().into());
        bench.install(&Tables { original: path, original_file: file_path, ..bench.tables() });
        for (executed, told) in EXECUTED.iter().zip([&original, &file]) {
            for name in ["run", "x/run", "./run", "other", "", told] {
                let words = ["again", executed, name, "report", "one", "", "3"];
                let launched = launch(&mut bench.command(&words));
                assert!(launched.is_bundle(), "{launched:?}");
                assert_eq!(launched.line("execfn "), *told);
                for line in ["argv0 ", "invocation ", "dladdr "] {
                    assert_eq!(launched.line(line), name, "{line} of {executed}");
                }
                let line = format!("{name} report one  3");
                assert_eq!(launched.line("command line "), line.trim());
                let room = format!("{} {}", line.len() + 1, line.len() + 1 + "HOME=/".len() + 1);
                assert_eq!(launched.line("room"), room);
                assert_eq!(launched.line("in a row"), "1");
                assert!("program: master process".starts_with(launched.line("title")));
                let comm = &told[told.rfind('/').unwrap() + 1..];
                assert_eq!(launched.line("comm"), &comm[..comm.len().min(15)]);
            }
        }
        // By any other spelling the program is what it says.
        for other in ["/proc/self/exe", "/proc//self//exe", "//proc/self/exe", "/proc/self/./exe"] {
            let launched = launch(&mut bench.command(&["again", other, "other", "report"]));
            assert!(launched.is_bundle(), "{launched:?}");
            assert_eq!((launched.line("execfn"), launched.line("comm")), (other, "exe"));
        }
    }
}

/// Starts what follows with a kernel that refuses PR_SET_MM.
const REFUSING: &str = r#"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int count, char **words)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 157, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 35, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 22),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &filter))
        return 99;
    return execv(words[1], words + 2);
}
"#;

/// As it was before the kernel could be told: the name, where there is room.
#[test]
fn where_the_kernel_cannot_be_told_the_command_line_has_the_name_if_there_is_room() {
    let (Some((bench, _)), Some(cc)) = (installed(), testkit::tool("cc")) else { return };
    let refusing = testkit::compile(&cc, &bench.path(""), "refusing", REFUSING, &[]);
    let long = bench.path("run");
    let long = long.to_str().unwrap();
    let folder = format!("/{}/", "f".repeat(long.len()));
    let seen = |original: String, own: &str| {
        let tables = Tables { original: original.clone().into(), ..bench.tables() };
        bench.install(&tables);
        let mut command = Command::new(&refusing);
        command.args([long, own, "report", "2", "", "four"]).env_clear();
        let launched = launch(&mut command);
        assert!(launched.is_bundle(), "{launched:?}");
        assert_eq!(launched.line("argv0"), original);
        assert_eq!(launched.line("in a row"), "1");
        let line = launched.line("command line");
        line.strip_suffix(" report 2  four").unwrap().to_owned()
    };
    assert_eq!(seen(format!("{folder}name"), "./run"), "/name");
    assert_eq!(seen(format!("{folder}inner"), "x/run"), "inner");
    assert_eq!(seen(format!("{folder}longer"), "x/run"), "x/run");
    assert_eq!(seen("/p".to_owned(), "./run"), "////p");
}

#[test]
fn the_kernel_knows_of_the_memory_what_it_knew() {
    for bench in [Bench::new(), Bench::fixed()].into_iter().flatten() {
        bench.install(&bench.tables());
        // Under another name nothing is told.
        let untold = launch(named(&mut bench.command(&["memory"]), "other"));
        let told = launch(&mut bench.command(&["memory"]));
        assert!(told.is_bundle(), "{told:?}");
        for name in ["code", "heap", "grows"] {
            assert_eq!(told.line(name), untold.line(name), "{name}");
        }
        assert_eq!((told.line("heap"), told.line("grows")), ("1", "1"));
    }
}

/// AT_EXECFN was in the bundle's own memory, which is read-only.
#[test]
fn every_text_can_be_written_to() {
    let Some((bench, _)) = installed() else { return };
    let many: Vec<String> = (0..300).map(|number| format!("{number}").repeat(20)).collect();
    for original in ["/p".to_owned(), "/q".repeat(2000)] {
        bench.install(&Tables { original: original.into(), ..bench.tables() });
        for own in [bench.path("run").to_str().unwrap(), "./run", "other"] {
            for variables in [0, 1, 1000] {
                let mut command = bench.command(&["report"]);
                let variables = (0..variables).map(|number| (format!("V{number}"), "value"));
                command.args(&many).env_clear().envs(variables);
                let launched = launch(named(&mut command, own));
                assert!(launched.is_bundle(), "{launched:?}");
                assert_eq!(launched.line("title"), "program: master process");
            }
        }
    }
}

#[test]
fn a_bundle_at_a_fixed_address() {
    let Some(bench) = Bench::fixed() else { return };
    let tables = Tables { relro: vec![bench.constants()], ..bench.tables() };
    let launched = bench.launch_with(&tables);
    assert!(launched.is_bundle(), "{launched:?}");
    assert_eq!(launched.line("argv0"), bench.path("original").to_str().unwrap());
    assert_eq!(launched.line("constants"), "r--p");
    assert!(launch(bench.command(&[]).env("LD_PRELOAD", "x")).is_original());
}

#[test]
fn another_name_is_kept() {
    let Some((bench, original)) = installed() else { return };
    for given in ["gcc", "/x/runner", "", "run/"] {
        let launched = launch(named(&mut bench.command(&[]), given));
        assert_eq!((launched.line("argv0"), launched.line("invocation")), (given, given));
        assert_eq!(launched.line("execfn"), original);
    }
    // A link's name is the program's business, as with busybox.
    symlink("run", bench.path("tool")).unwrap();
    let tool = bench.path("tool");
    let launched = launch(Command::new(&tool).env_clear());
    assert!(launched.is_bundle());
    for name in ["argv0", "execfn", "dladdr"] {
        assert_eq!(launched.line(name), tool.to_str().unwrap());
    }
    assert_eq!(launched.line("comm"), "tool");
}

#[test]
fn without_randomized_addresses() {
    let Some((bench, original)) = installed() else { return };
    let Some(setarch) = testkit::tool("setarch") else { return };
    let tables = Tables { relro: vec![bench.constants()], ..bench.tables() };
    bench.install_at(&tables, &bench.with_names());
    let mut command = Command::new(setarch);
    let launched = launch(command.arg("-R").arg(bench.path("run")).env_clear());
    assert!(launched.is_bundle(), "{launched:?}");
    assert_eq!(launched.line("argv0"), original);
    assert_eq!(launched.line("constants"), "r--p");
}

#[test]
fn started_by_the_loader_named_on_the_command_line() {
    let Some((bench, longer)) = installed() else { return };
    let loader = "/lib64/ld-linux-x86-64.so.2";
    for original in ["/bin/p", &longer] {
        let tables = Tables { original: original.into(), ..bench.tables() };
        bench.install_at(&tables, &bench.with_names());
        let launched = launch(Command::new(loader).arg(bench.path("run")).env_clear());
        assert!(launched.is_bundle(), "{launched:?}");
        // The loader gives one text both meanings.
        assert_eq!((launched.line("argv0"), launched.line("execfn")), (original, original));
    }
}

#[test]
fn system_calls_when_nothing_changed() {
    let Some((bench, _)) = installed() else { return };
    let Some(strace) = testkit::tool("strace") else { return };
    let file = |number: &str| {
        bench.write(number, number);
        bench.record(number)
    };
    let (must, hints) = (["1", "2", "3", "4", "5"].map(file).to_vec(), ["6", "7", "8"].map(file));
    let original = "/bin/p".into();
    let relro = vec![bench.constants()];
    let tables = Tables { original, must, hints: hints.to_vec(), relro, ..bench.tables() };
    bench.install(&tables);
    let log = bench.path("log");
    let mut command = Command::new(strace);
    let command = command.arg("-o").arg(&log).arg(bench.path("run")).env_clear();
    assert!(launch(command).is_bundle());
    let log = std::fs::read_to_string(log).unwrap();
    // Eight records, the process's name, its command line, one protection; no allocations.
    let preamble = log.lines().skip_while(|line| !line.starts_with("newfstatat(AT_FDCWD"));
    let names: Vec<&str> = preamble.take(12).filter_map(|line| line.split('(').next()).collect();
    let rest = ["prctl", "brk", "prctl", "mprotect"];
    assert_eq!(names, [["newfstatat"; 8].as_slice(), &rest].concat());
}
