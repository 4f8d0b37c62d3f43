//! `headstart install`, `renew`, `list` and `remove`, for a user with a home folder of its own. What root
//! does on Debian is tested in the crate, and on whole systems by hand.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, stderr, stdout};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use testkit::WhenFree;

/// Calls a function of each of its libraries, so that a bundle of it is faster.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
CALLS
int main(int count, char **words) {
    int sum = 0;
    SUM
    char own[4096] = "";
    if (readlink("/proc/self/exe", own, sizeof own - 1) < 0) return 1;
    if (count > 1 && !strcmp(words[1], "--version")) printf("prog %d\n", sum);
    else printf("%s %s %d\n", words[0], own, sum);
    return 0;
}"#;
const LIBRARIES: usize = 40;

/// A home folder, and a program with libraries in a folder of its own.
struct World {
    folder: TempDir,
    cc: PathBuf,
}

impl World {
    fn new() -> Option<World> {
        let cc = testkit::tool("cc")?;
        let world = World { folder: tempfile::tempdir().unwrap(), cc };
        for name in ["home", "programs"] {
            fs::create_dir(world.path(name)).unwrap();
        }
        for number in 0..LIBRARIES {
            world.library(number, number);
        }
        let calls: String = (0..LIBRARIES).map(|n| format!("int f{n}(void);\n")).collect();
        let sum: String = (0..LIBRARIES).map(|n| format!("sum += f{n}();\n")).collect();
        let source = PROGRAM.replace("CALLS", &calls).replace("SUM", &sum);
        let names: Vec<String> = (0..LIBRARIES).map(|n| format!("-lf{n}")).collect();
        let folder = format!("-L{}", world.path("programs").display());
        let mut options = vec!["-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN", folder.as_str()];
        options.extend(names.iter().map(String::as_str));
        testkit::compile(&world.cc, &world.path("programs"), "prog", &source, &options);
        Some(world)
    }

