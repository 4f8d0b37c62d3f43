//! What a look asks of the system, by strace.

use crate::report::Row;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const BUDGET_BYTES: u64 = 65_536;

/// Calls that name one file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Calls {
    opens: u32,
    reads: u32,
    asked_bytes: u64,
    mappings: u32,
}

/// One look at each of the files and at Wine's DLLs, where there are any.
pub(super) fn rows(headstart: &Path, files: &[PathBuf]) -> Result<Vec<Row>> {
    let mut files = files.to_vec();
    let wine = Path::new("/usr/lib/x86_64-linux-gnu/wine/x86_64-windows");
    files.extend(super::below(wine).unwrap_or_default());
    files.sort();
    files.dedup();
    // One thread: the lines of several would interrupt each other.
    let mut command = Command::new("strace");
    let log = tempfile::NamedTempFile::new()?;
    command.args(["-f", "-y", "-e", "trace=openat,open,read,pread64,mmap,close", "-o"]);
    command.arg(log.path()).arg(headstart).arg("identify").args(&files);
    command.env("RAYON_NUM_THREADS", "1").stdout(Stdio::null());
    let status = command.status().context("strace cannot be run")?;
    ensure!(status.success(), "headstart identify failed under strace: {status}");
    let counted = count(&std::fs::read_to_string(log.path())?);
    let seen: Vec<&Calls> = files.iter().filter_map(|path| counted.get(path.to_str()?)).collect();
    let opened_once = seen.iter().filter(|calls| calls.opens == 1).count();
    let mapped = seen.iter().filter(|calls| calls.mappings > 0).count();
    let most = seen.iter().map(|calls| calls.asked_bytes).max().unwrap_or(0);
    let most_reads = seen.iter().map(|calls| calls.reads).max().unwrap_or(0);
    let total = files.len();
    Ok(vec![
        Row::bar(
            format!("files of {total} opened exactly once"),
            opened_once.to_string(),
            "all",
            opened_once == total,
        ),
        Row::bar("files mapped", mapped.to_string(), "0", mapped == 0),
        Row::bar(
            "most bytes asked for of one file",
            format!("{most} in {most_reads} reads at most"),
            "≤ 65536",
            most <= BUDGET_BYTES,
        ),
    ])
}

/// The calls of a log that name a file by its descriptor (`3</path>`), by path.
fn count(log: &str) -> BTreeMap<String, Calls> {
    let mut all: BTreeMap<String, Calls> = BTreeMap::new();
    for line in log.lines() {
        let call = line.split_once(' ').map_or("", |(_, call)| call.trim_start());
        let (name, result) = (call.split('(').next().unwrap_or(""), call.rsplit(") = ").next());
        let named = if name.starts_with("open") { result.unwrap_or("") } else { call };
        let path = named.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
        let Some((path, _)) = path else { continue };
        let calls = all.entry(path.to_owned()).or_default();
        match name {
            "open" | "openat" => calls.opens += 1,
            "mmap" => calls.mappings += 1,
            "read" | "pread64" => {
                calls.reads += 1;
                calls.asked_bytes += asked(name, call);
            }
            _ => {}
        }
    }
    all
}

/// The length in `read(3<a>, "…"..., 832) = 832` or `pread64(3<a>, "…"..., 4096, 0) = 4096`.
fn asked(name: &str, call: &str) -> u64 {
    let arguments = call.rsplit_once(") = ").map_or("", |(arguments, _)| arguments);
    let mut last = arguments.rsplit(", ").skip(usize::from(name == "pread64"));
    last.next().and_then(|length| length.trim().parse().ok()).unwrap_or(u64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_file() {
        let log = concat!(
            "7 openat(AT_FDCWD</w>, \"/a\", O_RDONLY) = 3</a>\n",
            "7 pread64(3</a>, \"\\177E, L)\"..., 4096, 0) = 4096\n",
            "7 pread64(3</a>, \"\", 20, 8192) = 20\n",
            "7 close(3</a>)  = 0\n",
            "7 openat(AT_FDCWD</w>, \"/b\", O_RDONLY) = 3</b>\n",
            "7 read(3</b>, \"x\", 832) = 1\n",
            "7 mmap(NULL, 9, PROT_READ, MAP_PRIVATE, 3</b>, 0) = 0x7f00\n",
            "7 mmap(NULL, 9, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f00\n",
        );
        let counted = count(log);
        assert_eq!(counted["/a"], Calls { opens: 1, reads: 2, asked_bytes: 4116, mappings: 0 });
        assert_eq!(counted["/b"], Calls { opens: 1, reads: 1, asked_bytes: 832, mappings: 1 });
    }
}
