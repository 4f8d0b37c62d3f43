//! A Debian system in a folder, made by debootstrap, in which commands run.

use super::{PACKAGES, UPGRADED};
use crate::context::Context;
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MIRROR: &str = "http://deb.debian.org/debian";
const SUITE: &str = "bookworm";
/// Where headstart is in it.
const HEADSTART: &str = "usr/local/bin/headstart";
/// What is mounted, and unmounted in the other order.
const MOUNTED: [&str; 3] = ["proc", "dev", "dev/pts"];

/// What becomes other files whatever is done with packages.
const VOLATILE: [&str; 10] = [
    "./var/lib/dpkg/info/",
    "./var/lib/dpkg/diversions",
    "./var/lib/dpkg/status",
    "./var/lib/dpkg/available",
    "./var/lib/dpkg/lock",
    "./var/lib/dpkg/triggers",
    "./var/lib/apt/",
    "./var/log/",
    "./var/cache/",
    "./tmp/",
];

/// Lines of all files, by path: kind, mode, owner, size, time and content.
pub type Snapshot = BTreeMap<String, String>;

/// The system; unmounted when dropped.
pub struct Root {
    pub place: PathBuf,
}

impl Root {
    /// A new one with all packages, and headstart in it.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(context: &Context) -> Result<Root> {
        ensure!(rustix::process::geteuid().is_root(), "only root can make a system");
        let place = context.scratch.join("debian");
        let made = Command::new("debootstrap")
            .args(["--variant=minbase", SUITE])
            .arg(&place)
            .arg(MIRROR)
            .output()
            .context("debootstrap")?;
        ensure!(made.status.success(), "debootstrap: {}", last_lines(&made));
        fs::copy("/etc/resolv.conf", place.join("etc/resolv.conf"))?;
        fs::copy(&context.headstart.program, place.join(HEADSTART))?;
        let root = Root { place };
        root.mount()?;
        root.run("apt-get update")?;
        root.run(&format!("apt-get install -y --no-install-recommends {PACKAGES}"))?;
        let upgraded = UPGRADED.join(" ");
        root.run(&format!("mkdir /debs && cd /debs && apt-get download {upgraded} 2>&1"))?;
        Ok(root)
    }

    fn mount(&self) -> Result<()> {
        let at = |name: &str| self.place.join(name);
        let mount = |words: &[&str], name: &str| -> Result<()> {
            let status = Command::new("mount").args(words).arg(at(name)).status()?;
            ensure!(status.success(), "{name} cannot be mounted");
            Ok(())
        };
        mount(&["-t", "proc", "proc"], MOUNTED[0])?;
        mount(&["--bind", "/dev"], MOUNTED[1])?;
        mount(&["-t", "devpts", "devpts"], MOUNTED[2])
    }

    /// Runs a line of the shell in it.
    pub fn shell(&self, line: &str) -> Result<Output> {
        let mut command = Command::new("chroot");
        command.arg(&self.place).args(["sh", "-c", line]).env_clear();
        let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        command.env("PATH", path).env("HOME", "/root").env("DEBIAN_FRONTEND", "noninteractive");
        command.output().with_context(|| line.to_owned())
    }

    /// The same, which has to succeed.
    pub fn run(&self, line: &str) -> Result<String> {
        let output = self.shell(line)?;
        ensure!(output.status.success(), "{line}: {}", last_lines(&output));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// All that a line writes, and how it ends.
    pub fn said(&self, line: &str) -> Result<String> {
        let output = self.shell(line)?;
        let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        Ok(format!("{out}{err}{:?}", output.status.code()))
    }

    /// All files, but for what changes anyway. Times of folders change with what is in them.
    pub fn snapshot(&self) -> Result<Snapshot> {
        let kinds = self.run(
            "cd / && find . -xdev -printf '%p\\t%y %m %U:%G %s %T@ %l\\n'; \
             cd / && find . -xdev -type f -print0 | xargs -0 sha256sum",
        )?;
        let mut found = Snapshot::new();
        for line in kinds.lines() {
            if let Some((path, facts)) = line.split_once('\t') {
                let words: Vec<&str> = facts.split(' ').collect();
                let facts = if words[0] == "d" { words[..3].join(" ") } else { facts.to_owned() };
                found.insert(path.to_owned(), facts);
            } else if let Some((hash, path)) = line.split_once("  ") {
                found.entry(path.to_owned()).or_default().push_str(hash);
            }
        }
        found.retain(|path, _| !VOLATILE.iter().any(|start| path.starts_with(start)));
        Ok(found)
    }

    /// Paths that are not as before.
    pub fn changed(&self, before: &Snapshot) -> Result<Vec<String>> {
        let now = self.snapshot()?;
        let paths = before.keys().chain(now.keys().filter(|path| !before.contains_key(*path)));
        let changed = paths.filter(|path| before.get(*path) != now.get(*path));
        Ok(changed.cloned().collect())
    }

    /// A newer version of a package, with the same files, in a repository that apt knows.
    pub fn offer_newer(&self, package: &str, number: u32) -> Result<()> {
        let script = format!(
            "set -e; rm -rf /repo; mkdir -p /repo; cd /repo; dpkg-deb -R /debs/{package}_*.deb t; \
             sed -i 's/^Version: .*/&+newer{number}/' t/DEBIAN/control; \
             find t -type f -name '*.so*' -exec touch -d '2024-01-0{number} 01:02:03' {{}} +; \
             dpkg-deb -Zgzip -z1 -b t {package}.deb; rm -r t; \
             {{ dpkg-deb -f {package}.deb; echo Filename: ./{package}.deb; \
             echo Size: $(stat -c %s {package}.deb); \
             echo SHA256: $(sha256sum {package}.deb | cut -d' ' -f1); }} > Packages; \
             echo 'deb [trusted=yes] file:/repo ./' > /etc/apt/sources.list.d/newer.list; \
             apt-get update 2>&1"
        );
        self.run(&script).map(drop)
    }

    /// headstart as it is seen by hooks: there, or not.
    pub fn let_hooks_run(&self, run: bool) -> Result<()> {
        self.run(if run {
            "chmod +x /usr/local/bin/headstart"
        } else {
            "chmod -x /usr/local/bin/headstart"
        })
        .map(drop)
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        for name in MOUNTED.iter().rev() {
            // A mount that stays busy is at least out of the way.
            let _ = Command::new("umount").arg("--lazy").arg(self.place.join(name)).status();
        }
    }
}

fn last_lines(output: &Output) -> String {
    let text = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    let text = text.concat();
    let lines: Vec<&str> = text.lines().rev().take(4).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
}

/// A small file system in memory over a folder; unmounted when dropped.
pub struct Small {
    place: PathBuf,
}

impl Small {
    /// One of this size.
    pub fn over(folder: &Path, mib: u32) -> Result<Small> {
        fs::create_dir_all(folder)?;
        let size = format!("size={mib}m,mode=755");
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(folder)
            .status()?;
        ensure!(status.success(), "no small file system");
        Ok(Small { place: folder.to_owned() })
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.place).status();
        let _ = fs::remove_dir(&self.place);
    }
}
