//! Bundles where they do not belong: beside another C library, with a manifest of a newer version, without
//! /proc, in a checkout, where nothing may be executed.

use super::bundles::{self, Bundle};
use super::root::{self, HEADSTART, Root};
use super::{Bench, done};
use crate::report::Row;
use anyhow::{Context as _, Result};
use rustix::mount::{MountFlags, mount_bind, mount_remount};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

/// With the same programs but for one, which is not there.
const NEWER: (&str, &[&str]) = ("trixie", &["git"]);
/// Its loader knows no packed relocations.
const OLDER: (&str, &[&str]) = ("bullseye", &["git"]);

pub fn rows(bench: &Bench) -> Result<Vec<Row>> {
    let made = bundles::made(bench)?;
    let mut rows = Vec::new();
    for (release, packages) in [NEWER, OLDER] {
        rows.extend(
            elsewhere(bench, &made, release, packages).unwrap_or_else(|error| {
                vec![Row::bar(release, format!("{error:#}"), "tried", false)]
            }),
        );
    }
    rows.push(newer_manifest(&made)?);
    rows.extend(without_proc(&made)?);
    rows.extend(checkout(bench, &made)?);
    rows.push(not_executable(bench, &made)?);
    Ok(rows)
}

/// In a root of another release with another C library.
fn elsewhere(bench: &Bench, made: &Root, release: &str, packages: &[&str]) -> Result<Vec<Row>> {
    let path = bench.work.join(release);
    let kept = root::kept(bench, release, packages)?;
    fs::create_dir(&path)?;
    done(Command::new("cp").arg("-a").arg(kept.join(".")).arg(&path))?;
    done(Command::new("cp").arg("-a").arg(made.path.join("opt")).arg(&path))?;
    let there = Root::opened(path, &bench.context.headstart.program)?;
    let mut rows = Vec::new();
    for bundle in Bundle::all() {
        let mut command = there.command(&bundle.run());
        let output = command.arg("--version").env("HEADSTART_TRACE", "1").output()?;
        let original = there.output(&[bundle.program, "--version"])?;
        let is_there = original.status.success();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let as_original = output.stdout == original.stdout && output.status.success();
        let says_why = output.status.code() == Some(127) || stderr.contains("GLIBC");
        let good = match is_there {
            // An old loader refuses a program before any code of it runs.
            true => as_original || stderr.contains("' not found (required by"),
            false => says_why && output.stdout.is_empty(),
        };
        let verify = bundle.verify(&there);
        let verified = match &verify {
            Ok(verified) => format!("verify: {}", reason(verified)),
            Err(error) => format!("{error:#}").lines().next().unwrap_or_default().to_owned(),
        };
        // headstart itself may not run there.
        let agrees = verify.map_or(release == OLDER.0, |verified| !verified.used);
        let line = stderr.lines().next().unwrap_or_default();
        let value = format!("{}; '{line}'; {verified}", ending(&output));
        let bar = if is_there { "the original, or says why" } else { "says why" };
        rows.push(Row::bar(format!("{release}: {}", bundle.name()), value, bar, good && agrees));
    }
    Ok(rows)
}

fn reason(verified: &model::bundle::BundleVerification) -> &str {
    verified.reason.as_deref().unwrap_or("used")
}

fn ending(output: &Output) -> String {
    match output.status.signal() {
        Some(signal) => format!("killed by signal {signal}"),
        None => format!("exit code {:?}", output.status.code().unwrap_or(-1)),
    }
}

fn named(program: &str, form: &str) -> Result<Bundle> {
    let mut all = Bundle::all().into_iter();
    all.find(|one| one.program == program && one.form.name == form).context("no such bundle")
}

fn newer_manifest(made: &Root) -> Result<Row> {
    let bundle = named("git", "image")?;
    let copy = made.path.join("opt/newer");
    done(Command::new("cp").arg("-a").arg(made.path.join("opt/git-image")).arg(&copy))?;
    let manifest = copy.join("headstart.json");
    let mut read: serde_json::Value = serde_json::from_slice(&fs::read(&manifest)?)?;
    read["schema"] = 99.into();
    fs::write(&manifest, read.to_string())?;
    let start = made.output(&["/opt/newer/run", "--version"])?;
    let original = made.output(&[bundle.program, "--version"])?;
    let verified = made.output(&[HEADSTART, "verify", "/opt/newer"])?;
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    let good = start.stdout == original.stdout && !verified.status.success() && said.contains("99");
    let value = format!("verify, {}: {}", ending(&verified), said.trim());
    fs::remove_dir_all(&copy)?;
    Ok(Row::bar("a manifest of a newer version", value, "starts; verify says so", good))
}

