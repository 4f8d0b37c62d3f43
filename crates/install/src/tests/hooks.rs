//! Files that package managers and systemd read.

use super::tree::World;
use crate::placed::Placed;
use crate::{HookPlaces, UnitPlace};
use std::fs;
use std::path::Path;

fn hooks(world: &World) -> HookPlaces {
    HookPlaces {
        dpkg: Some(world.path("etc/dpkg.cfg.d")),
        pacman: Some(world.path("etc/hooks")),
        dnf: Some(world.path("etc/dnf")),
        units: None,
        renew: ["/a b/headstart", "again", "-q"].map(str::to_owned).to_vec(),
        environment: vec![("DATA".to_owned(), "/a b/50%".to_owned())],
    }
}

/// The folders that were made go with the last program; that of all programs is made again.
fn gone(world: &World) {
    Placed::forget(&world.places.state);
    fs::create_dir(&world.places.state).unwrap();
}

#[test]
fn they_are_written_once_and_all_of_them_go() {
    let Some(world) = World::new() else { return };
    let (state, hooks) = (&world.places.state, hooks(&world));
    fs::create_dir_all(state).unwrap();
    let before = world.tree();
    assert!(hooks.write(state).is_empty());
    let written = world.tree();
    let text = fs::read_to_string(world.path("etc/dpkg.cfg.d/headstart")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with('#') && lines.len() == 2, "{text}");
    assert!(lines[1].contains("'/a b/headstart' again -q >/dev/null"), "{text}");
    let text = fs::read_to_string(world.path("etc/hooks/headstart.hook")).unwrap();
    assert!(text.contains("When = PostTransaction\nExec = /bin/sh -c \""), "{text}");
    assert!(hooks.write(state).is_empty());
    assert_eq!(world.tree(), written);
    assert!(hooks.remove(state).is_empty());
    gone(&world);
    assert_eq!(world.tree(), before);
}

/// The command never fails, as dpkg would with it.
#[test]
fn a_shell_runs_them_without_an_error_whatever_becomes_of_headstart() {
    let Some(world) = World::new() else { return };
    let called = world.path("called");
    let script = format!("#!/bin/sh\necho \"$@\" >> {}\nexit 9\n", called.display());
    let program = testkit::script(&world.path("var"), "own", &script);
    let hooks =
        HookPlaces { renew: vec![program.display().to_string(), "x y".into()], ..hooks(&world) };
    fs::create_dir_all(&world.places.state).unwrap();
    hooks.write(&world.places.state);
    let text = fs::read_to_string(world.path("etc/dpkg.cfg.d/headstart")).unwrap();
    let command = text.lines().find_map(|line| line.strip_prefix("post-invoke=")).unwrap();
    let run = |action: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-ec", command]).env("DPKG_HOOK_ACTION", action);
        assert!(shell.status().unwrap().success(), "{command}");
    };
    run("unpack");
    assert!(!called.exists());
    run("configure");
    assert_eq!(fs::read_to_string(&called).unwrap(), "x y\n");
    fs::remove_file(program).unwrap();
    run("configure");
    assert_eq!(fs::read_to_string(&called).unwrap(), "x y\n");
}

#[test]
fn files_of_others_are_neither_replaced_nor_removed() {
    let Some(world) = World::new() else { return };
    let own = world.path("etc/dpkg.cfg.d/headstart");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, "no-debsig\n").unwrap();
    fs::create_dir_all(&world.places.state).unwrap();
    let notes = hooks(&world).write(&world.places.state);
    assert!(notes.len() == 1 && notes[0].contains("dpkg.cfg.d/headstart"), "{notes:?}");
    assert!(hooks(&world).remove(&world.places.state).is_empty());
    assert_eq!(fs::read_to_string(&own).unwrap(), "no-debsig\n");
}

#[test]
fn units_are_enabled_and_disabled() {
    let Some(world) = World::new() else { return };
    let called = world.path("called");
    let script = format!("#!/bin/sh\necho \"$@\" >> {}\n", called.display());
    let systemctl = testkit::script(&world.path("var"), "systemctl", &script);
    let systemctl = vec![systemctl.display().to_string(), "own".to_owned()];
    let units = Some(UnitPlace { folder: world.path("units"), systemctl });
    let hooks = HookPlaces { units, dpkg: None, pacman: None, dnf: None, ..hooks(&world) };
    fs::create_dir_all(&world.places.state).unwrap();
    let before = world.tree();
    assert!(hooks.write(&world.places.state).is_empty());
    let service = fs::read_to_string(world.path("units/headstart-renew.service")).unwrap();
    assert!(service.contains("\nEnvironment=\"DATA=/a b/50%%\"\nExecStart="), "{service}");
    assert!(service.contains("ExecStart=\"/a b/headstart\" again -q\nNice=19\n"), "{service}");
    if let Some(analyze) = testkit::find("systemd-analyze") {
        checked_by_systemd(&analyze, &world.path("units"));
    }
    assert!(hooks.remove(&world.places.state).is_empty());
    gone(&world);
    let calls = "own daemon-reload\nown enable --now headstart-renew.timer headstart-renew.path\n\
                 own disable --now headstart-renew.timer headstart-renew.path\nown daemon-reload\n";
    assert_eq!(fs::read_to_string(&called).unwrap(), calls);
    fs::remove_file(called).unwrap();
    assert_eq!(world.tree(), before);
}

/// As where it runs no longer, or headstart is not found by it.
#[test]
fn what_systemctl_has_made_goes_also_where_it_cannot_be_called() {
    let Some(world) = World::new() else { return };
    let units = world.path("units");
    let script = format!(
        "#!/bin/sh\ncd {} || exit\n\
         case \"$1\" in enable) for kind in timer path; do mkdir -p ${{kind}}s.target.wants && \
         ln -s ../headstart-renew.$kind ${{kind}}s.target.wants; done; esac\n",
        units.display()
    );
    let systemctl = testkit::script(&world.path("var"), "systemctl", &script);
    let systemctl = vec![systemctl.display().to_string()];
    let of_units = Some(UnitPlace { folder: units.clone(), systemctl });
    let plain = HookPlaces { dpkg: None, pacman: None, dnf: None, ..hooks(&world) };
    fs::create_dir_all(&world.places.state).unwrap();
    let notes = HookPlaces { units: of_units, ..plain.clone() }.write(&world.places.state);
    let link = units.join("timers.target.wants/headstart-renew.timer");
    assert!(notes.is_empty() && link.exists(), "{notes:?}");
    assert!(plain.remove(&world.places.state).is_empty());
    assert!(link.symlink_metadata().is_err());
    assert_eq!(fs::read_dir(link.parent().unwrap()).unwrap().count(), 0);
    assert!(!units.join("headstart-renew.timer").exists());
}

/// systemd understands every line of them.
fn checked_by_systemd(analyze: &Path, units: &Path) {
    let names = ["headstart-renew.service", "headstart-renew.timer", "headstart-renew.path"];
    let mut check = std::process::Command::new(analyze);
    let output = check.arg("verify").args(names.map(|name| units.join(name))).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let about = |line: &&str| line.contains("headstart-renew") && !line.contains("executable");
    let wrong: Vec<&str> = said.lines().filter(about).collect();
    assert!(wrong.is_empty(), "{said}");
}
