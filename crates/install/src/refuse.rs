//! Programs that are not put in another's place, whatever is gained.

use crate::dpkg::Owner;
use crate::made::Launched;
use crate::{Dpkg, ProgramError, profile};
use files::{Privilege, privilege};
use image::ImageError;
use image::elf::Loadable;
use loader::Graph;
use model::ProgramAdvice;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where something else starts them, or nothing else can mend the system.
const NEEDED: [&str; 26] = [
    "sh",
    "bash",
    "dash",
    "zsh",
    "busybox",
    "init",
    "systemd",
    "login",
    "agetty",
    "getty",
    "sshd",
    "apt",
    "apt-get",
    "aptitude",
    "dpkg",
    "dpkg-deb",
    "dpkg-divert",
    "dpkg-query",
    "rpm",
    "dnf5",
    "pacman",
    "ldconfig",
    "ldd",
    "sudo",
    "su",
    "mount",
];
/// Packages of the loader, of libc and of what mends the system, which are not marked as essential.
const PACKAGES: [&str; 9] =
    ["libc6", "libc-bin", "apt", "dpkg", "gpgv", "systemd", "systemd-sysv", "sudo", "headstart"];
/// Packages whose programs are copied, alone, into the system that starts the machine (initramfs).
const BOOTING: [&str; 24] = [
    "udev",
    "kmod",
    "cryptsetup",
    "cryptsetup-bin",
    "cryptsetup-initramfs",
    "lvm2",
    "dmsetup",
    "mdadm",
    "plymouth",
    "busybox",
    "busybox-static",
    "busybox-initramfs",
    "initramfs-tools",
    "initramfs-tools-core",
    "klibc-utils",
    "dracut",
    "dracut-core",
    "btrfs-progs",
    "xfsprogs",
    "e2fsprogs",
    "multipath-tools",
    "open-iscsi",
    "zfsutils-linux",
    "thin-provisioning-tools",
];
/// Folders of scripts that copy programs there.
const HOOKS: [&str; 3] =
    ["/usr/share/initramfs-tools/hooks", "/etc/initramfs-tools/hooks", "/usr/lib/dracut/modules.d"];
/// AppArmor's folder of profiles.
const PROFILES: &str = "/etc/apparmor.d";
/// Folders within folders.
const DEEPEST: u32 = 3;
/// More than such a script or profile has.
const MOST_BYTES: u64 = 1 << 20;

/// The library of Java's launchers, which look for their files beside their own one.
const JAVA: &str = "libjli.so";

/// Programs are installed for ordinary environments.
pub(crate) fn check_environment() -> Result<(), ProgramError> {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let set = startup::LOADER_VARIABLES.into_iter().find(is_set);
    set.map_or(Ok(()), |name| Err(ProgramError::Variable(name)))
}

/// Why this file, links followed, stays as it is. `named`: its path, links not followed.
pub(crate) fn check(
    (program, named): (&Path, &Path),
    graph: &Graph,
    fixed: bool,
) -> Result<(), ProgramError> {
    let declined = |reason: String| Err(ProgramError::declined(program, reason));
    if let Some(what) = privilege(program).map(Privilege::name) {
        return declined(format!(
            "it is {what}, and a bundle would not have its privileges; leave it as it is"
        ));
    }
    let name = program.file_name().unwrap_or_default();
    if is_own(program) || name == OsStr::new("headstart") {
        return declined(
            "it is headstart itself, which has to work where nothing else does".into(),
        );
    }
    if is_needed(name) {
        return declined(
            "it is needed to repair the system, or it is started at every login; it stays as it is"
                .into(),
        );
    }
    if name.as_encoded_bytes().starts_with(b"ld-linux") || name == OsStr::new("ld.so") {
        return declined("it is the loader itself".into());
    }
    let names = [Some(name), named.file_name()].into_iter().flatten().filter_map(OsStr::to_str);
    let names: Vec<&str> = names.collect();
    let in_script = |line: &str| words(line).any(|word| names.contains(&word));
    if let Some(hook) = naming(&HOOKS, &[], &in_script) {
        return declined(format!(
            "{} names it and may copy it into the system that starts the machine (initramfs), where it \
             would be without its original",
            hook.display()
        ));
    }
    let in_profile = |line: &str| names.iter().any(|name| profile::names(line, name));
    if let Some(profile) = naming(&[PROFILES], &profile::OTHERS, &in_profile) {
        return declined(format!(
            "a profile of AppArmor names it ({}) and may keep it from starting the original",
            profile.display()
        ));
    }
    let needs_java =
        graph.modules.iter().any(|module| module.path.file_name() == Some(OsStr::new(JAVA)));
    if needs_java {
        return declined(format!(
            "it is a launcher of Java ({JAVA}), which looks for its files in its own folder"
        ));
    }
    if graph.program().image.fixed && !fixed {
        return Err(ProgramError::Declined {
            program: program.to_owned(),
            reason: "its own addresses are fixed (ET_EXEC), so it cannot move".into(),
            advice: Some(ProgramAdvice::MakeFixed),
        });
    }
    Ok(())
}

