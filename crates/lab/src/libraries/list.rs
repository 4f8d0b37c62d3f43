//! Lists of libraries: text with one name a line, as LoadDlls has them.

use model::text;
use std::ffi::OsString;

/// The longest list in bytes.
pub const LARGEST_LIST_BYTES: usize = 4 << 20;
/// The most names of a list.
const MOST_NAMES: usize = 10_000;
/// The longest name in bytes: that of a path. On Windows it has 32 767 characters of three bytes.
const LONGEST_NAME: usize = if cfg!(windows) { 3 * 32_767 } else { 4095 };

/// Why a list cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{found}", .line.map_or(String::new(), |line| format!("line {line}: ")))]
pub struct LibraryListError {
    /// The line, from 1, where it is about one.
    pub line: Option<usize>,
    /// What was found.
    pub found: String,
    /// The next step.
    pub remedy: &'static str,
}

const AS_UTF8: &str = "save the list as UTF-8, or as UTF-16 with a byte order mark";
const A_TEXT: &str = "give a text file with the name of a library on each line";

/// The names of a list.
///
/// Blank lines are skipped, and what follows a `#` or `;` at the beginning of a line or behind a
/// space. A name may be in quotation marks, in which these characters are part of it. UTF-8 (on Linux any
/// bytes, as in names of files), and UTF-16 of either order behind a byte order mark.
///
/// # Errors
/// It is not text, too large, or names nothing; or a line is none.
pub fn library_names(bytes: &[u8]) -> Result<Vec<OsString>, LibraryListError> {
    let whole = |found: String, remedy| LibraryListError { line: None, found, remedy };
    if bytes.len() > LARGEST_LIST_BYTES {
        let found = format!("it is larger than {} MiB", LARGEST_LIST_BYTES >> 20);
        return Err(whole(found, A_TEXT));
    }
    if image::is_elf(bytes) || image::is_pe(bytes) {
        return Err(whole("it is a program or a library itself".to_owned(), A_TEXT));
    }
    let bytes = decoded(bytes)?;
    let mut names = Vec::new();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let wrong = |found: String, remedy| LibraryListError { line: Some(number), found, remedy };
        let Some(name) = name(line).map_err(|(found, remedy)| wrong(found, remedy))? else {
            continue;
        };
        if name.len() > LONGEST_NAME {
            let found = format!("the name has {} bytes, more than a path can have", name.len());
            return Err(wrong(found, A_TEXT));
        }
        if cfg!(windows) && str::from_utf8(&name).is_err() {
            return Err(wrong("the name is not UTF-8".to_owned(), AS_UTF8));
        }
        if names.len() == MOST_NAMES {
            return Err(wrong(
                format!("there are more than {MOST_NAMES} names"),
                "divide the list",
            ));
        }
        names.push(text::of_bytes(name));
    }
    if names.is_empty() {
        let found = "it names no library".to_owned();
        return Err(whole(found, "write the name or the path of a library on each line"));
    }
    Ok(names)
}

/// The bytes of the text, in UTF-8 where another encoding was marked.
pub(crate) fn decoded(bytes: &[u8]) -> Result<Vec<u8>, LibraryListError> {
    let wrong = |line: usize, found: &str, remedy| LibraryListError {
        line: Some(line),
        found: found.to_owned(),
        remedy,
    };
    let wide: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            let Some(at) = bytes.iter().position(|byte| *byte == 0) else {
                return Ok(bytes.to_owned());
            };
            let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
            let found = "there is a NUL byte: it is not text, or UTF-16 without a byte order mark";
            return Err(wrong(line, found, AS_UTF8));
        }
    };
    let (pairs, rest) = bytes[2..].as_chunks::<2>();
    let mut text = String::with_capacity(pairs.len());
    for unit in char::decode_utf16(pairs.iter().map(|pair| wide(*pair))) {
        let line = || 1 + text.matches('\n').count();
        match unit {
            Ok('\0') => return Err(wrong(line(), "there is a NUL character", A_TEXT)),
            Ok(unit) => text.push(unit),
            Err(half) => {
                let half = half.unpaired_surrogate();
                let found = format!(
                    "it is marked as UTF-16, and is not valid: {half:04x} is half of a character, whose \
                     other half is not beside it"
                );
                return Err(wrong(line(), &found, AS_UTF8));
            }
        }
    }
    if !rest.is_empty() {
        let line = 1 + text.matches('\n').count();
        let found = "it is marked as UTF-16, and ends within a character";
        return Err(wrong(line, found, AS_UTF8));
    }
    Ok(text.into_bytes())
}

