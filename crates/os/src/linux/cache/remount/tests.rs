//! A real file system on a loop device, mounted anew.

use super::*;
use rustix::mount::MountFlags;
use std::process::Command;

const IMAGE_BYTES: u64 = 16 << 20;

/// A file system in a file, mounted until the end of a test.
struct Disk {
    folder: tempfile::TempDir,
}

fn runs(program: &str, words: &[&str]) -> bool {
    Command::new(program).args(words).output().is_ok_and(|done| done.status.success())
}

impl Disk {
    /// `None`, said loudly, where there is no loop device.
    fn mount(options: &str) -> Option<Disk> {
        let skip = |what: &str| {
            testkit::skip(what);
            None
        };
        if !geteuid().is_root() {
            return skip("mounting needs root");
        }
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk { folder };
        std::fs::create_dir(disk.point()).unwrap();
        let image = disk.folder.path().join("image");
        File::create(&image).unwrap().set_len(IMAGE_BYTES).unwrap();
        let (image, point) = (image.display().to_string(), disk.point().display().to_string());
        let made = runs("mkfs.ext4", &["-q", "-F", &image])
            && runs("mount", &["-o", &format!("loop,{options}"), &image, &point]);
        if made { Some(disk) } else { skip("no loop device can be mounted here") }
    }

    fn point(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("a disk")
    }

    /// As the kernel lists it, but for numbers that change.
    fn listed(&self) -> (PathBuf, String, usize, String) {
        let all = mount_points().unwrap();
        let own = all.into_iter().find(|mount| mount.point == self.point()).unwrap();
        (own.source, own.options, own.propagation.len(), own.file_system_options)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        runs("umount", &[&self.point().display().to_string()]);
    }
}

/// Mounts anew. Other tests make namespaces that hold everything for a moment, which is waited for.
fn patient(files: &[&Path]) -> Result<Vec<PathBuf>, RemountError> {
    while_held(files, &["mounts the same file system", "still held"])
}

/// The same where nobody uses the file system on purpose: a process that another test has just forked has its files
/// open until it executes its program.
fn unused(files: &[&Path]) -> Vec<PathBuf> {
    let held = ["mounts the same file system", "still held", "it is in use"];
    while_held(files, &held).unwrap()
}

fn while_held(files: &[&Path], held: &[&str]) -> Result<Vec<PathBuf>, RemountError> {
    let began = std::time::Instant::now();
    loop {
        let found = remount(files);
        let text = found.as_ref().err().map(ToString::to_string).unwrap_or_default();
        if !held.iter().any(|one| text.contains(one)) || began.elapsed().as_secs() > 60 {
            return found;
        }
        std::thread::sleep(BETWEEN);
    }
}

#[test]
fn a_file_system_comes_back_as_it_was_and_nothing_of_it_is_in_memory() {
    let Some(disk) = Disk::mount("noatime,nosuid,data=journal,commit=17") else { return };
    let before = disk.listed();
    assert!(before.1.contains("nosuid") && before.3.contains("commit=17"), "{before:?}");
    let path = disk.point().join("file");
    std::fs::write(&path, vec![7_u8; 1 << 20]).unwrap();
    let files = [path.as_path()];
    assert_eq!(unused(&files), [disk.point()]);
    assert_eq!(disk.listed(), before);
    let found = super::super::status(&path).unwrap();
    assert_eq!(found.resident_pages.get(), Some(0));
    assert_eq!(std::fs::read(&path).unwrap(), vec![7_u8; 1 << 20]);
}

#[test]
fn one_that_is_in_use_is_refused_and_stays() {
    let Some(disk) = Disk::mount("nodev") else { return };
    let before = disk.listed();
    let path = disk.point().join("file");
    let open = File::create(&path).unwrap();
    let error = patient(&[&path]).unwrap_err().to_string();
    assert!(error.contains("it is in use") && error.contains("a disk"), "{error}");
    assert_eq!(disk.listed(), before);
    drop(open);
    assert_eq!(unused(&[&path]).len(), 1);
    let second = disk.folder.path().join("second");
    std::fs::create_dir(&second).unwrap();
    let (from, to) = (disk.point().display().to_string(), second.display().to_string());
    assert!(runs("mount", &["--bind", &from, &to]));
    let error = patient(&[&path]).unwrap_err().to_string();
    runs("umount", &[&to]);
    assert!(error.contains("also mounted at"), "{error}");
}

