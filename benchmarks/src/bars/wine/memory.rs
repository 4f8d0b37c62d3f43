//! What a process that has loaded DLLs has of its own, and what it maps from their files.

use super::launches::command;
use anyhow::{Context, Result, ensure};
use os::wine::Wine;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Memory of one process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Private dirty memory.
    pub private_kib: u64,
    /// Parts of the DLLs' files that are mapped, headers apart.
    pub mapped: u64,
}

/// A program under Wine that has done its work, and stays until this goes.
pub struct Waiting {
    child: Child,
    folder: PathBuf,
}

impl Waiting {
    /// Starts `words`, a program that prints `failed: 0` when it is ready, and stays then.
    pub fn start(wine: &Wine, folder: &Path, words: &[&str]) -> Result<Waiting> {
        let asked = command(wine, folder, words);
        let mut command = Command::new(&asked.program);
        command.arg0(&asked.argv[0]).args(&asked.argv[1..]).current_dir(folder);
        for (name, value) in &asked.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn().context("wine cannot be started")?;
        let mut waiting = Waiting { child, folder: folder.canonicalize()? };
        ready(waiting.child.stdout.take())?;
        Ok(waiting)
    }

    /// Its memory.
    pub fn memory(&self) -> Result<Memory> {
        read(self.child.id(), &self.folder)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Its input ends, and so does it.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn ready(stdout: Option<impl Read>) -> Result<()> {
    let (mut stdout, mut said) = (stdout.context("no output")?, Vec::new());
    let mut part = [0; 512];
    while !said.ends_with(b"\n") {
        let count = stdout.read(&mut part)?;
        ensure!(count > 0, "it ended: {}", String::from_utf8_lossy(&said));
        said.extend_from_slice(&part[..count]);
    }
    let said = String::from_utf8_lossy(&said);
    ensure!(said.trim_end().ends_with("failed: 0"), "{said}");
    Ok(())
}

/// From /proc: proc_pid_smaps(5).
fn read(pid: u32, folder: &Path) -> Result<Memory> {
    let smaps = std::fs::read_to_string(format!("/proc/{pid}/smaps"))?;
    let folder = folder.display().to_string();
    let mut memory = Memory::default();
    for line in smaps.lines() {
        if let Some(kib) = line.strip_prefix("Private_Dirty:") {
            memory.private_kib += kib.trim().trim_end_matches(" kB").parse::<u64>()?;
        } else if line.contains(&folder) {
            let offset = line.split_whitespace().nth(2).unwrap_or("0");
            memory.mapped += u64::from(u64::from_str_radix(offset, 16).unwrap_or(0) > 0);
        }
    }
    Ok(memory)
}
