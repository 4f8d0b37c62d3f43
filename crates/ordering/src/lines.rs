//! Lines of text files that other tools write: their numbers, and errors that name and show them.

use std::borrow::Cow;
use std::fmt::{Debug, Display};

/// What editors and shells of Windows put in front of a text: in UTF-8, and in UTF-16.
const MARK: &[u8] = b"\xef\xbb\xbf";
const LITTLE_ENDIAN_MARK: [u8; 2] = [0xff, 0xfe];
const BIG_ENDIAN_MARK: [u8; 2] = [0xfe, 0xff];

/// So much of a line is shown in an error.
const SHOWN: usize = 160;

/// What is wrong with one line of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}: {problem}: \"{text}\"")]
pub struct LineError<P: Debug + Display> {
    /// The file, as the caller named it.
    pub file: String,
    /// Counted from 1.
    pub line: u64,
    /// The line, or the beginning of a long one; bytes that are no text are escaped.
    pub text: String,
    /// What is wrong.
    pub problem: P,
}

/// A line without what ends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub number: u64,
    pub bytes: &'a [u8],
    /// Whether a line feed ends it: the last line of a file that was cut short has none.
    pub is_whole: bool,
}

/// The lines of a file, which end with LF or CRLF.
#[derive(Clone)]
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
    number: u64,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Lines<'a> {
        Lines { rest: bytes, number: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let (line, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest.get(1..).unwrap_or_default();
        let bytes = line.strip_suffix(b"\r").unwrap_or(line);
        Some(Line { number: self.number, bytes, is_whole: end.is_some() })
    }
}

impl<'a> Line<'a> {
    /// Its words, divided by blanks.
    pub(crate) fn words(self) -> Words<'a> {
        Words { rest: self.bytes }
    }

    /// How many spaces it begins with.
    pub(crate) fn indentation(self) -> usize {
        self.bytes.iter().take_while(|&&byte| byte == b' ').count()
    }

    /// An error about this line.
    pub(crate) fn error<P: Debug + Display>(self, file: &str, problem: P) -> LineError<P> {
        let shown = self.bytes.get(..SHOWN).unwrap_or(self.bytes);
        let text = shown_text(shown);
        let more = if shown.len() < self.bytes.len() { "…" } else { "" };
        LineError { file: file.to_owned(), line: self.number, text: text + more, problem }
    }
}

fn shown_text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(char::is_control) => text.to_owned(),
        _ => bytes.escape_ascii().to_string(),
    }
}

/// The words of a line.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Words<'a> {
        Words { rest: bytes }
    }

    /// What follows the words that were taken, without blanks around it.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.rest.trim_ascii()
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.rest.trim_ascii_start();
        let end = start.iter().position(u8::is_ascii_whitespace).unwrap_or(start.len());
        let (word, rest) = start.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }
}

/// A text without the mark in front of it, and in UTF-8 if its mark tells that it is UTF-16, as what
/// a program writes is where PowerShell redirects it to a file.
pub(crate) fn unmarked(bytes: &[u8]) -> Cow<'_, [u8]> {
    let from_utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let (units, _) = bytes.as_chunks::<2>();
        let units = units.iter().map(|pair| unit(*pair));
        let text: String = char::decode_utf16(units)
            .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        Cow::Owned(text.into_bytes())
    };
    if let Some(text) = bytes.strip_prefix(MARK) {
        Cow::Borrowed(text)
    } else if let Some(text) = bytes.strip_prefix(&LITTLE_ENDIAN_MARK) {
        from_utf16(text, u16::from_le_bytes)
    } else if let Some(text) = bytes.strip_prefix(&BIG_ENDIAN_MARK) {
        from_utf16(text, u16::from_be_bytes)
    } else {
        Cow::Borrowed(bytes)
    }
}

/// Why digits are no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoNumber {
    /// They are no digits.
    Digits,
    /// It has more than 64 bits.
    TooLarge,
}

/// A hexadecimal number, with or without `0x`.
pub(crate) fn hexadecimal(digits: &[u8]) -> Result<u64, NoNumber> {
    let bare = digits.strip_prefix(b"0x").or(digits.strip_prefix(b"0X")).unwrap_or(digits);
    number(bare, 16)
}

/// A decimal number.
pub(crate) fn decimal(digits: &[u8]) -> Result<u64, NoNumber> {
    number(digits, 10)
}

fn number(digits: &[u8], radix: u32) -> Result<u64, NoNumber> {
    let mut value = 0_u64;
    for &digit in digits {
        let digit = char::from(digit).to_digit(radix).ok_or(NoNumber::Digits)?;
        let next = value.checked_mul(radix.into()).and_then(|it| it.checked_add(digit.into()));
        value = next.ok_or(NoNumber::TooLarge)?;
    }
    if digits.is_empty() { Err(NoNumber::Digits) } else { Ok(value) }
}

/// A name of any bytes as text, as [`model::text`] writes it.
pub(crate) fn name_text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => text.to_owned(),
        _ => model::text::text_of(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_without_their_ends() {
        let lines: Vec<_> = Lines::of(b"a\r\n\n b c ").collect();
        let seen: Vec<_> = lines.iter().map(|it| (it.number, it.bytes, it.is_whole)).collect();
        assert_eq!(seen, [(1, &b"a"[..], true), (2, b"", true), (3, b" b c ", false)]);
        let mut words = lines[2].words();
        assert_eq!(
            (words.next(), words.rest(), lines[2].indentation()),
            (Some(&b"b"[..]), &b"c"[..], 1)
        );
        assert!(Lines::of(b"").next().is_none());
    }

    #[test]
    fn marks_of_windows_are_left_out() {
        assert_eq!(*unmarked(b"\xef\xbb\xbfa\n"), *b"a\n");
        assert_eq!(*unmarked("\u{feff}é\n".as_bytes()), *"é\n".as_bytes());
        let utf16 = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{feff}é🦀\r\n".encode_utf16().flat_map(unit).collect()
        };
        for bytes in [utf16(u16::to_le_bytes), utf16(u16::to_be_bytes)] {
            assert_eq!(*unmarked(&bytes), *"é🦀\r\n".as_bytes());
        }
        assert_eq!(*unmarked(b"\xff\xfea"), *b"", "half a character is left out");
        assert_eq!(*unmarked(b"caf\xe9"), *b"caf\xe9");
    }

    #[test]
    fn an_error_shows_the_line_and_its_number() {
        let line = Line { number: 7, bytes: b"a\xff\x1b", is_whole: true };
        assert_eq!(line.error("f.map", "odd").to_string(), r#"f.map, line 7: odd: "a\xff\x1b""#);
        let long = [b'x'; 500];
        let error = Line { number: 1, bytes: &long, is_whole: true }.error("f", "odd");
        assert!(error.text.ends_with("x…") && error.text.len() < 200);
    }

    #[test]
    fn numbers_of_any_length_are_read_or_refused() {
        assert_eq!(hexadecimal(b"0x03ab74d0"), Ok(0x3ab_74d0));
        assert_eq!(hexadecimal(b"ffffffffffffffff"), Ok(u64::MAX));
        assert_eq!(hexadecimal(b"0x1ffffffffffffffff"), Err(NoNumber::TooLarge));
        assert_eq!(decimal(b"99999999999999999999"), Err(NoNumber::TooLarge));
        assert_eq!(
            (hexadecimal(b""), decimal(b"1x")),
            (Err(NoNumber::Digits), Err(NoNumber::Digits))
        );
    }
}
