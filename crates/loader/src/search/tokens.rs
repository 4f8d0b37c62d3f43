//! The tokens of search paths and names: `$ORIGIN`, `$LIB`, `$PLATFORM`.

use std::path::Path;

/// What the dynamic string tokens stand for (ld.so(8)).
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens<'a> {
    /// `$ORIGIN`: folder of the object that the string is of.
    pub origin: &'a Path,
    /// `$LIB`.
    pub library_folder: &'a str,
    /// `$PLATFORM`.
    pub platform: Option<&'a str>,
}

impl Tokens<'_> {
    /// `text` with its tokens replaced; empty where one of them stands for nothing here, in which
    /// case the loader does not use the string.
    pub(super) fn expand(&self, text: &[u8]) -> Vec<u8> {
        let mut expanded = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            if byte != b'$' {
                expanded.push(byte);
                continue;
            }
            match self.token(after) {
                Some((length, Some(value))) => {
                    expanded.extend_from_slice(value);
                    rest = after.get(length..).unwrap_or_default();
                }
                Some((_, None)) => return Vec::new(),
                None => expanded.push(byte),
            }
        }
        expanded
    }

    /// The token that `text`, which followed a `$`, begins with: its length and what it stands for.
    fn token(&self, text: &[u8]) -> Option<(usize, Option<&[u8]>)> {
        let tokens = [
            ("ORIGIN", Some(self.origin.as_os_str().as_encoded_bytes())),
            ("PLATFORM", self.platform.map(str::as_bytes)),
            ("LIB", Some(self.library_folder.as_bytes())),
        ];
        let mut lengths = tokens.iter().map(|(name, value)| (length(text, name), value));
        lengths.find_map(|(length, value)| length.map(|length| (length, *value)))
    }
}

/// Length of the token `name` or `{name}` at the beginning of `text`. A longer identifier is
/// another token.
pub(crate) fn length(text: &[u8], name: &str) -> Option<usize> {
    if let Some(braced) = text.strip_prefix(b"{") {
        let after = braced.strip_prefix(name.as_bytes())?;
        return after.starts_with(b"}").then_some(name.len() + 2);
    }
    let after = text.strip_prefix(name.as_bytes())?;
    let longer = after.first().is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (!longer).then_some(name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(text: &str, platform: Option<&str>) -> String {
        let tokens = Tokens {
            origin: Path::new("/opt/app"),
            library_folder: "lib/x86_64-linux-gnu",
            platform,
        };
        String::from_utf8(tokens.expand(text.as_bytes())).unwrap()
    }

    #[test]
    fn tokens_stand_for_what_the_manual_says() {
        let cases = [
            ("/usr/lib", "/usr/lib"),
            ("$ORIGIN", "/opt/app"),
            ("${ORIGIN}/../$LIB", "/opt/app/../lib/x86_64-linux-gnu"),
            ("/a/$PLATFORM/${LIB}x", "/a/haswell/lib/x86_64-linux-gnux"),
            ("$ORIGINS/$LIB2/$LIB_", "$ORIGINS/$LIB2/$LIB_"),
            ("${ORIGIN/$$ORIGIN$", "${ORIGIN/$/opt/app$"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(expand(text, Some("haswell")), expected, "{text}");
        }
    }

    #[test]
    fn a_token_that_stands_for_nothing_voids_the_string() {
        assert_eq!(expand("/a/$PLATFORM/b", None), "");
        assert_eq!(expand("/a/$PLATFORMS/b", None), "/a/$PLATFORMS/b");
    }
}
