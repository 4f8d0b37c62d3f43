//! How the original is started, and what happens where it cannot be.

use crate::bench::{Bench, launch, named};
use startup::{Expected, FileRecord, Tables, Variable};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

/// A bundle that is stale from the first.
fn stale() -> Option<Bench> {
    let bench = Bench::new()?;
    bench.install(&stale_tables(&bench));
    Some(bench)
}

fn stale_tables(bench: &Bench) -> Tables {
    let environment = vec![Variable { name: "WANTED".into(), expected: Some("yes".into()) }];
    Tables { environment, ..bench.tables() }
}

#[test]
fn the_original_gets_arguments_and_environment() {
    let Some(bench) = stale() else { return };
    let launched = launch(&mut bench.command(&["one", "", "three"]));
    assert!(launched.is_original(), "{launched:?}");
    assert_eq!(launched.line("argv0"), bench.path("original").to_str().unwrap());
    assert_eq!(launched.stdout.matches("argument ").count(), 3);
    assert_eq!((launched.line("entries"), launched.line("counter")), ("1", "-"));
    assert_eq!(launched.stderr, "");
}

#[test]
fn another_name_is_kept() {
    let Some(bench) = stale() else { return };
    for (given, seen) in [("gcc", "gcc"), ("/x/runner", "/x/runner"), ("", "")] {
        let launched = launch(named(&mut bench.command(&[]), given));
        assert_eq!(launched.line("argv0"), seen);
    }
    for own in ["run", "./run", "/run", "a/b/run"] {
        let launched = launch(named(&mut bench.command(&[]), own));
        assert_eq!(launched.line("argv0"), bench.path("original").to_str().unwrap(), "{own}");
    }
}

/// A program that executes itself where the bundle is stale by then.
#[test]
fn the_original_is_given_what_a_program_gives_itself() {
    let Some(bench) = Bench::new() else { return };
    let tables = Tables { original_file: bench.path("file"), ..stale_tables(&bench) };
    bench.install(&tables);
    let again = |executed: &str, name: &str, stale: &str| {
        let mut command = bench.command(&["stale", executed, name, "one", ""]);
        command.env("WANTED", "yes").env("HEADSTART_STALE", stale);
        launch(&mut command)
    };
    for (executed, path, other) in
        [("/proc//self/exe", "original", "file"), ("/proc/self//exe", "file", "original")]
    {
        // Only the path that was executed leads to a program.
        if bench.path(other).exists() {
            fs::rename(bench.path(other), bench.path(path)).unwrap();
        }
        for name in ["run", "x/run", "./run", "other", ""] {
            let launched = again(executed, name, "123");
            assert!(launched.is_original(), "{executed} {launched:?}");
            assert_eq!((launched.line("argv0"), launched.line("counter")), (name, "123"));
            assert_eq!(launched.stdout.matches("argument ").count(), 2);
        }
        let refusal = format!(
            "headstart: {}: WANTED is not what it was when the bundle was made, and ",
            bench.path(path).display()
        );
        let launched = again(executed, "run", "never");
        assert!(launched.refusal().starts_with(&(refusal.clone() + "HEADSTART_STALE is set")));
        let moved = bench.path("moved");
        fs::rename(bench.path(path), &moved).unwrap();
        fs::hard_link(bench.path("run"), bench.path(path)).unwrap();
        let launched = again(executed, "run", "123");
        assert!(launched.refusal().starts_with(&(refusal.clone() + "the bundle itself")));
        fs::remove_file(bench.path(path)).unwrap();
        bench.write("script", "#!/bin/sh\necho counter $HEADSTART_STALE\n");
        bench.place_executable("script", path);
        assert_eq!(again(executed, "run", "123").line("counter"), "124");
        assert!(again(executed, "run", "500").refusal().contains("again 500 times"));
        fs::remove_file(bench.path(path)).unwrap();
        assert!(
            again(executed, "run", "123").refusal().contains("the original program is missing")
        );
        fs::rename(&moved, bench.path(path)).unwrap();
    }
}

#[test]
fn the_original_is_missing() {
    let Some(bench) = stale() else { return };
    fs::remove_file(bench.path("original")).unwrap();
    let original = bench.path("original");
    let expected = format!(
        "headstart: {}: WANTED is not what it was when the bundle was made, and the original \
         program is missing: install it again, or remove the bundle",
        original.to_str().unwrap()
    );
    assert_eq!(bench.launch().refusal(), expected);
}

#[test]
fn the_original_cannot_be_executed() {
    let Some(bench) = stale() else { return };
    let path = bench.path("original");
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let launched = bench.launch();
    assert!(launched.refusal().contains("may not be executed: permit it"), "{launched:?}");
    bench.write("no-program", "no program");
    bench.place_executable("no-program", "original");
    let launched = bench.launch();
    assert!(launched.refusal().contains("is not a program: put the original back"), "{launched:?}");
    bench.write("script", "#!/nonexistent\n");
    bench.place_executable("script", "original");
    let launched = bench.launch();
    assert!(
        launched.refusal().contains("interpreter of the original program is missing"),
        "{launched:?}"
    );
}

