//! What verification lets pass, and what it finds.
#![allow(clippy::unwrap_used)]

mod bench;

use bench::{Bench, MAIN, copy, failed, terms};
use optimize::{BindingProof, Built, TrialOutcome};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// A copy with private libraries below other names in its folder.
fn with_libraries(bench: &Bench, program: &optimize::Program, folder: &Path, at: &str) -> Built {
    let place = folder.join("lib");
    fs::create_dir(&place).unwrap();
    let mut built = Built { replaced: vec![program.file.clone()], ..Built::default() };
    let mut options = vec!["-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN/lib"];
    let mut copies = Vec::new();
    for name in ["libone.so", "libtwo.so"] {
        let copy = place.join(format!("{at}{name}"));
        fs::copy(bench.path(name), &copy).unwrap();
        built.replaced.push(bench.path(name));
        copies.push((copy, bench.path(name)));
    }
    let search = format!("-L{}", place.display());
    let names = copies.iter().map(|(copy, _)| copy.file_name().unwrap().to_str().unwrap());
    let names: Vec<String> = names.map(|name| format!("-l:{name}")).collect();
    options.push(&search);
    options.extend(names.iter().map(String::as_str));
    built.run = bench.cc(folder, "run", MAIN, &options);
    built.stands_for = copies;
    built
}

#[test]
fn copies_pass() {
    let Some(bench) = Bench::new() else { return };
    let verified: [bench::Build; 3] = [
        copy,
        |bench, program, folder| Ok(with_libraries(bench, program, folder, "my-")),
        // By their names.
        |bench, program, folder| {
            let built = with_libraries(bench, program, folder, "");
            Ok(Built { stands_for: Vec::new(), ..built })
        },
    ];
    for build in verified {
        let outcome = bench.outcome(build);
        assert!(matches!(outcome, TrialOutcome::Verified(_)), "{outcome:?}");
    }
    let said = failed(bench.outcome(|bench, program, folder| {
        let built = with_libraries(bench, program, folder, "my-");
        Ok(Built { stands_for: Vec::new(), ..built })
    }));
    assert!(said.contains("it loads ") && said.contains("my-libone.so, which"), "{said}");
}

#[test]
fn other_files_are_found() {
    let Some(bench) = Bench::new() else { return };
    let said = failed(bench.outcome(|bench, program, folder| {
        let built = copy(bench, program, folder)?;
        fs::write(folder.join("part.so"), b"\x7fELF and no more").unwrap();
        Ok(built)
    }));
    assert!(said.starts_with("part.so: "), "{said}");
    let said = failed(bench.outcome(|bench, program, folder| {
        let built = copy(bench, program, folder)?;
        fs::set_permissions(&built.run, fs::Permissions::from_mode(0o644)).unwrap();
        Ok(built)
    }));
    assert!(said.contains("not executable"), "{said}");
    let said = failed(
        bench.outcome(|_, program, _| Ok(Built { run: program.file.clone(), ..Built::default() })),
    );
    assert!(said.contains("was not built"), "{said}");
    let said = failed(bench.outcome(|bench, _, folder| {
        bench.cc(folder, "libgone.so", "int gone;", &["-shared"]);
        let here = format!("-L{}", folder.display());
        let options = ["-Wl,--no-as-needed", &here, "-l:libgone.so"];
        let run = bench.cc(folder, "run", "int main(void) { return 0; }", &options);
        fs::remove_file(folder.join("libgone.so")).unwrap();
        Ok(Built { run, ..Built::default() })
    }));
    assert!(said.contains("needs a library: libgone.so"), "{said}");
}

/// It writes the same: only the bindings tell.
#[test]
fn another_definition_is_found() {
    let Some(bench) = Bench::new() else { return };
    let said = failed(bench.outcome(|bench, _, folder| {
        let run = bench.program(folder, "run", MAIN, &["libtwo.so", "libone.so"]);
        Ok(Built { run, ..Built::default() })
    }));
    let (one, two) = (bench.path("libone.so"), bench.path("libtwo.so"));
    let (one, two) = (one.display(), two.display());
    assert!(said.ends_with(&format!("binds to {two} instead of {one}")), "{said}");
}

/// A program whose bindings its builder answers for.
fn built(bench: &Bench, folder: &Path, source: &str) -> Built {
    let run = bench.program(folder, "run", source, &["libone.so", "libtwo.so"]);
    Built { run, bindings: BindingProof::ByBuilder, ..Built::default() }
}