#[test]
fn the_root_and_what_is_on_no_device_are_refused() {
    let here = |error: RemountError| error.to_string();
    let found = patient(&[Path::new("/etc/passwd"), Path::new("/proc/self/maps")]);
    match found.map_err(here) {
        Err(error) if !geteuid().is_root() => assert!(error.contains("root"), "{error}"),
        Err(error) => {
            assert!(error.contains("always in use") || error.contains("file system"), "{error}")
        }
        Ok(points) => panic!("{points:?}"),
    }
    let all = mount_points().unwrap();
    let check_at = |point: &str| {
        let mount = all.iter().find(|mount| mount.point == Path::new(point)).unwrap();
        check(mount, &all)
    };
    assert!(check_at("/").unwrap_err().contains("root of all files"));
    assert!(check_at("/proc").unwrap_err().contains("its file system is proc"));
}

#[test]
fn options_are_given_to_whom_they_belong() {
    let mut mount = mount_points().unwrap().remove(0);
    mount.options = "ro,nosuid,relatime".to_owned();
    mount.file_system_options = "rw,lazytime,seclabel,data=journal,commit=17".to_owned();
    let own = "data=journal,commit=17".to_owned();
    assert_eq!(options::of_file_system(&mount), (MountFlags::LAZYTIME, own));
    let expected = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::RELATIME;
    assert_eq!(options::of_mount(&mount), expected);
    mount.options = "rw".to_owned();
    mount.file_system_options = "ro".to_owned();
    assert_eq!(options::of_mount(&mount), MountFlags::STRICTATIME);
    assert_eq!(options::of_file_system(&mount), (MountFlags::RDONLY, String::new()));
}

#[test]
fn read_only_stays_an_option_of_the_mount_or_of_the_file_system() {
    let Some(disk) = Disk::mount("noatime") else { return };
    let point = disk.point().display().to_string();
    std::fs::write(disk.point().join("file"), "text").unwrap();
    let path = disk.point().join("file");
    let (mount, system) = ("remount,bind,ro,nodev", "remount,ro");
    for (options, of_mount, of_system) in [(mount, "ro,", "rw"), (system, "ro,", "ro")] {
        assert!(runs("mount", &["-o", options, &point]));
        let before = disk.listed();
        assert!(before.1.starts_with(of_mount) && before.3.starts_with(of_system), "{before:?}");
        assert_eq!(unused(&[&path]), [disk.point()]);
        assert_eq!(disk.listed(), before);
    }
    // A mount that may be written to, of a file system that may not.
    assert!(runs("mount", &["-o", "remount,bind,rw", &point]));
    let before = disk.listed();
    if before.1.starts_with("rw") && before.3.starts_with("ro") {
        assert_eq!(unused(&[&path]), [disk.point()]);
        assert_eq!(disk.listed(), before);
    }
}

#[test]
fn the_commands_that_are_given_mount_it_as_it_was() {
    let Some(disk) = Disk::mount("noexec,commit=17") else { return };
    let point = disk.point().display().to_string();
    for options in ["remount,bind,ro,nosuid,nodiratime", "remount,bind,rw,nodev,strictatime"] {
        assert!(runs("mount", &["-o", options, &point]));
        let before = disk.listed();
        let all = mount_points().unwrap();
        let mount = all.iter().find(|mount| mount.point == disk.point()).unwrap();
        // Keeps the loop device.
        let _device = File::open(&mount.source).unwrap();
        assert!(runs("umount", &[&point]));
        let line = by_hand(mount);
        assert!(runs("sh", &["-c", &line]), "{line}");
        assert_eq!(disk.listed(), before, "{line}");
    }
}

