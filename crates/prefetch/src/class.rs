//! Which launches read the same: those of one program with the same kind of arguments.

use ahead::class::ClassWords;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Digits of a hash in a file's name.
const DIGITS: usize = 12;
/// Of a program's name.
const LONGEST_NAME: usize = 40;

/// What stands for the arguments of a launch: the names of its options, its sub-command (a first
/// word that is no path), and the endings of the names of its files. Values do not count, so a
/// launch with another file of the same kind is in the same class.
pub fn of<Word: AsRef<OsStr>>(arguments: &[Word]) -> Vec<String> {
    let mut words = ClassWords::new();
    let written = arguments.iter().filter_map(|argument| {
        let word = words.next(argument.as_ref().as_bytes())?;
        Some(String::from_utf8_lossy(&[word.before, word.rest].concat()).into_owned())
    });
    let class: BTreeSet<String> = written.collect();
    class.into_iter().collect()
}

/// The class with these digits that a command line may have, whatever stands before its arguments:
/// variables and the program.
pub(crate) fn of_line(line: &str, digits: &str) -> Option<Vec<String>> {
    let words = shlex::split(line)?;
    let classes = (1..=words.len()).map(|first| of(&words[first..]));
    classes.into_iter().find(|class| digits_of(class) == digits)
}

/// What the names of all recordings of a program begin with.
pub(crate) fn of_program(program: &Path) -> String {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._+".contains(c) { c } else { '_' };
    let name: String = name.chars().take(LONGEST_NAME).map(plain).collect();
    format!("{}-{}-", name.trim_start_matches('.'), digits(program.as_os_str().as_bytes()))
}

/// What the name of a class ends with.
pub(crate) fn digits_of(class: &[String]) -> String {
    digits(class.join("\0").as_bytes())
}

fn digits(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>()[..DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_do_not_count_and_kinds_do() {
        let one = of(&["--export-type=png", "-O2", "in/a.svg", "out"]);
        assert_eq!(one, ["*.svg", "--export-type", "-O"]);
        assert_eq!(of(&["--export-type=pdf", "-O0", "b.svg"]), one);
        assert_ne!(of(&["--export-type=pdf", "b.png"]), one);
        assert_eq!(of(&["status", "-s"]), ["-s", "status"]);
        assert_eq!(of(&["-s", "status"]), ["-s", "status"]);
        assert_eq!(of(&["-c", "1 + 1", "status"]), ["-c"]);
        assert_eq!(of(&["3.14", "-"]), Vec::<String>::new());
        assert!(of::<&str>(&[]).is_empty());
    }

    #[test]
    fn programs_of_the_same_name_are_told_apart() {
        let (one, other) = (of_program(Path::new("/bin/a")), of_program(Path::new("/usr/bin/a")));
        assert!(one.starts_with("a-") && other.starts_with("a-") && one != other);
        let odd = of_program(Path::new(OsStr::from_bytes(b"/x/..\xff b/")));
        assert!(!odd.contains('/') && !odd.starts_with('.') && odd.is_ascii(), "{odd}");
    }
}
