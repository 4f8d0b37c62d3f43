//! Packages come, go, and are upgraded in a root with bundles.

use super::Bench;
use super::bundles::{self, Bundle};
use super::done;
use super::root::Root;
use crate::report::Row;
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const UNRELATED: &str = "headstart-unrelated";
/// A library that all programs of this check have merged.
const UPGRADED: &str = "zlib1g";
/// A text in it that it does not look at, and what becomes of that.
const TEXT: [&[u8]; 2] = [b"Copyright 1995-2022 Mark Adler", b"Copyright 1995-2022 MARK ADLER"];
const FASTER: f64 = 1.0;

pub fn rows(bench: &Bench) -> Result<Vec<Row>> {
    let made = bundles::made(bench)?;
    let mut rows = vec![used("before any change", &made)?];
    let unrelated = unrelated(bench)?;
    install(&made, &unrelated)?;
    let cache = made.run(&["ldconfig", "-p"])?;
    ensure!(cache.contains("libunrelated.so.1"), "the loader's cache has not been made again");
    rows.push(used("an unrelated package with loader configuration is installed", &made)?);
    made.run(&["dpkg", "--purge", UNRELATED])?;
    let cache = made.run(&["ldconfig", "-p"])?;
    ensure!(!cache.contains("libunrelated.so.1"), "the loader's cache has not been made again");
    rows.push(used("it is removed", &made)?);
    install(&made, &upgraded(bench, &made)?)?;
    rows.extend(stale(&made)?);
    let again = Bundle::all().iter().try_for_each(|bundle| bundle.make(&made));
    again.context("bundles are made again")?;
    rows.push(used("bundles are made again", &made)?);
    for bundle in Bundle::all().iter().filter(|bundle| bundle.program != "git") {
        let ratio = bundle.ratio(&made, bench.context.cpu)?;
        let figure = format!("made again: {}, ratio", bundle.name());
        rows.push(Row::bar(figure, format!("{ratio:.3}"), "< 1", ratio < FASTER));
    }
    Ok(rows)
}

/// How many are used, which has to be all.
fn used(when: &str, made: &Root) -> Result<Row> {
    let all = Bundle::all();
    let mut count = 0;
    let mut others = String::new();
    for bundle in &all {
        let start = bundle.start(made)?;
        let answers = start.stdout == made.run(&[bundle.program, "--version"])?;
        match start.is_used() && answers {
            true => count += 1,
            false => others.push_str(&format!("; {}: {}", bundle.name(), start.told)),
        }
    }
    let value = format!("{count} of {} used{others}", all.len());
    Ok(Row::bar(when, value, "all", count == all.len()))
}

/// After the upgrade: those that look at files start the original and say why; those that do not, stay.
fn stale(made: &Root) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for bundle in Bundle::all() {
        let start = bundle.start(made)?;
        let answers = start.stdout == made.run(&[bundle.program, "--version"])?;
        let reason = start.verified.reason.clone().unwrap_or_default();
        let names_it = reason.contains("libz.so");
        let value = format!("{} execve; {reason}", start.executed);
        let figure = format!("a library is upgraded: {}", bundle.name());
        let stays = bundle.form.stands_alone;
        let good = match stays {
            true => start.is_used(),
            false => start.executed == 2 && !start.verified.used && start.agrees() && names_it,
        };
        let bar = if stays { "1: it looks at no file" } else { "2, says why" };
        rows.push(Row::bar(figure, value, bar, good && answers));
    }
    Ok(rows)
}

fn install(made: &Root, package: &Path) -> Result<()> {
    let inside = made.path.join("tmp/package.deb");
    fs::copy(package, &inside)?;
    made.run(&["dpkg", "--install", "/tmp/package.deb"])?;
    Ok(())
}

/// A package with a library in a folder of its own that the loader is told of.
fn unrelated(bench: &Bench) -> Result<PathBuf> {
    let folder = bench.work.join("unrelated");
    let library = folder.join("usr/lib/unrelated");
    let told = folder.join("etc/ld.so.conf.d");
    let control = folder.join("DEBIAN");
    for folder in [&library, &told, &control] {
        fs::create_dir_all(folder)?;
    }
    let source = bench.work.join("unrelated.c");
    fs::write(&source, "int unrelated(void) { return 1; }\n")?;
    let flags = ["-shared", "-fPIC", "-Wl,-soname,libunrelated.so.1", "-o"];
    done(Command::new("cc").args(flags).arg(library.join("libunrelated.so.1")).arg(source))?;
    fs::write(told.join("000-unrelated.conf"), "/usr/lib/unrelated\n")?;
    let control_file = format!(
        "Package: {UNRELATED}\nVersion: 1\nArchitecture: amd64\nMaintainer: nobody <nobody@localhost>\n\
         Description: a library that no other program uses\n"
    );
    fs::write(control.join("control"), control_file)?;
    fs::write(control.join("triggers"), "activate-noawait ldconfig\n")?;
    packed(bench, &folder, "unrelated.deb")
}

/// The package with a higher version and another content.
fn upgraded(bench: &Bench, made: &Root) -> Result<PathBuf> {
    let folder = bench.work.join("upgraded");
    made.run(&["sh", "-c", &format!("cd /tmp && apt-get download {UPGRADED}")])?;
    let fetched = fs::read_dir(made.path.join("tmp"))?.flatten().map(|entry| entry.path());
    let mut debs = fetched.filter(|path| path.extension().is_some_and(|end| end == "deb"));
    let deb = debs.find(|path| path.to_string_lossy().contains(UPGRADED)).context("no package")?;
    done(Command::new("dpkg-deb").arg("--raw-extract").arg(deb).arg(&folder))?;
    let control = folder.join("DEBIAN/control");
    let text = fs::read_to_string(&control)?;
    let higher = |line: &str| match line.strip_prefix("Version:") {
        Some(version) => format!("Version:{version}+headstart1\n"),
        None => format!("{line}\n"),
    };
    fs::write(&control, text.lines().map(higher).collect::<String>())?;
    let library = fs::read_dir(folder.join("lib/x86_64-linux-gnu"))?.flatten();
    let mut files = library.map(|entry| entry.path()).filter(|path| !path.is_symlink());
    let library = files.next().context("no library in the package")?;
    let mut bytes = fs::read(&library)?;
    let at = bytes.windows(TEXT[0].len()).position(|window| window == TEXT[0]);
    let at = at.context("the library has not the text that is changed")?;
    bytes[at..at + TEXT[1].len()].copy_from_slice(TEXT[1]);
    fs::write(&library, bytes)?;
    let sums = folder.join("DEBIAN/md5sums");
    let _ = fs::remove_file(sums);
    packed(bench, &folder, "upgraded.deb")
}

fn packed(bench: &Bench, folder: &Path, name: &str) -> Result<PathBuf> {
    let package = bench.work.join(name);
    done(
        Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).arg(folder).arg(&package),
    )?;
    Ok(package)
}
