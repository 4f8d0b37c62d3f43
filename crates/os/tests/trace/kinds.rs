//! Kinds of executable: each passes the marks that it has, in order.

use crate::support::{at, between, folder, gcc, kinds, traced};
use model::MarkKind::{self, *};
use std::path::Path;
use std::process::Command;

/// Sleeps 20 ms in a constructor, 25 in main and 30 in an exit handler.
const SLEEPER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void early(void) { usleep(20000); }
static void late(void) { usleep(30000); }
int main(int argc, char **argv) {
    atexit(late);
    usleep(25000);
    puts("done");
    return argc + 4;
}"#;

const DYNAMIC: [MarkKind; 8] =
    [ExecCalled, ExecDone, Mapped, Relocated, Entry, Main, ExitCalled, Exiting];
const STATIC: [MarkKind; 6] = [ExecCalled, ExecDone, Entry, Main, ExitCalled, Exiting];

fn check_sleeper(program: &Path, expected: &[MarkKind]) {
    let run = traced(&[program.to_str().unwrap(), "x"]);
    assert_eq!((run.code(), run.output.as_str()), (6, "done\n"));
    let image = run.image(0);
    assert_eq!(kinds(image), expected, "{image:?}");
    assert_eq!(image.notes, Vec::<String>::new());
    assert_eq!(image.argv, [program.to_str().unwrap(), "x"]);
    assert!(image.path.ends_with(program.file_name().unwrap().to_str().unwrap()));
    let before = if expected.contains(&Relocated) { Relocated } else { ExecDone };
    assert!(between(image, before, Main) > 20_000.0, "{image:?}");
    assert!(between(image, Main, ExitCalled) > 25_000.0, "{image:?}");
    assert!(between(image, ExitCalled, Exiting) > 30_000.0, "{image:?}");
    assert!(run.launch.trace.total_us > 75_000.0, "{image:?}");
}

#[test]
fn glibc_programs() {
    let folder = folder();
    for (name, flags, expected) in [
        ("pie", &["-pie", "-fPIE"][..], &DYNAMIC[..]),
        ("no-pie", &["-no-pie"], &DYNAMIC),
        ("optimised", &["-O2", "-s", "-Wl,-z,now"], &DYNAMIC),
        ("static", &["-static"], &STATIC),
        ("static-pie", &["-static-pie"], &STATIC),
    ] {
        let Some(program) = gcc(folder.path(), name, SLEEPER, flags) else { return };
        check_sleeper(&program, expected);
    }
}

#[test]
fn musl_programs() {
    let Some(musl) = testkit::tool("musl-gcc") else { return };
    let folder = folder();
    for (name, flags, expected) in
        [("dynamic", &["-O1"][..], &DYNAMIC[..]), ("static", &["-static"], &STATIC)]
    {
        let program = testkit::compile(&musl, folder.path(), name, SLEEPER, flags);
        check_sleeper(&program, expected);
    }
}

#[test]
fn a_library_is_mapped_before_musl_relocates() {
    let Some(musl) = testkit::tool("musl-gcc") else { return };
    let folder = folder();
    let library = "int table[3] = { 1, 2, 3 }; int three(void) { return table[2]; }";
    testkit::compile(&musl, folder.path(), "libthree.so", library, &["-shared", "-fPIC"]);
    let source = "int three(void); int main(void) { return three(); }";
    let path = format!("-Wl,-rpath,{}", folder.path().display());
    let program =
        testkit::compile(&musl, folder.path(), "user", source, &["-L.", "-lthree", &path]);
    let run = traced(&[program.to_str().unwrap()]);
    assert_eq!(run.code(), 3);
    assert_eq!(kinds(run.image(0)), DYNAMIC);
    // Begun by a shell of another C library, no stop shows where musl maps.
    let script = format!("{}; exit $?", program.display());
    let run = traced(&["sh", "-c", &script]);
    assert_eq!(run.code(), 3);
    let image = &run.launch.trace.processes[1].images[0];
    assert!(kinds(image).contains(&Relocated) && !kinds(image).contains(&Mapped), "{image:?}");
    assert!(image.notes[0].contains("end of mapping"), "{image:?}");
}

#[test]
fn a_stripped_static_program_keeps_main_and_loses_exit() {
    let folder = folder();
    let Some(program) = gcc(folder.path(), "stripped", SLEEPER, &["-static", "-s"]) else { return };
    let image =
        traced(&[program.to_str().unwrap()]).launch.trace.processes.remove(0).images.remove(0);
    assert_eq!(kinds(&image), [ExecCalled, ExecDone, Entry, Main, Exiting], "{image:?}");
    assert!(image.notes[0].contains("exit could not be located"), "{image:?}");
}

#[test]
fn a_program_without_a_c_library_has_its_entry() {
    let folder = folder();
    let source = r#"void _start(void) { __asm__("mov $60,%eax; mov $5,%edi; syscall"); }"#;
    let flags = ["-nostdlib", "-static", "-s"];
    let Some(program) = gcc(folder.path(), "bare", source, &flags) else { return };
    let run = traced(&[program.to_str().unwrap()]);
    assert_eq!(run.code(), 5);
    assert_eq!(kinds(run.image(0)), [ExecCalled, ExecDone, Entry, Exiting]);
    assert!(run.image(0).notes[0].contains("main could not be located: stripped static program"));
}

