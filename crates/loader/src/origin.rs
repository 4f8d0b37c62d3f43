//! `$ORIGIN` (ld.so(8)) replaced alone, for strings that are to be read from another folder.

use crate::search::tokens;

/// `text` with `$ORIGIN` and `${ORIGIN}` replaced by `folder`. Other tokens stay, and a longer word
/// such as `$ORIGINS` is another one.
pub fn replaced(text: &str, folder: &str) -> String {
    let mut parts = text.split('$');
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let length = tokens::length(part.as_bytes(), "ORIGIN");
        match length.and_then(|length| part.get(length..)) {
            Some(rest) => all.extend([folder, rest]),
            None => all.extend(["$", part]),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn only_the_token_is_replaced() {
        let cases = [
            ("/usr/lib", "/usr/lib"),
            ("$ORIGIN/../lib:${ORIGIN}", "/o/../lib:/o"),
            ("$ORIGINS:$LIB:${ORIGIN:$", "$ORIGINS:$LIB:${ORIGIN:$"),
            ("$ORIGIN_:$$ORIGIN", "$ORIGIN_:$/o"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(replaced(text, "/o"), expected, "{text}");
        }
    }
}
