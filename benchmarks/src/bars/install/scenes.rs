//! What is done with installed programs, and what is wrong afterwards.

use super::root::{Root, Small, Snapshot};
use super::{LEAST, PROGRAMS};
use anyhow::{Context as _, Result, ensure};
use model::{ProgramAdvice, ProgramList, ProgramOutcome, ProgramsReport};
use std::time::Duration;

/// Times that headstart is killed.
const KILLS: u64 = 90;
/// What is done, and the latest moment at which it is killed.
const KILLED: [(&str, u64); 3] = [("install --fixed", 3500), ("renew", 500), ("remove", 150)];
/// Two programs for what is done often.
const FEW: &str = "xmllint sqlite3";
const STATE: &str = "var/lib/headstart";

/// What programs answer.
pub struct Answers(Vec<(String, String)>);

impl Answers {
    /// Asks all.
    pub fn of(root: &Root, programs: &[(&str, &str)]) -> Result<Answers> {
        let ask = |(program, word): &(&str, &str)| {
            let line = format!("{program} {word} </dev/null");
            let said = root.said(&line)?;
            ensure!(said.contains("Some(0)"), "{line}: {said}");
            Ok((line, said))
        };
        Ok(Answers(programs.iter().map(ask).collect::<Result<_>>()?))
    }

    /// Those that are other ones now.
    pub fn wrong(&self, root: &Root) -> Vec<String> {
        let mut wrong = Vec::new();
        for (line, before) in &self.0 {
            match root.said(line) {
                Ok(said) if said == *before => {}
                Ok(said) => wrong.push(format!("{line}: {said}")),
                Err(error) => wrong.push(format!("{line}: {error:#}")),
            }
        }
        wrong
    }
}

fn report(root: &Root, line: &str) -> Result<ProgramsReport> {
    let output = root.shell(line)?;
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text)
        .with_context(|| format!("{line}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

fn list(root: &Root) -> Result<ProgramList> {
    let text = root.run("headstart list --json")?;
    serde_json::from_str(&text).with_context(|| text.clone())
}

/// Those whose originals are started.
fn unused(root: &Root) -> Result<Vec<String>> {
    let list = list(root)?;
    ensure!(!list.programs.is_empty() && list.unreadable.is_empty(), "{list:?}");
    let unused = list.programs.iter().filter(|program| !program.used);
    Ok(unused.map(|program| format!("{}: {:?}", program.name, program.reason)).collect())
}

/// Installs all.
pub fn install(root: &Root) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let mut installed = 0;
    // Each has words of its own to which it answers.
    for (program, word) in PROGRAMS {
        let line = format!("headstart install --json --launch {word} {program}");
        let mut found = report(root, &line)?;
        if found.programs.iter().any(|one| one.advice == Some(ProgramAdvice::MakeFixed)) {
            found = report(root, &format!("{line} --fixed"))?;
        }
        let one = found.programs.first().context("no program")?;
        match one.outcome {
            ProgramOutcome::Installed => installed += 1,
            ProgramOutcome::NotFaster => println!("  {program}: {:?}", one.reason),
            outcome => wrong.push(format!("{program}: {outcome:?} {:?}", one.reason)),
        }
    }
    println!("  {installed} of {} programs are installed", PROGRAMS.len());
    if installed < LEAST {
        wrong.push(format!("{installed} are installed"));
    }
    wrong.extend(unused(root)?);
    Ok(wrong)
}

/// Removes all: every file is as before, but for those of packages that were upgraded.
pub fn remove(root: &Root, before: &Snapshot, upgraded: &[&str]) -> Result<Vec<String>> {
    root.run("headstart remove --all")?;
    let mut theirs: Vec<String> = Vec::new();
    for package in upgraded {
        let files = root.run(&format!("dpkg -L {package}"))?;
        theirs.extend(files.lines().map(str::to_owned));
    }
    let of_apt = ["/repo", "/etc/ld.so.cache", "/etc/apt/sources.list.d/newer.list"];
    let is_theirs = |path: &String| {
        let path = path.trim_start_matches('.');
        // Since /usr is merged, packages name files by other paths.
        theirs.iter().any(|known| path == known || path.strip_prefix("/usr") == Some(known))
            || !upgraded.is_empty() && of_apt.iter().any(|start| path.starts_with(start))
    };
    Ok(root.changed(before)?.into_iter().filter(|path| !is_theirs(path)).collect())
}

/// Upgrades a library where no hook runs: its program starts the original.
pub fn upgrade(root: &Root, package: &str, number: u32) -> Result<Vec<String>> {
    root.offer_newer(package, number)?;
    root.let_hooks_run(false)?;
    let upgraded = root.run("apt-get upgrade -y");
    root.let_hooks_run(true)?;
    let mut wrong = Vec::new();
    if !upgraded?.contains(&format!("newer{number}")) {
        wrong.push("nothing was upgraded".to_owned());
    }
    if unused(root)?.is_empty() {
        wrong.push("all are called used".to_owned());
    }
    Ok(wrong)
}

/// Renews all.
pub fn renew(root: &Root) -> Result<Vec<String>> {
    let report = report(root, "headstart renew --json")?;
    let mut wrong: Vec<String> = report
        .programs
        .iter()
        .filter(|program| {
            !matches!(program.outcome, ProgramOutcome::Fresh | ProgramOutcome::Renewed)
        })
        .map(|program| format!("{}: {:?} {:?}", program.named, program.outcome, program.reason))
        .collect();
    if !report.programs.iter().any(|program| program.outcome == ProgramOutcome::Renewed) {
        wrong.push("none was renewed".to_owned());
    }
    wrong.extend(unused(root)?);
    Ok(wrong)
}

/// Upgrades a library: dpkg's own hook renews what it is merged into.
pub fn upgrade_with_hook(root: &Root, package: &str) -> Result<Vec<String>> {
    root.offer_newer(package, 2)?;
    let said = root.run("apt-get upgrade -y")?;
    let mut wrong = unused(root)?;
    if !said.contains("newer2") {
        wrong.push("nothing was upgraded".to_owned());
    }
    Ok(wrong)
}

/// A package that has nothing to do with any program, and touches the loader's configuration.
pub fn unrelated(root: &Root) -> Result<Vec<String>> {
    root.let_hooks_run(false)?;
    let done = root.run("apt-get install -y --no-install-recommends libfakeroot tree");
    root.let_hooks_run(true)?;
    done?;
    let mut wrong = unused(root)?;
    root.run("apt-get purge -y libfakeroot tree")?;
    wrong.extend(unused(root)?);
    Ok(wrong)
}

/// Packages of diverted programs are installed again, removed, and come back.
pub fn reinstall(root: &Root) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    root.run("apt-get install -y --reinstall jq zstd")?;
    wrong.extend(unused(root)?);
    root.run("apt-get remove -y jq && apt-get purge -y zstd")?;
    let left = root.said("ls /usr/bin/jq* /usr/bin/zstd* 2>/dev/null")?;
    if left.contains("/usr/bin") {
        wrong.push(format!("left of removed packages: {left}"));
    }
    root.run("apt-get install -y jq zstd")?;
    wrong.extend(unused(root)?);
    Ok(wrong)
}

