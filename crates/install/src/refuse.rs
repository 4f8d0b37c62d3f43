//! Programs that are not put in another's place, whatever is gained.

use crate::dpkg::Owner;
use crate::{Dpkg, ProgramError};
use files::{Privilege, privilege};
use image::elf::Loadable;
use loader::{Environment, Graph};
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
/// Folders of scripts that copy programs there, and the commands by which they do.
const HOOKS: [&str; 3] =
    ["/usr/share/initramfs-tools/hooks", "/etc/initramfs-tools/hooks", "/usr/lib/dracut/modules.d"];
const COPIES: [&str; 5] =
    ["copy_exec", "inst_multiple", "inst_simple", "inst_binary", "dracut_install"];
/// More than such a script has.
const MOST_BYTES: u64 = 1 << 20;

/// The library of Java's launchers, which look for their files beside their own one.
const JAVA: &str = "libjli.so";

/// Programs are installed for ordinary environments.
pub(crate) fn check_environment() -> Result<(), ProgramError> {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let set = startup::LOADER_VARIABLES.into_iter().find(is_set);
    set.map_or(Ok(()), |name| Err(ProgramError::Variable(name)))
}

/// Why this file, links followed, stays as it is.
pub(crate) fn check(program: &Path, graph: &Graph, fixed: bool) -> Result<(), ProgramError> {
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
    if let Some(hook) = copied_by(name) {
        return declined(format!(
            "{} copies it into the system that starts the machine (initramfs), where it would be \
             without its original",
            hook.display()
        ));
    }
    if let Some(profile) = confined(program) {
        return declined(format!(
            "AppArmor confines it by its path ({}) and would keep it from starting the original",
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

/// The script that copies a program of this name into an initramfs.
fn copied_by(name: &OsStr) -> Option<PathBuf> {
    let name = name.to_str()?;
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let within = HOOKS.iter().flat_map(|folder| entries(Path::new(folder)));
    let scripts = within.flat_map(|entry| match entry.path().is_dir() {
        true => entries(&entry.path()).map(|entry| entry.path()).collect(),
        false => vec![entry.path()],
    });
    let copies = |text: &str| {
        text.lines().filter(|line| COPIES.iter().any(|copy| line.contains(copy))).any(|line| {
            let mut words =
                line.split(|letter: char| letter.is_whitespace() || "\"';".contains(letter));
            words.any(|word| word.rsplit('/').next() == Some(name))
        })
    };
    let small = |path: &PathBuf| path.metadata().is_ok_and(|data| data.len() < MOST_BYTES);
    scripts.filter(small).find(|path| std::fs::read_to_string(path).is_ok_and(|text| copies(&text)))
}

/// The profile of AppArmor for a program, which is called like it by custom.
fn confined(program: &Path) -> Option<PathBuf> {
    let name = program.to_str()?.trim_start_matches('/').replace('/', ".");
    Some(Path::new("/etc/apparmor.d").join(name)).filter(|profile| profile.exists())
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
pub(crate) fn graph(program: &Path) -> Result<Graph, ProgramError> {
    if Loadable::open(program).is_ok_and(|image| bundle::is_already(&image).is_some()) {
        return Err(ProgramError::declined(program, "the file at its path is already a bundle"));
    }
    let graph = loader::load(program, &Environment::own());
    graph.map_err(|error| ProgramError::declined(program, error.to_string()))
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