#[test]
fn the_changed_file_is_named() {
    let Some(bench) = Bench::new() else { return };
    let must = vec![bench.record("original"), bench.record("absent")];
    bench.install(&Tables { must, ..bench.tables() });
    let absent = bench.write("absent", "");
    fs::remove_file(bench.path("original")).unwrap();
    let launched = bench.launch();
    let original = format!("{} is not what it was", bench.path("original").display());
    assert!(launched.refusal().contains(&original), "{launched:?}");
    fs::create_dir(bench.path("original")).unwrap();
    let nothing = FileRecord { path: absent.clone(), expected: Expected::Absent };
    let must = vec![bench.record("original"), nothing];
    let launched = bench.launch_with(&Tables { must, ..bench.tables() });
    let named = format!("{} is not what it was", absent.display());
    assert!(launched.refusal().contains(&named), "{launched:?}");
}

#[test]
fn the_bundle_in_the_place_of_the_original() {
    let Some(bench) = stale() else { return };
    // The file itself, by another name of it, and by a link to it.
    for make in [hard_link, symbolic_link] {
        let _ = fs::remove_file(bench.path("original"));
        make(&bench);
        let launched = bench.launch();
        let text = "and the bundle itself stands in the original program's place: ";
        assert!(launched.refusal().contains(text), "{launched:?}");
    }
    bench.install(&Tables { original: bench.path("run"), ..stale_tables(&bench) });
    assert!(bench.launch().refusal().contains("the bundle itself"));
}

fn hard_link(bench: &Bench) {
    fs::hard_link(bench.path("run"), bench.path("original")).unwrap();
}

fn symbolic_link(bench: &Bench) {
    symlink("run", bench.path("original")).unwrap();
}

#[test]
fn an_original_that_only_starts_the_bundle_again() {
    let Some(bench) = stale() else { return };
    for script in ["exec \"$0-run\" \"$@\"", "\"$0-run\" \"$@\"; exit $?"] {
        let _ = fs::remove_file(bench.path("original-run"));
        fs::hard_link(bench.path("run"), bench.path("original-run")).unwrap();
        bench.write("script", &format!("#!/bin/sh\n{script}\n"));
        bench.place_executable("script", "original");
        let launched = bench.launch();
        let text = "has started the bundle again 500 times: ";
        assert!(launched.refusal().contains(text), "{launched:?}");
    }
}

/// A program as make, which starts itself by the path of its stale bundle: it was taken for a loop
/// at the 27th.
#[test]
fn a_program_may_start_the_bundle_again_as_often_as_it_likes() {
    let (Some(bench), Some(cc)) = (stale(), testkit::tool("cc")) else { return };
    let source = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <sys/wait.h>\n\
        int main(int count, char **words) { int left = atoi(words[1]); char next[20]; int code;\n\
        if (!left) return puts(getenv(\"HEADSTART_STALE\") ? \"counted\" : \"ended\") < 0;\n\
        sprintf(next, \"%d\", left - 1);\n\
        if (left % 2 || !fork()) return execl(words[2], \"run\", next, words[2], (char *)0);\n\
        wait(&code); return code != 0; }";
    testkit::compile(&cc, &bench.path(""), "original", source, &["-w"]);
    let launched = launch(&mut bench.command(&["600", bench.path("run").to_str().unwrap()]));
    assert_eq!((launched.stdout.as_str(), launched.status.code()), ("ended\n", Some(0)));
    // A script in between that ends by itself.
    bench.write(
        "script",
        "#!/bin/sh\n[ $1 = 0 ] && echo $HEADSTART_STALE && exit\n./run $(($1 - 1))\n",
    );
    bench.place_executable("script", "original");
    let launched = launch(&mut bench.command(&["100"]));
    assert_eq!((launched.stdout.as_str(), launched.status.code()), ("101\n", Some(0)));
}

#[test]
fn starts_of_a_script_are_counted() {
    let Some(bench) = stale() else { return };
    let with = |value: &str| launch(bench.command(&[]).env("HEADSTART_STALE", value));
    // A program is not counted.
    assert_eq!((with("007").line("counter"), with("999").line("counter")), ("007", "999"));
    bench.write("script", "#!/bin/sh\necho counter $HEADSTART_STALE\n");
    bench.place_executable("script", "original");
    assert_eq!(launch(&mut bench.command(&[])).line("counter"), "001");
    for (before, after) in [("001", "002"), ("009", "010"), ("199", "200"), ("499", "500")] {
        assert_eq!(with(before).line("counter"), after);
    }
    assert!(with("500").refusal().contains("started the bundle again 500 times"));
    // What is no script, program or bundle is the kernel's business.
    bench.write("script", "x");
    bench.place_executable("script", "original");
    assert!(with("001").refusal().contains("is not a program: "));
}

#[test]
fn the_original_can_be_forbidden() {
    let Some(bench) = stale() else { return };
    let with = |value: &str| launch(bench.command(&[]).env("HEADSTART_STALE", value));
    for value in ["never", "", "01", "0001", "00x", "-01"] {
        let launched = with(value);
        let text = "WANTED is not what it was when the bundle was made, and HEADSTART_STALE is set";
        assert!(launched.refusal().contains(text), "{value} {launched:?}");
    }
    // Nobody else minds it.
    let mut command = bench.command(&[]);
    assert!(launch(command.env("HEADSTART_STALE", "never").env("WANTED", "yes")).is_bundle());
}