#[test]
fn one_with_a_program_behind_it_is_refused() {
    let mut all = mount_points().unwrap();
    let mut mount = all.remove(0);
    mount.point = "/a stick".into();
    mount.kind = "fuseblk".to_owned();
    let reason = check(&mount, &all).unwrap_err();
    assert!(reason.contains("fuseblk; this is done with ext2"), "{reason}");
}

#[test]
fn one_that_another_namespace_mounts_is_refused_or_said_to_be_held() {
    let Some(disk) = Disk::mount("nodev") else { return };
    let Some(unshare) = testkit::tool("unshare") else { return };
    let before = disk.listed();
    let path = disk.point().join("file");
    std::fs::write(&path, "text").unwrap();
    // A namespace that a file keeps needs a private mount around it.
    let spaces = disk.folder.path().join("spaces");
    std::fs::create_dir(&spaces).unwrap();
    let kept = spaces.join("kept");
    let (spaces, kept) = (spaces.display().to_string(), kept.display().to_string());
    assert!(runs("mount", &["--bind", "--make-private", &spaces, &spaces]));
    File::create(&kept).unwrap();
    let mut child = Command::new(unshare)
        .args([&format!("--mount={kept}"), "--propagation", "private", "sleep", "60"])
        .spawn()
        .unwrap();
    let is_there = || {
        let name = std::fs::read_to_string(format!("/proc/{}/comm", child.id()));
        name.is_ok_and(|name| name.trim() == "sleep")
    };
    let began = std::time::Instant::now();
    while !is_there() && began.elapsed().as_secs() < 30 {
        std::thread::sleep(BETWEEN);
    }
    let name = format!("sleep ({}) mounts the same file system", child.id());
    let mut seen = remount(&[&path]).unwrap_err().to_string();
    // That of another test may be found first.
    while !seen.contains(&name) && began.elapsed().as_secs() < 60 {
        std::thread::sleep(BETWEEN);
        seen = remount(&[&path]).unwrap_err().to_string();
    }
    let after_first = disk.listed();
    child.kill().unwrap();
    child.wait().unwrap();
    // Without a process it is not seen, but it holds the file system.
    let mut unseen = remount(&[&path]).unwrap_err().to_string();
    while !unseen.contains("still held") && began.elapsed().as_secs() < 60 {
        std::thread::sleep(BETWEEN);
        unseen = remount(&[&path]).unwrap_err().to_string();
    }
    let after_second = disk.listed();
    assert!(runs("umount", &[&kept]) && runs("umount", &[&spaces]));
    assert!(seen.contains(&name), "{seen}");
    assert!(unseen.contains("still held by somebody"), "{unseen}");
    assert_eq!((&after_first, &after_second), (&before, &before));
    assert_eq!(unused(&[&path]), [disk.point()]);
}

#[test]
fn two_are_looked_at_before_the_first_is_unmounted() {
    let (Some(one), Some(two)) = (Disk::mount("nodev"), Disk::mount("nodev")) else { return };
    let (first, second) = (one.point().join("file"), two.point().join("file"));
    std::fs::write(&first, "text").unwrap();
    let id = |disk: &Disk| {
        let all = mount_points().unwrap();
        all.iter().find(|mount| mount.point == disk.point()).unwrap().id
    };
    let before = id(&one);
    let error = patient(&[&first, Path::new("/proc/self/maps")]).unwrap_err();
    assert!(matches!(error, RemountError::Refused { .. }), "{error}");
    assert_eq!(id(&one), before);
    // One that turns out to be in use afterwards.
    let open = File::create(&second).unwrap();
    let error = patient(&[&first, &second]).unwrap_err().to_string();
    let done = format!("mounted anew before that: '{}'", one.point().display());
    assert!(error.contains("it is in use") && error.contains(&done), "{error}");
    drop(open);
    assert_eq!(unused(&[&first, &second]), [one.point(), two.point()]);
}