#[test]
fn other_behavior_is_found() {
    let Some(bench) = Bench::new() else { return };
    let said = failed(bench.outcome(|bench, _, folder| {
        Ok(built(bench, folder, "int puts(const char *); int main(void) { puts(\"1 3\"); }"))
    }));
    assert!(said.contains("stdout: '1 3' instead of '1 2' in line 1"), "{said}");
    let said = failed(bench.outcome(|bench, _, folder| {
        let source = "#include <stdio.h>\nint main(void) { puts(\"1 2\");\n\
                      fputs(\"hm\\n\", stderr); return 3; }";
        Ok(built(bench, folder, source))
    }));
    assert!(said.contains("exit code 3") && said.ends_with("| hm"), "{said}");
    let said = failed(bench.outcome(|bench, _, folder| {
        Ok(built(bench, folder, "int main(void) { __builtin_trap(); }"))
    }));
    assert!(said.contains("was killed by signal"), "{said}");
}

#[test]
fn one_that_hangs_is_ended() {
    let Some(bench) = Bench::new() else { return };
    let short = optimize::Terms { timeout: Duration::from_secs(2), ..terms() };
    let started = Instant::now();
    let hangs: bench::Build =
        |bench, _, folder| Ok(built(bench, folder, "int main(void) { for (;;); }"));
    let made = [("hangs", hangs), ("copy", copy as bench::Build)];
    let (mut outcomes, _) = bench.outcomes_of(bench.command("program"), &short, &made).unwrap();
    assert!(
        matches!(outcomes.pop(), Some(TrialOutcome::Verified(_))),
        "the others are not held up"
    );
    let said = failed(outcomes.remove(0));
    assert!(said.contains("timed out"), "{said}");
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn what_it_replaces_is_not_mapped() {
    let Some(bench) = Bench::new() else { return };
    let said = failed(bench.outcome(|bench, program, folder| {
        let mut built = copy(bench, program, folder)?;
        built.replaced.push(bench.path("libone.so"));
        Ok(built)
    }));
    assert!(said.contains("maps") && said.contains("libone.so, which it replaces"), "{said}");
    // Opened by itself, later.
    let said = failed(bench.outcome(|bench, _, folder| {
        let source = format!(
            "#include <dlfcn.h>\n#include <stdio.h>\n\
             int main(void) {{ puts(\"1 2\"); return !dlopen(\"{}\", RTLD_NOW); }}",
            bench.path("libtwo.so").display()
        );
        let run = bench.cc(folder, "run", &source, &[]);
        let replaced = vec![bench.path("libtwo.so")];
        Ok(Built { run, replaced, bindings: BindingProof::ByBuilder, ..Built::default() })
    }));
    assert!(said.contains("libtwo.so, which it replaces"), "{said}");
    let said = failed(bench.outcome(|bench, program, folder| {
        let source = format!(
            "#include <unistd.h>\nint main(void) {{ execl(\"{0}\", \"{0}\", (char *)0); return 9; }}",
            program.file.display()
        );
        Ok(built(bench, folder, &source))
    }));
    assert!(said.contains("started the original program instead"), "{said}");
}

#[test]
fn the_users_test_decides() {
    let Some(bench) = Bench::new() else { return };
    let script = testkit::script(
        &bench.path(""),
        "check",
        "#!/bin/sh\ntest \"$(\"$HEADSTART_PROGRAM\")\" = '1 2' || exit 2\n\
         case $HEADSTART_VARIANT in bad) echo no good; exit 1;; esac\n",
    );
    let check = os::program::resolve(&[script.display().to_string()]).unwrap();
    let tested = optimize::Terms { check: Some(check), ..terms() };
    let made = [("bad", copy as bench::Build), ("good", copy)];
    let (mut outcomes, _) = bench.outcomes_of(bench.command("program"), &tested, &made).unwrap();
    assert!(matches!(outcomes.pop(), Some(TrialOutcome::Verified(_))));
    let said = failed(outcomes.remove(0));
    assert!(said.contains("exit code 1") && said.ends_with("| no good"), "{said}");
    let check = os::program::resolve(&["false".to_owned()]).unwrap();
    let tested = optimize::Terms { check: Some(check), ..terms() };
    let error = bench.outcomes_of(bench.command("program"), &tested, &made).err().unwrap();
    assert!(error.to_string().contains("false: it ended with exit code 1"), "{error}");
}

/// Process ids and addresses differ from launch to launch.
#[test]
fn numbers_that_differ_by_themselves_are_not_compared() {
    let Some(bench) = Bench::new() else { return };
    let source = "#include <stdio.h>\n#include <unistd.h>\n\
                  int main(void) { printf(\"%d %p\\n\", getpid(), main); fputs(\"x\", stderr); }";
    bench.program(&bench.path(""), "differs", source, &[]);
    let other: bench::Build = |bench, _, folder| {
        let source =
            "#include <stdio.h>\nint main(void) { puts(\"1 0x1\"); fputs(\"y\", stderr); }";
        Ok(built(bench, folder, source))
    };
    let made = [("copy", copy as bench::Build), ("other", other)];
    let (mut outcomes, uncompared) =
        bench.outcomes_of(bench.command("differs"), &terms(), &made).unwrap();
    let said = failed(outcomes.pop().unwrap());
    assert!(said.contains("stderr: 'y' instead of 'x'"), "{said}");
    assert!(matches!(outcomes.pop(), Some(TrialOutcome::Verified(_))), "{outcomes:?}");
    assert!(uncompared.is_empty(), "{uncompared:?}");
}

#[test]
fn a_program_may_tell_its_own_name() {
    let Some(bench) = Bench::new() else { return };
    let source = "#include <stdio.h>\nint main(int c, char **v) { printf(\"%s: fine\\n\", v[0]); }";
    bench.program(&bench.path(""), "named", source, &[]);
    let made = [("copy", copy as bench::Build)];
    let (outcomes, _) = bench.outcomes_of(bench.command("named"), &terms(), &made).unwrap();
    assert!(matches!(outcomes[0], TrialOutcome::Verified(_)), "{outcomes:?}");
    // The folder that it is in is none of its names.
    let source = "#include <libgen.h>\n#include <stdio.h>\n\
                  int main(int c, char **v) { printf(\"%s\\n\", dirname(v[0])); }";
    bench.program(&bench.path(""), "placed", source, &[]);
    let (mut outcomes, _) = bench.outcomes_of(bench.command("placed"), &terms(), &made).unwrap();
    assert!(failed(outcomes.remove(0)).contains("stdout"));
}

/// Variables in front of the command reach its variants, and the simulation of them.
#[test]
fn the_environment_is_the_commands() {
    let Some(bench) = Bench::new() else { return };
    let folder = bench.path("aside");
    fs::create_dir(&folder).unwrap();
    let source = "int aside(void) { return 0; }";
    bench.cc(&folder, "libaside.so", source, &["-shared", "-fPIC"]);
    let search = format!("-L{}", folder.display());
    let source = "int aside(void); int main(void) { return aside(); }";
    bench.cc(&bench.path(""), "wants", source, &[&search, "-l:libaside.so"]);
    let mut command = bench.command("wants");
    let made = [("copy", copy as bench::Build)];
    let error = bench.outcomes_of(command.clone(), &terms(), &made).err().unwrap();
    assert!(error.to_string().contains("libaside.so"), "{error}");
    let path = folder.display().to_string();
    command.environment.push(("LD_LIBRARY_PATH".to_owned(), Some(path.into())));
    let (outcomes, _) = bench.outcomes_of(command, &terms(), &made).unwrap();
    assert!(matches!(outcomes[0], TrialOutcome::Verified(_)), "{outcomes:?}");
}

/// The same program by another option of the linker.
fn linked(bench: &Bench, folder: &Path, option: &str) -> Built {
    let libraries = [bench.path("libone.so"), bench.path("libtwo.so")];
    let [one, two] = libraries.map(|path| path.display().to_string());
    let run = bench.cc(folder, "run", MAIN, &[&one, &two, option]);
    Built { run, ..Built::default() }
}

#[test]
fn lost_protection_is_found() {
    let Some(bench) = Bench::new() else { return };
    for (build, says) in [
        ((|b, _, f| Ok(linked(b, f, "-Wl,-z,execstack"))) as bench::Build, "stack is executable"),
        (|b, _, f| Ok(linked(b, f, "-Wl,-z,norelro")), "RELRO"),
        (|b, _, f| Ok(linked(b, f, "-no-pie")), "same addresses"),
    ] {
        let said = failed(bench.outcome(build));
        assert!(said.contains(says), "{says}: {said}");
    }
}
