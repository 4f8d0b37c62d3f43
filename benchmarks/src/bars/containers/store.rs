//! A tree like Nix's: 200 folders that never change, each with one library, all along one RUNPATH.

use super::Bench;
use super::bundles;
use super::done;
use super::root::{HEADSTART, Root};
use crate::report::Row;
use anyhow::{Context as _, Result};
use model::Results;
use model::bundle::BundleVerification;
use std::fs;
use std::path::Path;
use std::process::Command;

const LIBRARIES: usize = 200;
const KINDS: [(&str, &[&str]); 4] = [
    ("host", &["--check", "host"]),
    ("image", &["--check", "image"]),
    ("immutable", &["--check", "immutable"]),
    ("immutable --fixed", &["--check", "immutable", "--fixed"]),
];

pub fn rows(bench: &Bench) -> Result<Vec<Row>> {
    let made = bundles::made(bench)?;
    let program = tree(bench, &made)?;
    let program = program.as_str();
    let opens = calls(&made, program, "openat")?;
    let failed = opens.iter().filter(|line| line.contains("ENOENT")).count();
    let mut rows =
        vec![Row::shown(format!("{LIBRARIES} store paths: failed opens"), failed.to_string())];
    for (at, (name, words)) in KINDS.iter().enumerate() {
        let folder = format!("/opt/store-{at}");
        made.run(&[&[HEADSTART, "bundle", "--out", &folder], *words, &[program]].concat())?;
        let run = format!("{folder}/run");
        let looks = calls(
            &made,
            &run,
            "newfstatat,readlinkat,open,openat,openat2,stat,lstat,statx,access",
        )?;
        let stored = looks.iter().filter(|line| line.contains("/nix/")).count();
        let verified = made.output(&[HEADSTART, "verify", "--json", &folder])?;
        let verified: BundleVerification = serde_json::from_slice(&verified.stdout)?;
        let cpu = bench.context.cpu.to_string();
        let how = [HEADSTART, "compare", "--json", "--runs", "20", "--cpu", &cpu, "--"];
        let results: Results =
            serde_json::from_str(&made.run(&[&how[..], &[program, &run]].concat())?)?;
        let effect = results.effects.first().context("a comparison without an effect")?;
        let us: Vec<f64> = results.variants.iter().map(|one| one.summary.median_us).collect();
        let value = format!(
            "{stored} looks into the store of {} in all, used: {}, ratio {:.3} ({:.0} µs of {:.0})",
            looks.len(),
            verified.used,
            effect.ratio,
            us.get(1).copied().unwrap_or(f64::NAN),
            us.first().copied().unwrap_or(f64::NAN),
        );
        let is_immutable = name.starts_with("immutable");
        let good = verified.used && effect.ratio < 1.0 && (!is_immutable || stored == 0);
        let bar = if is_immutable { "no look, used, < 1" } else { "used, < 1" };
        rows.push(Row::bar(format!("{LIBRARIES} store paths: {name}"), value, bar, good));
    }
    Ok(rows)
}

/// Lines of strace for these calls, after the program was executed.
fn calls(made: &Root, program: &str, names: &str) -> Result<Vec<String>> {
    let chroot = made.command(program);
    let mut traced = Command::new("strace");
    traced.args(["-qq", "-e", &format!("trace=execve,{names}"), "-o", "/dev/stderr"]);
    traced.arg("chroot").args(chroot.get_args()).env_clear();
    let output = traced.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").output()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let last = lines.iter().rposition(|line| line.starts_with("execve")).unwrap_or(0);
    Ok(lines.into_iter().skip(last + 1).collect())
}

/// Makes the tree; the program's path in the root.
fn tree(bench: &Bench, made: &Root) -> Result<String> {
    let store = made.path.join("nix/store");
    let folder = bench.work.join("store");
    fs::create_dir_all(&folder)?;
    let name = |at: usize| format!("{:032x}-lib{at}-1", at * 7919 + 1);
    let mut uses = String::new();
    let mut sum = String::new();
    for at in 0..LIBRARIES {
        let library = store.join(name(at)).join("lib");
        fs::create_dir_all(&library)?;
        let source = folder.join("one.c");
        fs::write(&source, format!("int value{at}(void) {{ return {at}; }}\n"))?;
        let soname = format!("-Wl,-soname,libstore{at}.so");
        let target = library.join(format!("libstore{at}.so"));
        let flags = ["-shared", "-fPIC", soname.as_str(), "-o"];
        done(Command::new("cc").args(flags).arg(target).arg(&source))?;
        uses.push_str(&format!("int value{at}(void);\n"));
        sum.push_str(&format!(" + value{at}()"));
    }
    let source = folder.join("program.c");
    fs::write(
        &source,
        format!(
            "#include <stdio.h>\n{uses}int main(void) {{ return printf(\"%d\\n\", 0{sum}) < 0; }}\n"
        ),
    )?;
    let program = store.join("program/bin/program");
    fs::create_dir_all(program.parent().unwrap_or(&store))?;
    linked(&source, &store, &program, &name)?;
    let runpath: Vec<String> =
        (0..LIBRARIES).map(|at| format!("/nix/store/{}/lib", name(at))).collect();
    done(Command::new("patchelf").args(["--set-rpath", &runpath.join(":")]).arg(&program))?;
    let path = "/nix/store/program/bin/program";
    made.run(&[path])?;
    Ok(path.to_owned())
}

fn linked(source: &Path, store: &Path, to: &Path, name: &dyn Fn(usize) -> String) -> Result<()> {
    let mut link = Command::new("cc");
    link.arg("-o").arg(to).arg(source);
    for at in 0..LIBRARIES {
        link.arg(store.join(name(at)).join("lib").join(format!("libstore{at}.so")));
    }
    done(&mut link)
}
