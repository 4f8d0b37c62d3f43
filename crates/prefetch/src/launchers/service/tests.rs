//! Units made up for this, in folders of our own.

use super::super::{made, remove, test_front};
use super::*;
use crate::sample::{file, recording};
use std::os::unix::fs::symlink;
use tempfile::TempDir;

struct World {
    folder: TempDir,
    folders: UnitFolders,
    front: Front,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let folders = UnitFolders {
            search: vec![at("etc"), at("lib")],
            own: at("etc"),
            of_system: false,
            selinux: false,
        };
        for folder in &folders.search {
            std::fs::create_dir(folder).unwrap();
        }
        let headstart = at("headstart");
        std::fs::write(&headstart, "").unwrap();
        std::fs::set_permissions(&headstart, PermissionsExt::from_mode(0o755)).unwrap();
        World { folders, front: Front { headstart, ..test_front() }, folder }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> Result<ServiceUnit, InstallError> {
        read(name, &self.folders, &self.front)
    }

    /// The drop-in without its first line, with `H` for headstart's words up to the recording's.
    fn drop_in(&self, name: &str) -> String {
        let unit = self.read(name).unwrap();
        let recording = recording(vec![file("/a", &[(0, 1, 1.0)])]);
        let (installed, record) = install(&self.front, &unit, &recording).unwrap();
        assert_eq!(store::load(&record).unwrap(), recording);
        assert_eq!(made(&installed.path).unwrap(), Some(InstalledKind::DropIn));
        let text = std::fs::read_to_string(&installed.path).unwrap();
        let (headstart, record) = (self.front.headstart.display(), record.display());
        let words = format!("{headstart} ahead -q -r {record}");
        text.lines().skip(1).collect::<Vec<_>>().join("\n").replace(&words, "H")
    }

