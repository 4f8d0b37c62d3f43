//! The environment of a program: that of headstart, with what the command sets or removes.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::windows::ffi::OsStrExt;

/// `NAME=value` texts in UTF-16, each ended by NUL and all of them by another, sorted by name in
/// capitals as Windows wants them; `None` where a text has a NUL.
pub(super) fn block(
    changes: &[(String, Option<OsString>)],
    extra: &[(&str, &str)],
) -> Option<Vec<u16>> {
    let mut variables: BTreeMap<String, (OsString, OsString)> =
        std::env::vars_os().map(|(name, value)| (key(&name), (name, value))).collect();
    for (name, value) in changes {
        match value {
            Some(value) => {
                variables.insert(key(name.as_ref()), (name.into(), value.clone()));
            }
            None => drop(variables.remove(&key(name.as_ref()))),
        }
    }
    for (name, value) in extra {
        variables.insert(key(name.as_ref()), (name.into(), value.into()));
    }
    let mut block = Vec::new();
    for (name, value) in variables.values() {
        let start = block.len();
        block.extend(name.encode_wide());
        block.push(b'='.into());
        block.extend(value.encode_wide());
        if block[start..].contains(&0) {
            return None;
        }
        block.push(0);
    }
    if block.is_empty() {
        block.push(0);
    }
    block.push(0);
    Some(block)
}

/// Names are the same in any case.
fn key(name: &OsStr) -> String {
    name.to_string_lossy().to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_any_case() {
        let set = |name: &str, value: &str| (name.to_owned(), Some(value.into()));
        let changes = [set("HeadstartX", "1"), set("HEADSTARTX", "a=b"), ("Path".to_owned(), None)];
        let block = block(&changes, &[("headstarty", "2")]).unwrap();
        assert!(block.ends_with(&[0, 0]));
        let text = String::from_utf16(&block).unwrap();
        let texts: Vec<&str> = text.split('\0').collect();
        assert!(texts.contains(&"HEADSTARTX=a=b") && texts.contains(&"headstarty=2"));
        assert!(!texts.contains(&"HeadstartX=1"));
        assert!(!texts.iter().any(|text| text.to_uppercase().starts_with("PATH=")));
    }

    #[test]
    fn nul_is_refused() {
        assert_eq!(block(&[("A".to_owned(), Some("x\0".into()))], &[]), None);
    }
}