/// The first text in these folders, or in folders within other than `skipped`, with a line of this kind that
/// is no comment.
fn naming(folders: &[&str], skipped: &[&str], is_meant: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
    let mut texts = Vec::new();
    for folder in folders {
        collect(Path::new(folder), skipped, DEEPEST, &mut texts);
    }
    texts.sort();
    let has_line = |text: &str| {
        let mut lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        lines.any(is_meant)
    };
    texts.into_iter().find(|path| std::fs::read_to_string(path).is_ok_and(|text| has_line(&text)))
}

fn collect(folder: &Path, skipped: &[&str], deepest: u32, texts: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_skipped = skipped.iter().any(|name| entry.file_name() == *name);
        match path.metadata() {
            Ok(data) if data.is_dir() && !is_skipped => {
                if let Some(deepest) = deepest.checked_sub(1) {
                    collect(&path, skipped, deepest, texts);
                }
            }
            Ok(data) if data.is_file() && data.len() < MOST_BYTES => texts.push(path),
            _ => {}
        }
    }
}

/// Parts of a script's line that may be names of programs, and are none of its variables.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let of_name = |letter: char| letter.is_alphanumeric() || "._-+".contains(letter);
    let mut last = "";
    let parts = line.split_inclusive(move |letter| !of_name(letter));
    // What stands before a word tells whether it is a variable.
    let named = parts.scan("", move |before, part| {
        let word = part.trim_end_matches(|letter| !of_name(letter));
        let is_variable = before.ends_with('$') || before.ends_with("${") || last == "for";
        if !word.is_empty() {
            last = word;
        }
        *before = if word.is_empty() && before.ends_with('$') && part == "{" { "${" } else { part };
        Some(word).filter(|_| !is_variable).or(Some(""))
    });
    named.filter(|word| !word.is_empty())
}

fn is_own(program: &Path) -> bool {
    std::env::current_exe().is_ok_and(|own| own.canonicalize().is_ok_and(|own| own == program))
}

/// Also a version of it: `systemd-logind`, `bash-static`.
fn is_needed(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    NEEDED.contains(&name.as_ref()) || name.starts_with("systemd")
}

/// What the simulated loader makes of a program.
pub(crate) fn graph(launched: &Launched<'_>) -> Result<Graph, ProgramError> {
    let program = launched.file;
    if Loadable::open(program).is_ok_and(|image| bundle::is_already(&image).is_some()) {
        return Err(ProgramError::declined(program, "what is at its path is already a bundle"));
    }
    let graph = loader::load(program, &launched.environment());
    graph.map_err(|error| ProgramError::declined(program, error.to_string()))
}

/// Why no bundle can be made of a file any more.
pub(crate) fn kind(file: &Path) -> Option<&'static str> {
    match Loadable::open(file) {
        Ok(image) if image.interpreter.is_none() => Some("it is a static program now"),
        Ok(_) | Err(ImageError::Io { .. }) => None,
        Err(_) => Some("it is no longer an ELF program, but perhaps a script"),
    }
}

/// Packages without which nothing else works keep their files.
pub(crate) fn check_package(
    program: &Path,
    owner: &Owner,
    dpkg: &Dpkg,
) -> Result<(), ProgramError> {
    let package = owner.package.split(':').next().unwrap_or_default();
    if BOOTING.contains(&package) {
        let reason = format!(
            "it belongs to {package}, whose programs are copied into the system that starts the \
             machine (initramfs), where it would be without its original"
        );
        return Err(ProgramError::declined(program, reason));
    }
    let is_known = PACKAGES.contains(&package);
    if is_known || dpkg.is_essential(&owner.package)? {
        let reason = format!(
            "it belongs to {package}, which is needed to repair the system; it stays as it is"
        );
        return Err(ProgramError::declined(program, reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_where_a_script_names_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("90own/deep")).unwrap();
        let script = "# not this one\ninst_multiple -o \\\n    two \\\n    /usr/bin/three\n\
                      for six in four; do copy_exec \"/sbin/$five\" \"${five}\"; done\n";
        std::fs::write(at("90own/deep/setup.sh"), script).unwrap();
        let path = folder.path().display().to_string();
        let is_named = |name: &str| {
            let is_meant = |line: &str| words(line).any(|word| word == name);
            naming(&[&path], &[], &is_meant).is_some()
        };
        let named = ["two", "three", "four"].map(is_named);
        assert_eq!(named, [true; 3]);
        assert_eq!(["one", "tw", "five", "six"].map(is_named), [false; 4]);
        assert!(naming(&[&path], &["90own"], &|_| true).is_none());
        assert!(naming(&["/nonexistent"], &[], &|_| true).is_none());
    }
}
