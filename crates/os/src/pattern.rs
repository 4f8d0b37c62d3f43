//! What `--until output:REGEX` looks for.

use regex::bytes::{Regex, RegexBuilder};

/// The expression, over bytes. Tables of Unicode's categories, scripts and case are not part of
/// headstart, as every start of it would have to relocate them: an expression that asks for them
/// with `(?i)` gets those of ASCII.
///
/// # Errors
/// What is wrong with it, in words.
pub fn pattern(text: &str) -> Result<Regex, regex::Error> {
    Regex::new(text)
        .or_else(|error| RegexBuilder::new(text).unicode(false).build().map_err(|_| error))
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn letters_match_in_any_case_and_any_script() {
        for (text, output) in [
            ("(?i)ready", "now READY"),
            (r"^\w+: läuft$", "Größe: läuft"),
            (r"(?i)listening on \S+:\d+", "Listening on ::1:80"),
            ("[äö]", "ö"),
        ] {
            assert!(pattern(text).unwrap().is_match(output.as_bytes()), "{text}");
        }
        assert!(!pattern("(?i)ready").unwrap().is_match(b"read"));
        assert!(pattern("(").is_err());
    }
}
