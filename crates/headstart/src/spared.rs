//! Files that no result replaces: what a command reads, and what is no text.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// So many bytes tell whether a file is text.
const LOOKED_AT: u64 = 64 * 1024;
/// Archives of objects may begin with nothing but text.
const ARCHIVES: [&[u8]; 2] = [b"!<arch>\n", b"!<thin>\n"];

/// Whether `out` is one of these files, or in one of these folders, under whatever name.
pub fn is_among<'a>(out: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> bool {
    let Ok(there) = out.metadata() else { return false };
    let real = files::real_path(out).unwrap_or_else(|_| out.to_owned());
    let same = |input: &Metadata| (input.dev(), input.ino()) == (there.dev(), there.ino());
    inputs.into_iter().any(|input| match input.metadata() {
        Ok(data) if data.is_dir() => files::real_path(input).is_ok_and(|it| real.starts_with(it)),
        Ok(data) => there.is_file() && same(&data),
        Err(_) => false,
    })
}

/// Whether a file is there that no command writes: all results are text.
///
/// # Errors
/// It cannot be read, so nobody knows.
pub fn is_no_text(path: &Path) -> io::Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    File::open(path)?.take(LOOKED_AT).read_to_end(&mut start)?;
    let is_archive = ARCHIVES.iter().any(|magic| start.starts_with(magic));
    Ok(is_archive || start.contains(&0))
}

/// The files that a program's arguments may name: `FILE` and `--option=FILE`.
pub fn named_by(arguments: &[impl AsRef<std::ffi::OsStr>]) -> Vec<PathBuf> {
    let parts = |word: &[u8]| {
        let value = word.iter().position(|&byte| byte == b'=').map(|at| at + 1);
        [Some(0), value].into_iter().flatten().map(|at| word[at..].to_vec()).collect::<Vec<_>>()
    };
    let words = arguments.iter().flat_map(|word| parts(word.as_ref().as_bytes()));
    words.map(|word| PathBuf::from(std::ffi::OsStr::from_bytes(&word))).collect()
}

/// The files that a line for the shell may name: its words, and what its signs divide them into.
pub fn named_in(line: &str) -> Vec<PathBuf> {
    let is_sign = |c: char| c.is_whitespace() || "'\"`;|&<>()=,:@$".contains(c);
    let pieces = line.split(is_sign).filter(|piece| !piece.is_empty()).map(PathBuf::from);
    // With the names that have signs in them.
    named_by(&shlex::split(line).unwrap_or_default()).into_iter().chain(pieces).collect()
}

#[cfg(test)]
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
    fn only_text_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for (content, is_other) in [
            (&b"\x7fELF\x02\x01\x01\0"[..], true),
            (b"MZ\x90\0", true),
            (b"!<arch>\nlib/", true),
            (b"MZ_initialize\nmain\n", false),
            (b"caf\xe9.dll, Baseaddress: 0x1000\n", false),
            (b"", false),
        ] {
            fs::write(&file, content).unwrap();
            assert_eq!(is_no_text(&file).unwrap(), is_other, "{}", content.escape_ascii());
        }
        assert!(!is_no_text(&folder.path().join("gone")).unwrap());
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