    fn refused(&self, name: &str, words: &str) {
        let error = self.read(name).unwrap_err().to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
}

#[test]
fn each_command_keeps_its_prefixes_and_its_words() {
    let world = World::new();
    world.write(
        "lib/a.service",
        "[Service]\nExecStart=/no\nExecStart=\n# c\nExecStart=-:+!!/bin/sh -c 'a b' \\\n; c\n  $A %i\n\
         ExecStart=/bin/true\n",
    );
    let wanted = "[Service]\nExecStart=\nExecStart=-:+!!H -- /bin/sh -c 'a b'  $A %i\n\
                  ExecStart=H -- /bin/true";
    assert_eq!(world.drop_in("a"), wanted);
    // Again: what headstart has put there does not count.
    assert_eq!(world.drop_in("a.service"), wanted);
    let at = world.folder.path().join("etc/a.service.d/50-headstart.conf");
    let removed = remove(std::slice::from_ref(&at)).unwrap();
    assert!(removed[0].record.is_some());
    assert_eq!(std::fs::read_dir(at.parent().unwrap()).unwrap().count(), 0);
    assert_eq!(remove(&[at]).unwrap()[0].kind, None);
}

#[test]
fn a_recording_that_an_end_has_left_behind_is_removed() {
    let world = World::new();
    world.write("lib/a.service", "[Service]\nExecStart=/bin/true\n");
    world.drop_in("a");
    let at = world.folder.path().join("etc/a.service.d/50-headstart.conf");
    std::fs::remove_file(&at).unwrap();
    assert!(remove(std::slice::from_ref(&at)).unwrap()[0].record.is_some());
    assert!(remove(&[at]).unwrap()[0].record.is_none());
}

#[test]
fn the_first_folder_and_drop_ins_before_ours_count() {
    let world = World::new();
    world.write("lib/a-b.service", "[Service]\nExecStart=/no\n");
    world.write("etc/a-b.service", "[Service]\nExecStart=/bin/a\n");
    world.write("lib/a-.service.d/10.conf", "[Service]\nExecStart=/bin/b\n");
    world.write("lib/a-b.service.d/20.conf", "[Service]\nExecStart=/no\n");
    world.write("etc/a-b.service.d/20.conf", "[Unit]\nExecStart=/no\n");
    world.write("etc/a-b.service.d/60.conf", "[Service]\nNice=3\n");
    assert_eq!(
        world.drop_in("a-b"),
        "[Service]\nExecStart=\nExecStart=H -- /bin/a\nExecStart=H -- /bin/b"
    );
    world.write("lib/a-b.service.d/override.conf", "[Service]\nExecStart=\nExecStart=/no\n");
    world.refused("a-b", "override.conf");
}

#[test]
fn where_systemd_looks_for_the_main_process_no_reader_is_left() {
    let world = World::new();
    world.write("lib/a.service", "[Service]\nType=forking\nExecStart=/bin/a\n");
    assert!(world.drop_in("a").contains("H -b -- /bin/a"));
    world.write("lib/a.service", "[Service]\nType=forking\nPIDFile=/x\nExecStart=/bin/a\n");
    assert!(world.drop_in("a").contains("H -- /bin/a"));
}

#[test]
fn units_that_cannot_have_it_are_refused_with_the_reason() {
    let world = World::new();
    for (line, words) in [
        ("", "no ExecStart"),
        ("ExecStart=/bin/a\nExecStart=", "no ExecStart"),
        ("ExecStart=@/bin/a b", "'@'"),
        ("ExecStart=-@/bin/a b", "'@'"),
        ("ExecStart=|a", "shell"),
        ("ExecStart=a", "absolute"),
        ("ExecStart=$A", "absolute"),
        ("ExecStart=/a$b", "'$'"),
        ("ExecStart=/a ; /b", "several commands"),
        ("ExecStart=/a \"b", "not closed"),
        ("ExecStart=-", "no program"),
        ("RootDirectory=/x\nExecStart=/a", "RootDirectory"),
        ("SystemCallFilter=@system-service\nExecStart=/a", "SystemCallFilter"),
        ("InaccessiblePaths=-/x /\nExecStart=/a", "InaccessiblePaths"),
    ] {
        world.write("lib/x.service", &format!("[Service]\n{line}\n"));
        world.refused("x", words);
    }
    world.write("lib/x.service", "[Service]\nRootDirectory=/x\nRootDirectory=\nExecStart=/a\n");
    assert!(world.read("x").is_ok());
    symlink("x.service", world.folder.path().join("lib/alias.service")).unwrap();
    world.refused("alias", "another name of x.service");
    symlink("/dev/null", world.folder.path().join("etc/x.service")).unwrap();
    world.refused("x", "masked");
    world.write("lib/t@.service", "[Service]\nExecStart=/a\n");
    world.refused("t@", "template");
    world.refused("t@1.service", "template");
    world.refused("x.socket", "only services");
    world.refused("../x.service", "only services");
    world.refused("gone", "not among");
}

#[test]
fn a_file_of_somebody_else_in_its_place_stays() {
    let world = World::new();
    world.write("lib/a.service", "[Service]\nExecStart=/bin/true\n");
    let unit = world.read("a").unwrap();
    for name in ["50-headstart.conf", "50-headstart.record"] {
        let path = format!("etc/a.service.d/{name}");
        world.write(&path, "[Service]\nNice=1\n");
        let refused = install(&world.front, &unit, &recording(Vec::new()));
        assert!(refused.is_err(), "{name}");
        let path = world.folder.path().join(path);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[Service]\nNice=1\n");
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn headstart_in_a_folder_of_users_is_not_for_the_systems_services() {
    let mut world = World::new();
    world.write("lib/a.service", "[Service]\nExecStart=/bin/true\n");
    world.folders.of_system = true;
    world.front.headstart = "/root/bin/headstart".into();
    world.refused("a", "ProtectHome");
    world.folders.of_system = false;
    world.write("lib/a.service", "[Service]\nProtectHome=yes\nExecStart=/bin/true\n");
    world.refused("a", "ProtectHome");
}

#[test]
fn a_program_without_a_folder_is_the_one_that_the_system_finds() {
    let mut world = World::new();
    world.write("lib/a.service", "[Service]\nExecStart=-sh -c x\n");
    world.refused("a", "absolute");
    world.folders.of_system = true;
    // Where every service can start it.
    world.front.headstart = "/bin/sh".into();
    let unit = world.read("a").unwrap();
    let found = unit.commands[0].words.clone().unwrap();
    assert!(found[0].starts_with('/') && found[0].ends_with("/sh") && found[1..] == ["-c", "x"]);
    assert_eq!(
        (unit.commands[0].prefix.as_str(), unit.commands[0].line.as_str()),
        ("-", "sh -c x")
    );
    for (line, refused) in [("Environment=PATH=/x", true), ("Environment=A=1", false)] {
        world.write("lib/a.service", &format!("[Service]\nExecStart=sh\n{line}\n"));
        assert_eq!(world.read("a").is_err(), refused, "{line}");
    }
    world.write("lib/a.service", "[Service]\nExecStart=no-such-program-x\n");
    world.refused("a", "absolute");
}

#[test]
fn where_selinux_is_in_use_the_systems_services_stay_as_they_are() {
    let mut world = World::new();
    world.write("lib/a.service", "[Service]\nExecStart=/bin/true\n");
    world.folders.selinux = true;
    world.refused("a", "SELinux");
}

#[test]
fn words_are_quoted_as_units_have_them() {
    let quoted = |word: &str| quoted(OsStr::new(word));
    assert_eq!(quoted("/a-b_c.d").unwrap(), "/a-b_c.d");
    assert_eq!(quoted("/a%i").unwrap(), "/a%%i");
    assert_eq!(quoted("/a b\\x2d\"").unwrap(), r#""/a b\\x2d\"""#);
    assert!(quoted("/a$b").is_err() && quoted("/a\nb").is_err());
}
