//! What the process takes itself for.

use crate::bench::{Bench, launch, named};
use os::startup_guard::Tables;
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
            // The kernel's copy, where there is room: slashes before a path change nothing.
            let filled = |text: &str| format!("{text:/>width$}", width = own.len());
            let fits = [&original, comm].into_iter().find(|text| text.len() <= own.len());
            let seen = fits.map_or(own.to_owned(), filled);
            assert_eq!(launched.line("command line"), format!("{seen} report one  3"));
            assert_eq!(launched.line("comm"), &comm[..comm.len().min(15)]);
        }
    }
}

#[test]
fn the_command_line_shows_the_originals_name_where_it_has_room() {
    let Some((bench, _)) = installed() else { return };
    std::fs::create_dir(bench.path("x")).unwrap();
    symlink("../run", bench.path("x/run")).unwrap();
    let folder = tempfile::Builder::new().prefix("s").rand_bytes(3).tempdir_in("/tmp").unwrap();
    let short = folder.path().join("run");
    symlink(bench.path("run"), &short).unwrap();
    let (short, long) = (short.to_str().unwrap(), bench.path("run"));
    let long = long.to_str().unwrap();
    let folder = format!("/{}/", "f".repeat(long.len()));
    let seen = |base: &str, own: &str| {
        let tables = Tables { original: format!("{folder}{base}").into(), ..bench.tables() };
        bench.install(&tables);
        let mut command = Command::new(own);
        let arguments = ["report", "2", "", "four"];
        let launched = launch(command.args(arguments).env_clear().current_dir(bench.path("")));
        assert!(launched.is_bundle(), "{launched:?}");
        assert_eq!(launched.line("argv0"), format!("{folder}{base}"));
        assert_eq!(launched.line("in a row"), "1");
        let line = launched.line("command line");
        line.strip_suffix(" report 2  four").unwrap().to_owned()
    };
    assert_eq!(seen("name", "./run"), "/name");
    assert_eq!(seen("inner", "x/run"), "inner");
    assert_eq!(seen("longer", "x/run"), "x/run");
    for own in [short, long] {
        assert_eq!(seen("inkscape", own), format!("{:/>width$}", "inkscape", width = own.len()));
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
fn without_randomised_addresses() {
    let Some((bench, original)) = installed() else { return };
    let Some(setarch) = testkit::tool("setarch") else { return };
    let names = Some(bench.names());
    bench.install(&Tables { names, relro: vec![bench.constants()], ..bench.tables() });
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
        let names = Some(bench.names());
        bench.install(&Tables { names, original: original.into(), ..bench.tables() });
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
    // Eight records, one protection, the process's name; neither copies nor allocations.
    let guard = log.lines().skip_while(|line| !line.starts_with("newfstatat(AT_FDCWD"));
    let names: Vec<&str> = guard.take(10).filter_map(|line| line.split('(').next()).collect();
    assert_eq!(names, [["newfstatat"; 8].as_slice(), &["prctl", "mprotect"]].concat());
}
