//! Command lines of desktop entries and units, as far as one has to know where their words begin.

/// A word of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Where it begins in the line, in bytes.
    pub(super) at: usize,
    /// Its bytes without quotation marks and escapes.
    pub(super) bytes: Vec<u8>,
}

/// Divides at spaces and tabs outside of quotation marks. `bytes` are those of the line with the
/// place of each in it. A backslash takes the next byte as it stands.
///
/// # Errors
/// A quotation mark is not closed.
pub(super) fn divided(bytes: &[(usize, u8)]) -> Result<Vec<Word>, String> {
    let (mut words, mut word, mut quote): (Vec<Word>, Option<Word>, _) = (Vec::new(), None, None);
    let mut rest = bytes.iter();
    while let Some(&(at, byte)) = rest.next() {
        let is_space = matches!(byte, b' ' | b'\t') && quote.is_none();
        if is_space {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert(Word { at, bytes: Vec::new() });
        match byte {
            _ if quote == Some(byte) => quote = None,
            b'"' | b'\'' if quote.is_none() => quote = Some(byte),
            b'\\' if quote != Some(b'\'') => word.bytes.extend(rest.next().map(|next| next.1)),
            _ => word.bytes.push(byte),
        }
    }
    if quote.is_some() {
        return Err("a quotation mark is not closed".to_owned());
    }
    words.extend(word);
    Ok(words)
}

/// Where the word of a value of a desktop entry ends that begins at `at`.
pub(super) fn end(value: &[u8], at: usize) -> usize {
    let bytes = unescaped(value);
    let after = bytes.iter().skip_while(|(place, _)| *place < at);
    let (mut quote, mut escaped) = (None, false);
    for &(place, byte) in after {
        match byte {
            b' ' | b'\t' if quote.is_none() && !escaped => return place,
            _ if escaped => escaped = false,
            b'\\' if quote != Some(b'\'') => escaped = true,
            _ if quote == Some(byte) => quote = None,
            b'"' | b'\'' if quote.is_none() => quote = Some(byte),
            _ => {}
        }
    }
    value.len()
}

/// The bytes of a value as they stand.
pub(super) fn plain(value: &[u8]) -> Vec<(usize, u8)> {
    value.iter().copied().enumerate().collect()
}

/// The bytes of a value of type string of a desktop entry: `\s`, `\n`, `\t`, `\r` and `\\` stand for
/// one byte each.
pub(super) fn unescaped(value: &[u8]) -> Vec<(usize, u8)> {
    let (mut bytes, mut at) = (Vec::new(), 0);
    while let Some(&byte) = value.get(at) {
        let escaped = match (byte, value.get(at + 1)) {
            (b'\\', Some(b's')) => Some(b' '),
            (b'\\', Some(b'n')) => Some(b'\n'),
            (b'\\', Some(b't')) => Some(b'\t'),
            (b'\\', Some(b'r')) => Some(b'\r'),
            (b'\\', Some(b'\\')) => Some(b'\\'),
            _ => None,
        };
        bytes.push((at, escaped.unwrap_or(byte)));
        at += if escaped.is_some() { 2 } else { 1 };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<(usize, String)> {
        let words = divided(&plain(line.as_bytes())).unwrap();
        words.into_iter().map(|w| (w.at, String::from_utf8(w.bytes).unwrap())).collect()
    }

    #[test]
    fn words_are_those_of_a_quoted_line_and_begin_where_they_do() {
        let found = words(" a\t\"b c\\\"\"d  'e \\' ''");
        let wanted = [(1, "a"), (3, "b c\"d"), (13, "e \\"), (19, "")];
        assert_eq!(found, wanted.map(|(at, word)| (at, word.to_owned())));
        assert!(words("  ").is_empty());
        assert!(divided(&plain(b"a \"b")).is_err() && divided(&plain(b"'")).is_err());
    }

    #[test]
    fn escapes_of_strings_come_before_those_of_quotes() {
        let value = br#""a\\$b\sc" d"#;
        let words = divided(&unescaped(value)).unwrap();
        assert_eq!((words[0].at, words[0].bytes.as_slice()), (0, &b"a$b c"[..]));
        assert_eq!(&value[words[1].at..], b"d");
    }
}
