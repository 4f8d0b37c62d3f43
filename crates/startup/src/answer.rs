//! What a preamble answers to headstart when it is asked whether the bundle is used.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Variable of the environment that asks a preamble what it has found.
pub const TRACE_VARIABLE: &str = "HEADSTART_TRACE";
/// Its value for an [`Answer`] on standard output, after which the process ends.
pub const TRACE_ANSWERS: &str = "verify";

/// Variable of the environment in which starts of the original are counted, or which forbids them.
pub const STALE_VARIABLE: &str = "HEADSTART_STALE";

/// Whether a stale bundle does not start its original where [`STALE_VARIABLE`] has this value.
pub fn forbids_original(value: &OsStr) -> bool {
    let count = value.as_bytes();
    count.len() != 3 || !count.iter().all(u8::is_ascii_digit)
}

/// What a start does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The merged code runs.
    Used,
    /// The original is started.
    Stale {
        /// What has changed: a path, a variable of the environment, a library, or words.
        subject: OsString,
        /// What is wrong with that, to follow it.
        cause: String,
    },
}

impl Answer {
    /// Reads what a preamble has written; `None` where it is something else.
    pub fn read(output: &[u8]) -> Option<Answer> {
        let mut texts = output.strip_suffix(b"\0")?.split(|&byte| byte == 0);
        let answer = match texts.next()? {
            b"used" => Answer::Used,
            b"stale" => Answer::Stale {
                subject: OsStr::from_bytes(texts.next()?).to_owned(),
                cause: String::from_utf8_lossy(texts.next()?).into_owned(),
            },
            _ => return None,
        };
        texts.next().is_none().then_some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_answers_are_read() {
        assert_eq!(Answer::read(b"used\0"), Some(Answer::Used));
        let stale = Answer::Stale { subject: "/a\nb".into(), cause: " has gone".to_owned() };
        assert_eq!(Answer::read(b"stale\0/a\nb\0 has gone\0"), Some(stale));
        for other in ["", "used", "used\0more\0", "stale\0", "stale\0a\0", "stale\0a\0b\0c\0"] {
            assert_eq!(Answer::read(other.as_bytes()), None, "{other:?}");
        }
    }
}
