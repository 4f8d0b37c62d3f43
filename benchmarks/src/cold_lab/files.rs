//! The files of a small system: those of some Debian packages, all that these depend on, and the
//! essential ones, with what was generated for them, and `/etc`.

use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LISTS: &str = "/var/lib/dpkg/info";
/// Folders of generated files that no package lists.
const GENERATED: [&str; 2] = ["/var/cache/fontconfig", "/var/lib/dbus"];
/// Nobody reads these at a start, and they are large, or made anew at each start of the machine.
const LEFT_OUT: [&str; 5] =
    ["/usr/share/doc/", "/usr/share/man/", "/usr/lib/debug/", "/usr/share/info/", "/run/"];
const COMPILED_PYTHON: &str = "__pycache__";

/// Absolute paths of folders, files and links, folders before what is in them.
///
/// # Errors
/// A package is not installed, or apt-cache cannot be run.
pub fn of_packages(packages: &[&str]) -> Result<Vec<PathBuf>> {
    let mut paths = BTreeSet::new();
    let essential = essential()?;
    let packages = packages.iter().copied().chain(essential.iter().map(String::as_str));
    for package in with_dependencies(packages)? {
        paths.extend(listed(&package)?);
    }
    // Not what is a link to a folder: files below it have another path.
    let is_folder = |path: &&PathBuf| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let folders: Vec<PathBuf> = paths.iter().filter(is_folder).cloned().collect();
    let owned = owned()?;
    for folder in &folders {
        add_generated(folder, &owned, &mut paths);
        add_generated(&folder.join(COMPILED_PYTHON), &owned, &mut paths);
    }
    for place in GENERATED.into_iter().chain(["/etc"]) {
        add_all(Path::new(place), &mut paths);
    }
    // Where /bin is a link to /usr/bin, packages may list it as a folder.
    for name in ["bin", "sbin", "lib", "lib32", "lib64", "libx32"] {
        let link = Path::new("/").join(name);
        if link.exists() {
            paths.insert(link);
        }
    }
    paths.retain(|path| !LEFT_OUT.iter().any(|out| path.to_string_lossy().starts_with(out)));
    Ok(paths.into_iter().collect())
}

/// Packages that no other names, because every system has them.
fn essential() -> Result<Vec<String>> {
    let mut command = Command::new("dpkg-query");
    command.args(["--show", "--showformat", "${Essential} ${Package}\\n"]);
    let output = command.output().context("dpkg-query cannot be run")?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.strip_prefix("yes ")).map(str::to_owned).collect())
}

fn with_dependencies<'a>(packages: impl Iterator<Item = &'a str>) -> Result<Vec<String>> {
    let mut command = Command::new("apt-cache");
    command.args(["depends", "--recurse", "--installed", "--no-suggests", "--no-conflicts"]);
    command.args(["--no-breaks", "--no-replaces", "--no-enhances", "--no-recommends"]);
    let output = command.args(packages).output().context("apt-cache cannot be run")?;
    let words = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "apt-cache depends failed: {words}");
    let text = String::from_utf8_lossy(&output.stdout);
    // Dependencies are indented, virtual packages are in angle brackets.
    let names = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_alphanumeric()));
    Ok(names.map(|name| name.split(':').next().unwrap_or(name).to_owned()).collect())
}

/// What dpkg has unpacked for a package, without links in the folders of its paths.
fn listed(package: &str) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for name in [format!("{package}.list"), format!("{package}:amd64.list")] {
        if let Ok(text) = fs::read_to_string(Path::new(LISTS).join(name)) {
            paths.extend(text.lines().filter_map(resolved));
        }
    }
    Ok(paths)
}

/// The path without links in its folders, if it is there.
fn resolved(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let resolved = match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => fs::canonicalize(folder).ok()?.join(name),
        _ => return None,
    };
    fs::symlink_metadata(&resolved).ok().map(|_| resolved)
}

/// Files of all packages.
fn owned() -> Result<BTreeSet<PathBuf>> {
    let mut owned = BTreeSet::new();
    for entry in fs::read_dir(LISTS).with_context(|| format!("no {LISTS}: not Debian"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "list") {
            owned.extend(fs::read_to_string(&path)?.lines().filter_map(resolved));
        }
    }
    Ok(owned)
}

/// Files in the folder that no package has brought, such as caches.
fn add_generated(folder: &Path, owned: &BTreeSet<PathBuf>, paths: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| !kind.is_dir());
        if is_file && !owned.contains(&entry.path()) {
            paths.insert(folder.to_owned());
            paths.insert(entry.path());
        }
    }
}

fn add_all(place: &Path, paths: &mut BTreeSet<PathBuf>) {
    let Ok(metadata) = fs::symlink_metadata(place) else { return };
    paths.insert(place.to_owned());
    if metadata.is_dir() {
        let entries = fs::read_dir(place).into_iter().flatten().flatten();
        entries.for_each(|entry| add_all(&entry.path(), paths));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_comes_with_its_dependencies_and_folders_first() {
        if testkit::tool("git").is_none() || !Path::new(LISTS).exists() {
            return testkit::skip("Debian's packages");
        }
        let files = of_packages(&["git"]).unwrap();
        let at = |path: &str| files.iter().position(|file| file == Path::new(path));
        assert!(at("/usr/bin/git").is_some() && at("/usr/bin") < at("/usr/bin/git"));
        let of_c = files.iter().any(|file| file.ends_with("libc.so.6"));
        assert!(of_c && at("/etc/passwd").is_some());
        assert!(at("/usr/share/doc/git/copyright").is_none());
    }
}
