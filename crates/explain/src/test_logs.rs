//! Recorded loader logs for tests. First line: total and process id of the launch; then one line
//! of `microseconds process text` each, as the recorder stamps them.

use model::{LoaderLine, LoaderLog};
use std::path::PathBuf;

pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/logs/{name}.log"))
}

pub(crate) fn log(name: &str) -> LoaderLog {
    let text = std::fs::read_to_string(path(name)).unwrap();
    let mut lines = text.lines();
    let (total, pid) = lines.next().unwrap().split_once(' ').unwrap();
    let lines = lines.map(|line| {
        let mut parts = line.splitn(3, ' ');
        LoaderLine {
            at_us: parts.next().unwrap().parse().unwrap(),
            pid: parts.next().unwrap().parse().unwrap(),
            text: parts.next().unwrap_or_default().to_owned(),
        }
    });
    LoaderLog {
        total_us: total.parse().unwrap(),
        pid: pid.parse().unwrap(),
        lines: lines.collect(),
    }
}