    /// A library whose function returns `value`.
    fn library(&self, number: usize, value: usize) {
        let source = format!("int f{number}(void) {{ return {value}; }}\n");
        let (name, folder) = (format!("libf{number}.so"), self.path("programs"));
        testkit::compile(&self.cc, &folder, &name, &source, &["-shared", "-fPIC"]);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `home/.local/bin` comes ahead of the program's folder.
    fn search(&self) -> String {
        let folders = [self.path("home/.local/bin"), self.path("programs")];
        let own = folders.map(|folder| folder.display().to_string()).join(":");
        format!("{own}:{}", std::env::var("PATH").unwrap())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = headstart(self.folder.path(), arguments);
        command.env("HOME", self.path("home")).env("PATH", self.search());
        command.env_remove("XDG_DATA_HOME").env_remove("XDG_RUNTIME_DIR");
        // Cargo sets it.
        command.env_remove("LD_LIBRARY_PATH");
        command.env("XDG_DATA_DIRS", self.path("share"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output_when_free()
    }

    fn json(&self, arguments: &[&str]) -> (Value, Option<i32>) {
        let output = self.run(&[arguments, &["--user", "--json"]].concat());
        let text = stdout(&output);
        let value = serde_json::from_str(&text);
        let value = value.unwrap_or_else(|error| panic!("{error}: {text}{}", stderr(&output)));
        (value, output.status.code())
    }

    fn install(&self) -> Value {
        let (report, code) = self.json(&["install", "prog"]);
        assert_eq!(
            (&report["programs"][0]["outcome"], code),
            (&"installed".into(), Some(0)),
            "{report}"
        );
        report
    }

    /// What the program says when it is started by its name, and whether the bundle was used.
    fn started(&self) -> (String, bool) {
        let mut command = Command::new("sh");
        command.args(["-c", "exec prog x"]).env("PATH", self.search()).env("HEADSTART_TRACE", "1");
        command.env_remove("LD_LIBRARY_PATH");
        let output = command.output_when_free();
        assert!(output.status.success(), "{}", stderr(&output));
        (stdout(&output), stderr(&output).contains("the bundle is used"))
    }

    fn home(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        look(&self.path("home"), &mut found);
        found
    }
}

fn look(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let data = path.symlink_metadata().unwrap();
        if data.is_dir() {
            look(&path, found);
        }
        let content =
            if data.is_file() { fs::read_to_string(&path).unwrap() } else { String::new() };
        found.insert(path, format!("{:o} {content}", data.permissions().mode()));
    }
}

#[test]
fn a_program_is_started_as_itself_renewed_after_a_change_and_removed_without_a_trace() {
    let Some(world) = World::new() else { return };
    let entry = "[Desktop Entry]\nType=Application\nName=p\nExec=prog %F\n";
    fs::create_dir_all(world.path("share/applications")).unwrap();
    fs::write(world.path("share/applications/p.desktop"), entry).unwrap();
    let before = world.home();
    let report = world.install();
    let program = world.path("programs/prog").display().to_string();
    assert_eq!(report["programs"][0]["program"], program);
    assert!(report["programs"][0]["gain"].as_f64().unwrap() < 1.0, "{report}");
    let copy = fs::read_to_string(world.path("home/.local/share/applications/p.desktop")).unwrap();
    let link = world.path("home/.local/bin/prog").display().to_string();
    assert!(copy.contains(&format!("Exec={link} %F")), "{copy}");
    let sum: usize = (0..LIBRARIES).sum();
    let own = format!("{program} {program} {sum}\n");
    assert_eq!(world.started(), (own, true));
    // It is installed already, by whatever name it is found.
    let (report, _) = world.json(&["install", &program]);
    assert_eq!(report["programs"][0]["outcome"], "present");
    world.library(3, 1003);
    let own = format!("{program} {program} {}\n", sum + 1000);
    let (said, used) = world.started();
    assert!(said.ends_with(&format!(" {}\n", sum + 1000)) && !used, "{said}");
    let (list, _) = world.json(&["list"]);
    let listed = &list["programs"][0];
    assert_eq!((&listed["used"], &listed["name"]), (&false.into(), &"prog".into()));
    assert!(listed["reason"].as_str().unwrap().contains("libf3.so"), "{listed}");
    let (report, code) = world.json(&["renew"]);
    assert_eq!((&report["programs"][0]["outcome"], code), (&"renewed".into(), Some(0)), "{report}");
    assert_eq!(world.started(), (own, true));
    let (report, _) = world.json(&["renew", "prog"]);
    assert_eq!(report["programs"][0]["outcome"], "fresh");
    let (report, code) = world.json(&["remove", "prog"]);
    assert_eq!((&report["programs"][0]["outcome"], code), (&"removed".into(), Some(0)));
    assert_eq!(world.home(), before);
}

#[test]
fn a_program_at_fixed_addresses_gets_others_at_each_renewal() {
    let Some(world) = World::new() else { return };
    let before = world.home();
    let (report, _) = world.json(&["install", "--fixed", "prog"]);
    assert_eq!(report["programs"][0]["variant"], "fixed", "{report}");
    let run = world.path("home/.local/share/headstart/prog/bundle/run");
    let old = fs::read(&run).unwrap();
    let (report, _) = world.json(&["renew"]);
    assert_eq!(report["programs"][0]["outcome"], "moved", "{report}");
    assert!(fs::read(&run).unwrap() != old && world.started().1);
    assert!(world.run(&["remove", "--user", "--all"]).status.success());
    assert_eq!(world.home(), before);
}

/// `cp` writes through a link, and to the other name of a file.
#[test]
fn a_program_that_somebody_has_written_over_a_bundle_is_not_lost() {
    let Some(world) = World::new() else { return };
    let before = world.home();
    world.install();
    let run = world.path("home/.local/share/headstart/prog/bundle/run");
    fs::write(world.path("home/.local/bin/prog"), "#!/bin/sh\necho own\n").unwrap();
    for verb in ["renew", "remove"] {
        let (report, code) = world.json(&[verb, "prog"]);
        let one = &report["programs"][0];
        assert_eq!((&one["outcome"], code), (&"failed".into(), Some(6)), "{report}");
        assert!(one["reason"].as_str().unwrap().contains("written another program"), "{report}");
        assert_eq!(world.started().0, "own\n");
    }
    let (list, _) = world.json(&["list"]);
    let reason = list["programs"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("written another program"), "{list}");
    fs::remove_file(&run).unwrap();
    let (report, _) = world.json(&["renew"]);
    assert_eq!(report["programs"][0]["outcome"], "renewed", "{report}");
    assert!(world.started().1);
    assert!(world.run(&["remove", "--user", "--all"]).status.success());
    assert_eq!(world.home(), before);
}

#[test]
fn what_is_installed_is_not_installed_in_another_way_in_silence() {
    let Some(world) = World::new() else { return };
    let before = world.home();
    world.install();
    let (report, _) = world.json(&["install", "prog"]);
    assert_eq!(report["programs"][0]["outcome"], "present", "{report}");
    for options in [&["--fixed"][..], &["--library-path", "/nowhere"], &["--launch", "x"]] {
        let (report, code) = world.json(&[&["install"], options, &["prog"]].concat());
        let one = &report["programs"][0];
        assert_eq!((&one["outcome"], code), (&"declined".into(), Some(1)), "{report}");
        assert!(one["reason"].as_str().unwrap().contains("other options"), "{report}");
    }
    fs::remove_file(world.path("home/.local/bin/prog")).unwrap();
    let (report, code) = world.json(&["install", "prog"]);
    assert_eq!((&report["programs"][0]["outcome"], code), (&"failed".into(), Some(6)), "{report}");
    assert!(world.run(&["remove", "--user", "--all"]).status.success());
    assert_eq!(world.home(), before);
}

/// Its link is what is left, and is in nobody's way.
#[test]
fn a_program_whose_state_is_gone_is_installed_again() {
    let Some(world) = World::new() else { return };
    world.install();
    fs::remove_dir_all(world.path("home/.local/share/headstart")).unwrap();
    world.install();
    assert!(world.started().1);
    assert!(world.run(&["remove", "--user", "--all"]).status.success());
}

/// It may be on a disk that is not there now.
#[test]
fn a_program_whose_original_is_not_there_stays_installed() {
    let Some(world) = World::new() else { return };
    let before = world.home();
    world.install();
    let program = world.path("programs/prog");
    fs::rename(&program, world.path("away")).unwrap();
    let (report, code) = world.json(&["renew"]);
    let one = &report["programs"][0];
    assert_eq!((&one["outcome"], code), (&"failed".into(), Some(6)), "{report}");
    assert!(one["reason"].as_str().unwrap().contains("not there now"), "{report}");
    let (list, _) = world.json(&["list"]);
    let reason = list["programs"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("not there"), "{list}");
    fs::rename(world.path("away"), &program).unwrap();
    let (report, _) = world.json(&["renew"]);
    assert_eq!(report["programs"][0]["outcome"], "renewed", "{report}");
    assert!(world.run(&["remove", "--user", "--all"]).status.success());
    assert_eq!(world.home(), before);
}

/// A kill may leave a bundle that nobody has verified.
#[test]
fn a_bundle_that_was_not_verified_is_made_again() {
    let Some(world) = World::new() else { return };
    let before = world.home();
    world.install();
    let folder = world.path("home/.local/share/headstart/prog");
    let (out, program) = (folder.join("bundle"), world.path("programs/prog"));
    let (out, program) = (out.display().to_string(), program.display().to_string());
    let made = world.run(&["bundle", "--outside", "libf0.so", "--out", &out, &program]);
    assert!(made.status.success(), "{}", stderr(&made));
    fs::create_dir(folder.join("next")).unwrap();
    assert!(world.started().1);
    let (report, code) = world.json(&["renew"]);
    let one = &report["programs"][0];
    assert_eq!((&one["outcome"], code), (&"renewed".into(), Some(0)), "{report}");
    assert!(one["reason"].as_str().unwrap().contains("not verified"), "{report}");
    assert!(world.started().1 && !folder.join("next").exists());
    let (report, _) = world.json(&["renew"]);
    assert_eq!(report["programs"][0]["outcome"], "fresh");
    assert!(world.run(&["remove", "--user", "--all"]).status.success());
    assert_eq!(world.home(), before);
}

/// As scripts do that set it for the program that they start.
#[test]
fn a_program_for_launches_with_a_library_path_is_used_in_these() {
    let Some(world) = World::new() else { return };
    let before = world.home();
    let folder = world.path("libraries");
    fs::create_dir(&folder).unwrap();
    world.library(0, 500);
    fs::rename(world.path("programs/libf0.so"), folder.join("libf0.so")).unwrap();
    world.library(0, 0);
    let path = folder.display().to_string();
    // The program's own DT_RUNPATH comes after the variable.
    let (report, code) = world.json(&["install", "--library-path", &path, "prog"]);
    assert_eq!(
        (&report["programs"][0]["outcome"], code),
        (&"installed".into(), Some(0)),
        "{report}"
    );
    let sum: usize = (0..LIBRARIES).sum();
    let (said, used) = world.started();
    assert!(!used && said.ends_with(&format!(" {sum}\n")), "{said}");
    let mut command = Command::new(world.path("home/.local/bin/prog"));
    command.arg("x").env("LD_LIBRARY_PATH", &path).env("HEADSTART_TRACE", "1");
    let output = command.output_when_free();
    assert!(stdout(&output).ends_with(&format!(" {}\n", sum + 500)), "{}", stdout(&output));
    assert!(stderr(&output).contains("the bundle is used"), "{}", stderr(&output));
    let (list, _) = world.json(&["list"]);
    assert_eq!(list["programs"][0]["used"], true, "{list}");
    let (report, _) = world.json(&["renew"]);
    assert_eq!(report["programs"][0]["outcome"], "fresh", "{report}");
    world.library(3, 1003);
    let (report, _) = world.json(&["renew"]);
    assert_eq!(report["programs"][0]["outcome"], "renewed", "{report}");
    let output = command.output_when_free();
    assert!(stderr(&output).contains("the bundle is used"), "{}", stderr(&output));
    assert!(world.run(&["remove", "--user", "--all"]).status.success());
    assert_eq!(world.home(), before);
}

/// A program of a package may become a script in a newer version.
#[test]
fn a_program_that_became_a_script_is_taken_out() {
    let Some(world) = World::new() else { return };
    let before = world.home();
    world.install();
    let programs = world.path("programs");
    fs::remove_file(programs.join("prog")).unwrap();
    testkit::script(&programs, "prog", "#!/bin/sh\necho script\n");
    let (report, code) = world.json(&["renew"]);
    let one = &report["programs"][0];
    assert_eq!((&one["outcome"], code), (&"declined".into(), Some(1)), "{report}");
    assert_eq!(world.started().0, "script\n");
    assert_eq!(world.home(), before);
}

#[test]
fn what_cannot_be_installed_is_declined_and_leaves_nothing() {
    let Some(world) = World::new() else { return };
    let before = world.home();
    let programs = world.path("programs");
    let script = testkit::script(&programs, "script", "#!/bin/sh\necho $0\n");
    let privileged = programs.join("privileged");
    fs::copy(programs.join("prog"), &privileged).unwrap();
    fs::set_permissions(&privileged, fs::Permissions::from_mode(0o4755)).unwrap();
    let named_shell = programs.join("bash");
    fs::copy(programs.join("prog"), &named_shell).unwrap();
    let failing =
        testkit::compile(&world.cc, &programs, "failing", "int main() { return 3; }", &[]);
    let own = PathBuf::from(env!("CARGO_BIN_EXE_headstart"));
    let cases = [
        (&script, "script"),
        (&privileged, "set-user-ID"),
        (&named_shell, "repair"),
        (&failing, "exit code 3"),
        (&own, "headstart itself"),
    ];
    for (program, words) in cases {
        let (report, code) = world.json(&["install", &program.display().to_string()]);
        let one = &report["programs"][0];
        assert!(one["reason"].as_str().unwrap().contains(words), "{words}: {report}");
        assert_eq!((&one["outcome"], code), (&"declined".into(), Some(1)), "{report}");
    }
    let said = stdout(&world.run(&["install", "--user", &failing.display().to_string()]));
    assert!(said.contains("--launch ARGUMENTS"), "{said}");
    assert_eq!(world.home(), before);
}

#[test]
fn a_file_of_the_users_own_is_not_replaced() {
    let Some(world) = World::new() else { return };
    let own = world.path("home/.local/bin/prog");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, "own").unwrap();
    let before = world.home();
    let (report, code) =
        world.json(&["install", &world.path("programs/prog").display().to_string()]);
    assert_eq!((&report["programs"][0]["outcome"], code), (&"failed".into(), Some(6)), "{report}");
    assert_eq!(world.home(), before);
    let other = world.path("other").display().to_string();
    let (report, _) = world.json(&[
        "install",
        "--into",
        &other,
        &world.path("programs/prog").display().to_string(),
    ]);
    assert_eq!(report["programs"][0]["outcome"], "installed", "{report}");
    assert!(report["programs"][0]["notes"][0].as_str().unwrap().contains("PATH="), "{report}");
    assert!(world.run(&["remove", "--user", &format!("{other}/prog")]).status.success());
    assert_eq!(world.home(), before);
}

#[test]
fn two_at_once_both_succeed() {
    let Some(world) = World::new() else { return };
    fs::copy(world.path("programs/prog"), world.path("programs/prog2")).unwrap();
    let mut first = world.command(&["install", "--user", "prog"]);
    let mut first = first.stdout(Stdio::null()).spawn().unwrap();
    let second = world.run(&["install", "--user", "prog2"]);
    assert!(first.wait().unwrap().success() && second.status.success(), "{}", stderr(&second));
    let (list, _) = world.json(&["list"]);
    let names: Vec<_> =
        list["programs"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["prog", "prog2"]);
    assert!(world.run(&["remove", "--user", "--all"]).status.success());
}

#[test]
fn a_killed_installation_is_undone_by_the_next_renewal() {
    let Some(world) = World::new() else { return };
    let before = world.home();
    let state = world.path("home/.local/share/headstart/prog/state.json");
    let mut installing = world.command(&["install", "--user", "prog"]).spawn().unwrap();
    common::wait_for("the first state", || state.exists());
    installing.kill().unwrap();
    installing.wait().unwrap();
    let (list, _) = world.json(&["list"]);
    let reason = list["programs"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("interrupted"), "{list}");
    assert!(world.started().0.ends_with(&format!("{}\n", (0..LIBRARIES).sum::<usize>())));
    let (report, code) = world.json(&["renew"]);
    assert_eq!((&report["programs"][0]["outcome"], code), (&"removed".into(), Some(0)), "{report}");
    assert_eq!(world.home(), before);
}

#[test]
fn an_environment_that_changes_what_programs_load_is_refused() {
    let Some(world) = World::new() else { return };
    let before = world.home();
    for verb in [&["install", "--user", "prog"][..], &["renew", "--user"]] {
        let output = world.command(verb).env("LD_LIBRARY_PATH", "/nowhere").output_when_free();
        let said = stderr(&output);
        assert!(
            output.status.code() == Some(6) && said.contains("LD_LIBRARY_PATH is set"),
            "{said}"
        );
    }
    assert_eq!(world.home(), before);
}

#[test]
fn what_is_not_installed_is_no() {
    let Some(world) = World::new() else { return };
    for verb in ["renew", "remove"] {
        let (report, code) = world.json(&[verb, "prog"]);
        assert_eq!(
            (&report["programs"][0]["outcome"], code),
            (&"declined".into(), Some(1)),
            "{report}"
        );
    }
    let output = world.run(&["list", "--user"]);
    assert_eq!(
        (stdout(&output).as_str(), output.status.code()),
        ("No program is installed.\n", Some(0))
    );
    let output = world.run(&["remove"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}
