//! A tree with a program, dpkg's database, and what is in it.

use crate::journal::Journal;
use crate::stop::Stop;
use crate::{Dpkg, HookPlaces, InstallPlaces, ProgramError, hash};
use model::{InstallStep, InstalledProgram, PROGRAMS_SCHEMA, ProgramPlace, ProgramVariant, text};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

pub(super) const OLD: &str = "the original";
pub(super) const NEW: &str = "the upgraded original";
pub(super) const BUNDLE: &str = "a bundle";

/// A tree of its own.
pub(super) struct World {
    folder: TempDir,
    pub(super) places: InstallPlaces,
}

impl World {
    /// With dpkg; none where that is not there.
    pub(super) fn new() -> Option<World> {
        let divert = testkit::find("dpkg-divert");
        let Some((divert, query)) = divert.zip(testkit::find("dpkg-query")) else {
            testkit::skip("there is no dpkg-divert: it is of Debian");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["usr/bin", "admin/info", "admin/updates", "var", "share"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("admin/status"), "").unwrap();
        fs::write(at("admin/lock-frontend"), "").unwrap();
        let dpkg = Some(Dpkg { divert, query, admin: at("admin") });
        let places = InstallPlaces {
            state: at("var/headstart"),
            dpkg,
            links: at("home/bin"),
            entries: vec![at("share")],
            own_entries: Some(at("home/share/applications")),
            hooks: HookPlaces::default(),
            undo: "undo".to_owned(),
            guarded: false,
            patience: Duration::from_millis(300),
        };
        let world = World { folder, places };
        fs::write(world.program(), OLD).unwrap();
        fs::set_permissions(world.program(), fs::Permissions::from_mode(0o750)).unwrap();
        let file = fs::File::open(world.program()).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000)).unwrap();
        Some(world)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn program(&self) -> PathBuf {
        self.path("usr/bin/prog")
    }

    pub(super) fn original(&self) -> PathBuf {
        self.path("usr/bin/prog.headstart-original")
    }

    pub(super) fn dpkg(&self) -> &Dpkg {
        self.places.dpkg.as_ref().unwrap()
    }

    /// The state of a program that is to be diverted.
    pub(super) fn diverted(&self) -> InstalledProgram {
        self.state(ProgramPlace::Diversion {
            original: text::text(self.original()),
            known_as: text::text(self.program()),
            package: "prog".to_owned(),
        })
    }

    /// The state of a program that is to have a link.
    pub(super) fn linked(&self) -> InstalledProgram {
        let link = text::text(self.path("home/bin/prog"));
        self.state(ProgramPlace::Folder { link, desktop_entries: Vec::new() })
    }

    fn state(&self, place: ProgramPlace) -> InstalledProgram {
        InstalledProgram {
            schema: PROGRAMS_SCHEMA,
            headstart: "0".to_owned(),
            name: "prog".to_owned(),
            program: text::text(self.program()),
            variant: ProgramVariant::Movable,
            place,
            step: InstallStep::Begun,
            launch: vec!["--version".to_owned()],
            library_path: None,
            gain: Some(0.5),
            renewed_unix_s: Some(1),
            ours: Vec::new(),
            rights: None,
        }
    }

    /// What stands for a bundle.
    pub(super) fn make(&self, journal: &Journal, content: &str) {
        fs::create_dir_all(journal.bundle()).unwrap();
        // Another file each time, as bundles are.
        let _ = fs::remove_file(journal.run());
        fs::write(journal.run(), content).unwrap();
    }

    /// The one program's journal as it is on the disk.
    pub(super) fn journal(&self) -> Option<Journal> {
        let (mut journals, unreadable) = crate::journal::all(&self.places.state).unwrap();
        assert!(unreadable.is_empty() && journals.len() < 2, "{unreadable:?}");
        journals.pop()
    }

    /// Does what the package manager does with a file of the package.
    pub(super) fn upgrade(&self) {
        let to = self.dpkg().diverted_to(&self.program()).unwrap();
        let to = to.unwrap_or_else(|| self.program());
        let new = self.path("usr/bin/prog.dpkg-new");
        fs::write(&new, NEW).unwrap();
        fs::rename(&new, &to).unwrap();
    }

    /// The same where the package is removed.
    pub(super) fn purge(&self) {
        let at = self.dpkg().diverted_to(&self.program()).unwrap();
        let _ = fs::remove_file(at.unwrap_or_else(|| self.program()));
    }

    pub(super) fn started(&self) -> String {
        fs::read_to_string(self.program()).unwrap()
    }

    /// Everything but what dpkg keeps as the version before: kind, mode, times, content.
    pub(super) fn tree(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        look(self.folder.path(), &mut found);
        found.retain(|path, _| !path.ends_with("diversions") && !path.ends_with("diversions-old"));
        found
    }

    pub(super) fn diversions(&self) -> String {
        fs::read_to_string(self.path("admin/diversions")).unwrap_or_default()
    }
}

fn look(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let data = path.symlink_metadata().unwrap();
        let facts = if data.is_dir() {
            look(&path, found);
            format!("folder {:o}", data.mode())
        } else if data.is_symlink() {
            format!("link to {}", fs::read_link(&path).unwrap().display())
        } else {
            let content = hash::of(&path).unwrap();
            format!("file {:o} {} {} {content}", data.mode(), data.uid(), data.mtime())
        };
        found.insert(path, facts);
    }
}

/// Does `work` again and again, ended at its first step, at its second, …, until it comes to its end;
/// `after` is told at which it was ended.
pub(super) fn ended_everywhere(
    mut work: impl FnMut(&Stop) -> Result<(), ProgramError>,
    mut after: impl FnMut(u32),
) -> u32 {
    for number in 0.. {
        let done = work(&Stop::at(number));
        let ended = matches!(done, Err(ProgramError::Stopped));
        assert!(ended || done.is_ok(), "{number}: {done:?}");
        after(number);
        if !ended {
            return number;
        }
    }
    unreachable!()
}
