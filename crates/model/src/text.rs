//! Names of files and words of command lines as text, without loss.
//!
//! Linux takes any bytes for them. Text has to be UTF-8, and so has JSON: each byte that is not part
//! of a UTF-8 character is written as one private character, U+EF80 to U+EFFF for the bytes 80 to
//! FF. Ordinary names are written as they are.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::of_bytes;
#[cfg(windows)]
pub use windows::of_bytes;

use serde::{Deserialize, Deserializer, Serializer};
use std::ffi::{OsStr, OsString};

const FIRST: u32 = 0xef00;

/// `name` as text, which [`name`] leads back to exactly these bytes.
pub fn text(name: impl AsRef<OsStr>) -> String {
    text_of(name.as_ref().as_encoded_bytes())
}

/// The same of a name that stands in a file.
pub fn text_of(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            match is_byte(character) {
                // The name has such a character itself: its bytes, so that the way back is exact.
                true => text.extend(character.encode_utf8(&mut [0; 4]).bytes().map(character_of)),
                false => text.push(character),
            }
        }
        text.extend(chunk.invalid().iter().copied().map(character_of));
    }
    text
}

/// The name that [`text`] has written.
pub fn name(text: &str) -> OsString {
    of_bytes(bytes_of(text))
}

/// The bytes that [`text_of`] has written.
pub fn bytes_of(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match u8::try_from(u32::from(character).wrapping_sub(FIRST)) {
            Ok(byte @ 0x80..) => bytes.push(byte),
            _ => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

/// Whether `character` stands for a byte that is not UTF-8.
pub fn is_byte(character: char) -> bool {
    (0xef80..=0xefff).contains(&u32::from(character))
}

fn character_of(byte: u8) -> char {
    char::from_u32(FIRST + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// For serde: a name or path.
pub mod one {
    use super::*;

    /// As text that keeps every byte.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn serialize<S: Serializer>(name: &impl AsRef<OsStr>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&text(name))
    }

    /// From such a text.
    ///
    /// # Errors
    /// Those of `from`.
    pub fn deserialize<'de, D: Deserializer<'de>, T: From<OsString>>(
        from: D,
    ) -> Result<T, D::Error> {
        Ok(T::from(name(&String::deserialize(from)?)))
    }
}

/// For serde: a path or none.
pub(crate) mod optional {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        name: &Option<impl AsRef<OsStr>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match name {
            Some(name) => to.serialize_some(&text(name)),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: From<OsString>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        let found = Option::<String>::deserialize(from)?;
        Ok(found.map(|found| T::from(name(&found))))
    }
}

/// For serde: words.
pub(crate) mod list {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(words: &[OsString], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(words.iter().map(text))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<OsString>, D::Error> {
        let words = Vec::<String>::deserialize(from)?;
        Ok(words.iter().map(|word| name(word)).collect())
    }
}

/// For serde: variables that are set or removed.
pub(crate) mod variables {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        variables: &[(String, Option<OsString>)],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(variables.iter().map(|(name, value)| (name, value.as_ref().map(text))))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<(String, Option<OsString>)>, D::Error> {
        let variables = Vec::<(String, Option<String>)>::deserialize(from)?;
        let decoded = |value: Option<String>| value.map(|value| name(&value));
        Ok(variables.into_iter().map(|(name, value)| (name, decoded(value))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_comes_back_as_it_was() {
        let names: [&[u8]; 8] = [
            b"",
            b"/usr/bin/git",
            "/tmp/caf\u{e9}".as_bytes(),
            b"/tmp/caf\xe9",
            b"\xff\x80\xc3",
            b"a\xf0\x9f\x98b",
            "private \u{ef80}\u{efff} \u{ef00}".as_bytes(),
            "\u{ef80}\u{efff}".as_bytes().split_at(4).0,
        ];
        for bytes in names {
            let original = of_bytes(bytes.to_vec());
            assert_eq!(name(&text(&original)), original, "{bytes:x?}");
        }
    }

    #[test]
    fn ordinary_names_are_text_already() {
        for ordinary in ["/usr/bin/git", "caf\u{e9}", "\u{1f600} \u{fffd}"] {
            assert_eq!(text(ordinary), ordinary);
        }
        assert_eq!(text_of(b"caf\xe9"), "caf\u{efe9}");
    }
}
