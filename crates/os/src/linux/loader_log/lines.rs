//! From messages on stderr to the loader's lines; what the program itself writes is dropped.
//!
//! The loader begins each line with its process id: `"%5d:\t"` (glibc, `elf/dl-misc.c` and
//! `elf/dl-printf.c`). A long line may arrive in several messages.

use super::datagrams::Datagram;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// One line with the time of its first message.
pub(super) struct Line {
    pub(super) pid: u32,
    pub(super) at_ns: u64,
    pub(super) text: String,
}

/// Puts lines together.
#[derive(Default)]
pub(super) struct Lines {
    lines: Vec<Line>,
    /// The unfinished line of each process.
    open: HashMap<u32, usize>,
}

impl Lines {
    pub(super) fn add(&mut self, datagram: &Datagram<'_>) {
        for part in datagram.bytes.split_inclusive(|&byte| byte == b'\n') {
            let finished = part.ends_with(b"\n");
            if let Some((printed_pid, text)) = loader_line(part) {
                // In another pid namespace the printed id is not ours; the kernel's is.
                let pid = datagram.pid.unwrap_or(printed_pid);
                self.lines.push(Line { pid, at_ns: datagram.at_ns, text: clean(text) });
                self.open.insert(pid, self.lines.len() - 1);
            } else if let Some(line) = self.open_line(datagram.pid) {
                line.text.push_str(clean_end(part).as_str());
            }
            if finished && let Some(pid) = datagram.pid {
                self.open.remove(&pid);
            }
        }
    }

    fn open_line(&mut self, pid: Option<u32>) -> Option<&mut Line> {
        let index = *self.open.get(&pid?)?;
        self.lines.get_mut(index)
    }

    /// The lines that say something, in order of arrival.
    pub(super) fn finish(self) -> Vec<Line> {
        self.lines.into_iter().filter(|line| !line.text.is_empty()).collect()
    }
}

/// Splits `"  123:\ttext"`.
fn loader_line(line: &[u8]) -> Option<(u32, &[u8])> {
    let line = line.trim_ascii_start();
    let colon = line.iter().position(|&byte| byte == b':')?;
    let pid = std::str::from_utf8(&line[..colon]).ok()?;
    let is_number = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    let text = line[colon + 1..].strip_prefix(b"\t")?;
    if is_number { Some((pid.parse().ok()?, text)) } else { None }
}

fn clean(text: &[u8]) -> String {
    clean_end(text.trim_ascii_start())
}

fn clean_end(text: &[u8]) -> String {
    model::text::text(OsStr::from_bytes(text.trim_ascii_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(messages: &[(u32, &str)]) -> Vec<(u32, String)> {
        let mut lines = Lines::default();
        for &(pid, text) in messages {
            lines.add(&Datagram { pid: Some(pid), at_ns: 0, bytes: text.as_bytes() });
        }
        lines.finish().into_iter().map(|line| (line.pid, line.text)).collect()
    }

    #[test]
    fn keeps_loader_lines_and_drops_the_programs_output() {
        let found = texts(&[
            (7, "      7:\t\n      7:\tcalling init: /lib/a.so\n      7:\t\n"),
            (7, "warning: something\n"),
            (7, "9:30 is a time\n12: no tab\n"),
            (7, "partial"),
        ]);
        assert_eq!(found, [(7, "calling init: /lib/a.so".to_owned())]);
    }

    #[test]
    fn joins_a_line_that_arrives_in_pieces_by_process() {
        let found = texts(&[
            (7, "      7:\tbinding file a to b: normal symbol `f'"),
            (8, "      8:\tcalling init: b\n"),
            (8, " not mine\n"),
            (7, " [GLIBC_2.2.5]\n"),
        ]);
        let joined = "binding file a to b: normal symbol `f' [GLIBC_2.2.5]".to_owned();
        assert_eq!(found, [(7, joined), (8, "calling init: b".to_owned())]);
    }

    #[test]
    fn trusts_the_kernel_about_the_sender() {
        assert_eq!(texts(&[(4711, "      2:\tx\n")]), [(4711, "x".to_owned())]);
    }
}