fn without_proc(made: &Root) -> Result<Vec<Row>> {
    made.unmount();
    let mut rows = Vec::new();
    for form in bundles::FORMS.iter() {
        let bundle = named("git", form.name)?;
        let told =
            made.command(&bundle.run()).arg("--version").env("HEADSTART_TRACE", "1").output()?;
        let stderr = String::from_utf8_lossy(&told.stderr).into_owned();
        let good = told.stdout.starts_with(b"git version") && stderr.contains("the bundle is used");
        let value = stderr.lines().next().unwrap_or_default().to_owned();
        rows.push(Row::bar(format!("no /proc: {}", bundle.name()), value, "used", good));
    }
    let verified = made.output(&[HEADSTART, "verify", "/opt/git-image"])?;
    let said = [verified.stdout.clone(), verified.stderr.clone()].concat();
    let value = format!("{}: {}", ending(&verified), String::from_utf8_lossy(&said).trim());
    rows.push(Row::bar("no /proc: verify", value, "used", verified.status.success()));
    made.mount()?;
    Ok(rows)
}

/// A folder that has been through a repository: modes and contents are kept, times and inodes are not.
fn checkout(bench: &Bench, made: &Root) -> Result<Vec<Row>> {
    let repository = bench.work.join("repository");
    fs::create_dir_all(&repository)?;
    let git = |folder: &Path, words: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=n", "-c", "user.email=e@localhost"]).arg("-C").arg(folder);
        done(command.args(words).env_remove(testkit::workspace::SET_BY_CARGO))
    };
    for form in bundles::FORMS.iter() {
        let bundle = named("git", form.name)?;
        let from = made.path.join(bundle.folder().trim_start_matches('/'));
        done(Command::new("cp").arg("-r").arg(from).arg(&repository))?;
    }
    git(&repository, &["init", "-q"])?;
    git(&repository, &["add", "."])?;
    git(&repository, &["commit", "-q", "-m", "bundles"])?;
    let clone = made.path.join("opt/clone");
    let (from, to) = (repository.display().to_string(), clone.display().to_string());
    git(&bench.work, &["clone", "-q", &from, &to])?;
    let mut rows = Vec::new();
    for form in bundles::FORMS.iter() {
        let run = format!("/opt/clone/git-{}/run", form.name);
        let told = made.command(&run).arg("--version").env("HEADSTART_TRACE", "1").output()?;
        let stderr = String::from_utf8_lossy(&told.stderr).into_owned();
        let folder = format!("/opt/clone/git-{}", form.name);
        let verified = made.output(&[HEADSTART, "verify", "--json", &folder])?;
        let verified: model::bundle::BundleVerification = serde_json::from_slice(&verified.stdout)?;
        let good = stderr.contains("the bundle is used") && verified.used && verified.current;
        let line = stderr.lines().next().unwrap_or_default();
        let value = format!("{line}; verify: {}", reason(&verified));
        rows.push(Row::bar(format!("a git checkout: git {}", form.name), value, "used", good));
    }
    fs::remove_dir_all(&clone)?;
    Ok(rows)
}

/// On a mount from which nothing is executed.
fn not_executable(bench: &Bench, made: &Root) -> Result<Row> {
    let folder = made.path.join("mnt");
    done(Command::new("cp").arg("-a").arg(made.path.join("opt/git-image")).arg(&bench.work))?;
    mount_bind(bench.work.join("git-image"), &folder)?;
    mount_remount(&folder, MountFlags::BIND | MountFlags::NOEXEC, "")?;
    let start = made.output(&["/mnt/run", "--version"])?;
    let verified = made.output(&[HEADSTART, "verify", "--json", "/mnt"])?;
    root::leave(&folder);
    let verified: model::bundle::BundleVerification = serde_json::from_slice(&verified.stdout)?;
    let value = format!("{}; verify: {}", ending(&start), reason(&verified));
    let good = start.status.code() == Some(126) && !verified.used;
    Ok(Row::bar("a mount from which nothing is executed", value, "refused, verify says so", good))
}