#[test]
fn start_code_of_its_own_is_followed_through_the_c_library() {
    let folder = folder();
    // main is in a register when the call is reached, by a way that no pattern covers.
    let source = r#"
        int main(void) { return 9; }
        __asm__(".globl _start\n_start: xor %ebp,%ebp; mov %rdx,%r9; pop %rsi; mov %rsp,%rdx;"
            "and $-16,%rsp; push %rax; push %rsp; xor %r8d,%r8d; xor %ecx,%ecx;"
            "lea main(%rip),%rax; push %rax; pop %rdi; call *__libc_start_main@GOTPCREL(%rip); hlt");"#;
    let Some(program) = gcc(folder.path(), "own", source, &["-nostartfiles"]) else { return };
    let run = traced(&[program.to_str().unwrap()]);
    assert_eq!(run.code(), 9);
    assert_eq!(kinds(run.image(0)), DYNAMIC);
}

#[test]
fn a_32_bit_program_runs_and_is_noted() {
    let folder = folder();
    let source = r#"void _start(void) { __asm__("movl $1,%eax; movl $7,%ebx; int $0x80"); }"#;
    let Some(compiler) = testkit::tool("gcc") else { return };
    let path = folder.path().join("small");
    std::fs::write(folder.path().join("small.c"), source).unwrap();
    let built = Command::new(compiler)
        .args(["-m32", "-nostdlib", "-static", "-o"])
        .args([&path, &folder.path().join("small.c")])
        .status();
    if !built.unwrap().success() || !Command::new(&path).status().is_ok_and(|s| s.code() == Some(7))
    {
        testkit::skip("32-bit programs cannot be built or run here");
        return;
    }
    let run = traced(&[path.to_str().unwrap()]);
    assert_eq!(run.code(), 7);
    assert_eq!(kinds(run.image(0)), [ExecCalled, ExecDone, Exiting]);
    assert!(run.image(0).notes[0].contains("32-bit"));
}

#[test]
fn a_program_given_to_its_loader_is_followed() {
    let folder = folder();
    let Some(program) = gcc(folder.path(), "sleeper", SLEEPER, &[]) else { return };
    let loader = traced(&[program.to_str().unwrap()]).image(0).loader.clone().unwrap();
    let run = traced(&[&loader, program.to_str().unwrap()]);
    assert_eq!((run.code(), run.output.as_str()), (5, "done\n"));
    assert_eq!(kinds(run.image(0)), DYNAMIC, "{:?}", run.image(0));
    assert!(run.image(0).notes[0].contains("running its loader directly"));
    assert!(between(run.image(0), Main, ExitCalled) > 25_000.0);
}

#[test]
fn an_audited_program_is_relocated_after_every_library_is_added() {
    let folder = folder();
    // An audit library that does nothing and is linked with nothing.
    let source = "unsigned la_version(unsigned version) { return version; }";
    let flags = ["-shared", "-fPIC", "-nostdlib"];
    let Some(audit) = gcc(folder.path(), "audit.so", source, &flags) else { return };
    let Some(program) = gcc(folder.path(), "sleeper", SLEEPER, &[]) else { return };
    let assignment = format!("LD_AUDIT={}", audit.display());
    let run = traced(&["env", &assignment, program.to_str().unwrap()]);
    assert_eq!((run.code(), run.output.as_str()), (5, "done\n"));
    let image = run.image(1);
    let expected: Vec<MarkKind> = DYNAMIC.into_iter().filter(|&kind| kind != Mapped).collect();
    assert_eq!(kinds(image), expected, "{image:?}");
    assert!(image.notes[0].contains("LD_AUDIT"), "{image:?}");
}

#[test]
fn a_set_user_id_program_is_noted() {
    let folder = folder();
    let Some(program) = gcc(folder.path(), "sleeper", SLEEPER, &[]) else { return };
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o4755);
    std::fs::set_permissions(&program, mode).unwrap();
    let run = traced(&[program.to_str().unwrap()]);
    assert_eq!(run.code(), 5);
    assert!(run.image(0).notes[0].contains("set-user-ID"), "{:?}", run.image(0));
}

#[test]
fn a_missing_library_ends_in_the_loader() {
    let folder = folder();
    let path = folder.path();
    let Some(library) = gcc(path, "libgone.so", "int gone;", &["-shared", "-fPIC"]) else { return };
    let source = "extern int gone; int main(void) { return gone; }";
    let Some(program) = gcc(path, "user", source, &["-L.", "-lgone"]) else { return };
    std::fs::remove_file(library).unwrap();
    let run = traced(&[program.to_str().unwrap()]);
    assert_eq!(run.code(), 127);
    assert_eq!(kinds(run.image(0)), [ExecCalled, ExecDone, Exiting]);
}

#[test]
fn a_go_program_has_entry_and_main() {
    let Some(go) = testkit::tool("go") else { return };
    let folder = folder();
    let source = "package main\nimport \"os\"\nfunc main() { os.Exit(3) }\n";
    std::fs::write(folder.path().join("main.go"), source).unwrap();
    let mut build = Command::new(go);
    build.args(["build", "-o", "program", "main.go"]).current_dir(folder.path());
    build.env("GOCACHE", folder.path().join("cache")).env("GO111MODULE", "off");
    assert!(build.status().unwrap().success());
    let program = folder.path().join("program");
    let run = traced(&[program.to_str().unwrap()]);
    assert_eq!(run.code(), 3);
    assert_eq!(kinds(run.image(0)), [ExecCalled, ExecDone, Entry, Main, Exiting]);
    assert!(at(run.image(0), Main) > at(run.image(0), Entry));
}
