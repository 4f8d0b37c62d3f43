//! Files that no result replaces: those that a command reads.

use files::Stamp;
use model::text;
use std::path::{Path, PathBuf};

/// Whether `out` is one of these files, or in one of these folders, under whatever name.
pub fn is_among<'a>(out: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> bool {
    let Some(there) = Stamp::now(out) else { return false };
    let real = files::real_path(out).unwrap_or_else(|_| out.to_owned());
    inputs.into_iter().any(|input| match Stamp::now(input) {
        Some(_) if input.is_dir() => files::real_path(input).is_ok_and(|it| real.starts_with(it)),
        Some(stamp) => out.is_file() && stamp.identity == there.identity,
        None => false,
    })
}

/// The files that a program's arguments may name: `FILE` and `--option=FILE`.
pub fn named_by(arguments: &[impl AsRef<std::ffi::OsStr>]) -> Vec<PathBuf> {
    let names = |word: String| {
        let value = word.split_once('=').map(|(_, value)| text::name(value));
        [Some(text::name(&word)), value]
    };
    let words = arguments.iter().map(|word| text::text(word.as_ref()));
    words.flat_map(names).flatten().map(PathBuf::from).collect()
}

/// The files that a line for the shell may name: its words, and what its signs divide them into.
#[cfg(target_os = "linux")]
pub fn named_in(line: &str) -> Vec<PathBuf> {
    let is_sign = |c: char| c.is_whitespace() || "'\"`;|&<>()=,:@$".contains(c);
    let pieces = line.split(is_sign).filter(|piece| !piece.is_empty()).map(PathBuf::from);
    // With the names that have signs in them.
    named_by(&shlex::split(line).unwrap_or_default()).into_iter().chain(pieces).collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_input_is_known_by_each_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("inputs")).unwrap();
        fs::write(at("inputs/t"), "trace").unwrap();
        fs::write(at("other"), "trace").unwrap();
        std::os::unix::fs::symlink("inputs/t", at("link")).unwrap();
        fs::hard_link(at("inputs/t"), at("hard")).unwrap();
        let input = at("inputs/t");
        for name in ["inputs/t", "inputs/../inputs/t", "link", "hard"] {
            assert!(is_among(&at(name), [input.as_path()]), "{name}");
        }
        assert!(is_among(&at("link"), [at("inputs").as_path()]), "in a folder");
        assert!(!is_among(&at("other"), [input.as_path(), &at("inputs"), &at("gone")]));
        assert!(!is_among(&at("gone"), [at("gone").as_path()]));
    }

    #[test]
    fn lines_name_files_in_words_and_between_signs() {
        let found = named_in("cd x;sh -c '. ./a.sh <b' --from=c -Wl,-T,d 'e f'");
        for name in ["a.sh", "b", "c", "d", "e f"] {
            assert!(found.iter().any(|path| path.ends_with(name)), "{name}: {found:?}");
        }
    }

    #[test]
    fn arguments_name_files_in_two_ways() {
        let found = named_by(&["a.c", "--from=b=c"]);
        assert_eq!(found, ["a.c", "--from=b=c", "b=c"].map(PathBuf::from));
    }
}