/// headstart is killed at moments that are spread over its work; each time every program answers, and
/// what was begun is ended by the next one.
pub fn killed(root: &Root, answers: &Answers, counts: &mut String) -> Result<Vec<String>> {
    let (mut wrong, mut killed, mut seed) = (Vec::new(), 0, 0x2545_f491_4f6c_dd1d_u64);
    for number in 0..KILLS {
        // xorshift64*: the same moments at every run.
        seed ^= seed >> 12;
        seed ^= seed << 25;
        seed ^= seed >> 27;
        let (work, latest_ms) = KILLED[(number % 3) as usize];
        let random = seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
        let after = Duration::from_millis(random % latest_ms);
        let few = if work == "renew" { "" } else { FEW };
        let line = format!("timeout -s KILL {} headstart {work} {few}", after.as_secs_f64());
        killed += u32::from(root.shell(&line)?.status.code() == Some(137));
        let broken = answers.wrong(root);
        wrong.extend(broken.iter().map(|what| format!("after {line}: {what}")));
        if number % 10 == 9 {
            let ended = report(root, "headstart renew --json")?;
            let failed = ended.programs.iter().filter(|one| one.outcome == ProgramOutcome::Failed);
            wrong.extend(failed.map(|one| format!("renew after {line}: {:?}", one.reason)));
            // Nothing is installed after some.
            if !list(root)?.programs.is_empty() {
                wrong.extend(unused(root)?);
            }
        }
    }
    *counts = format!("{killed} of {KILLS} times in the middle of its work");
    Ok(wrong)
}

/// The disk of bundles is full while programs are installed and renewed; it is another file system than
/// that of the programs.
pub fn full_disk(root: &Root, package: &str) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let state = root.place.join(STATE);
    for mib in [1, 8, 40] {
        let before = root.snapshot()?;
        let _small = Small::over(&state, mib)?;
        let report = report(root, "headstart install --json gs")?;
        if report.programs.iter().any(|program| program.outcome != ProgramOutcome::Failed) {
            wrong.push(format!("{mib} MiB are enough: {report:?}"));
        }
        drop(_small);
        wrong.extend(root.changed(&before)?);
    }
    let _small = Small::over(&state, 130)?;
    root.run(&format!("headstart install gs xsltproc {FEW}"))?;
    root.run("dd if=/dev/zero of=/var/lib/headstart/full bs=64k 2>/dev/null; true")?;
    wrong.extend(upgrade(root, package, 3)?);
    let full = report(root, "headstart renew --json")?;
    if !full.programs.iter().any(|program| program.outcome == ProgramOutcome::Failed) {
        wrong.push(format!("a full disk is enough: {full:?}"));
    }
    wrong
        .extend(root.said("gs --version").map(|said| (!said.contains("Some(0)")).then_some(said))?);
    root.run("rm /var/lib/headstart/full")?;
    root.run("headstart renew")?;
    wrong.extend(unused(root)?);
    root.run("headstart remove --all")?;
    Ok(wrong)
}