/// The name on a line; `None` where there is none.
fn name(line: &[u8]) -> Result<Option<Vec<u8>>, (String, &'static str)> {
    let line = line.trim_ascii();
    let is_comment = |byte: &u8| matches!(byte, b'#' | b';');
    let Some(first) = line.first().filter(|byte| !is_comment(byte)) else {
        return Ok(None);
    };
    let found = if matches!(first, b'"' | b'\'') {
        let rest = &line[1..];
        let end = rest.iter().position(|byte| byte == first);
        let end = end.ok_or_else(|| {
            ("a quotation mark is not closed".to_owned(), "close it, or remove it")
        })?;
        let behind = rest[end + 1..].trim_ascii_start();
        if behind.first().is_some_and(|byte| !is_comment(byte)) {
            let found = "something follows the quotation marks".to_owned();
            return Err((found, "write one name on each line"));
        }
        &rest[..end]
    } else {
        let starts = |at: usize| line[at - 1].is_ascii_whitespace() && is_comment(&line[at]);
        let end = (1..line.len()).find(|at| starts(*at)).unwrap_or(line.len());
        line[..end].trim_ascii_end()
    };
    if found.is_empty() {
        return Err(("the name is empty".to_owned(), "write a name, or remove the line"));
    }
    if found.iter().any(u8::is_ascii_control) {
        let found = "there are control characters: it is not text".to_owned();
        return Err((found, A_TEXT));
    }
    Ok(Some(found.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(bytes: &[u8]) -> Vec<OsString> {
        library_names(bytes).unwrap()
    }

    #[test]
    fn comments_quotes_and_line_ends_of_all_kinds() {
        let text = "# a list\r\nliba.so\r\n\r\n; more\n  /lib/b.so  \n\"c d#.so\" # why\n\
                    'e\"f.so'\ng#h.so\nkernel32.dll ; Windows";
        let expected = ["liba.so", "/lib/b.so", "c d#.so", "e\"f.so", "g#h.so", "kernel32.dll"];
        assert_eq!(names(text.as_bytes()), expected);
        assert_eq!(names(b"\xef\xbb\xbfliba.so"), ["liba.so"]);
        for (mark, bytes) in [
            ([0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]),
            ([0xfe, 0xff], u16::to_be_bytes),
        ] {
            let wide = "libä.so\r\nb.so\r\n".encode_utf16().flat_map(bytes);
            let wide: Vec<u8> = mark.into_iter().chain(wide).collect();
            assert_eq!(names(&wide), ["libä.so", "b.so"]);
        }
    }

    /// As Windows' Notepad calls ANSI. On Linux any bytes can be a name.
    #[test]
    fn names_in_other_encodings_are_names_on_linux_alone() {
        match library_names(b"a.so\nlib\xff.so\n") {
            Ok(names) => assert_eq!(names[1].as_encoded_bytes(), b"lib\xff.so"),
            Err(error) => assert_eq!(error.to_string(), "line 2: the name is not UTF-8"),
        }
        assert_eq!(library_names(b"lib\xff.so").is_err(), cfg!(windows));
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_line() {
        let many = "a\n".repeat(MOST_NAMES + 1);
        let long = "x".repeat(LONGEST_NAME + 1);
        for (bytes, says) in [
            (&b""[..], "it names no library"),
            (b"# nothing\n\n", "it names no library"),
            (b"\x7fELF\x02\x01\x01", "a program or a library itself"),
            (b"a.so\nb\0.so", "line 2: there is a NUL byte"),
            (b"a.so\n\n\"b.so", "line 3: a quotation mark is not closed"),
            (b"'a' b", "line 1: something follows"),
            (b"''", "line 1: the name is empty"),
            (b"a\x01b", "line 1: there are control characters"),
            (b"\xff\xfea\0b", "line 1: it is marked as UTF-16, and ends within"),
            (b"\xff\xfe\n\0\x00\xd8", "line 2: it is marked as UTF-16, and is not valid"),
            (many.as_bytes(), "line 10001: there are more than 10000 names"),
            (long.as_bytes(), &format!("line 1: the name has {} bytes", long.len())),
            (&vec![b'#'; LARGEST_LIST_BYTES + 1], "larger than 4 MiB"),
        ] {
            let error = library_names(bytes).unwrap_err();
            assert!(
                error.to_string().starts_with(says) || error.to_string().contains(says),
                "{error}"
            );
            assert!(!error.remedy.is_empty());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(names) = library_names(&bytes) {
                prop_assert!(names.iter().all(|name| !name.is_empty() && !name.as_encoded_bytes().contains(&0)));
            }
        }
    }
}
