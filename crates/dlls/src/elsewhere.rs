//! DLLs of which another copy than the one beside a program may be loaded.
//!
//! Ordinals differ from copy to copy, and names do not. So imports from these DLLs stay by name.

use glob::Pattern;
use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

const REDISTRIBUTED: &str = include_str!("elsewhere/redistributed.txt");
const WINDOWS: &str = include_str!("elsewhere/windows.txt");
const WINE: &str = include_str!("elsewhere/wine.txt");

/// Why another copy of a DLL may be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Many products bring it along, each in its own version.
    Redistributed,
    /// Windows has it and does not look beside the program.
    Windows,
    /// Wine has its own.
    Wine,
    /// The user said so.
    Excluded,
}

impl Why {
    /// The reason as a clause.
    pub fn words(self) -> &'static str {
        match self {
            Why::Redistributed => {
                "many products ship their own version, and another copy may be loaded"
            }
            Why::Windows => "Windows has its own copy, and loads that",
            Why::Wine => "Wine has its own copy, and loads that",
            Why::Excluded => "excluded by the user",
        }
    }
}

/// DLLs from which nothing is imported by ordinal: those of the lists here, and those that a user
/// names besides.
#[derive(Clone, Debug)]
pub struct Exclusions {
    lists: bool,
    named: Vec<Pattern>,
}

impl Default for Exclusions {
    fn default() -> Exclusions {
        Exclusions { lists: true, named: Vec::new() }
    }
}

impl Exclusions {
    /// The lists, and `patterns`: file names without regard to case, in which `*`, `?` and `[…]` may
    /// stand.
    ///
    /// # Errors
    /// A pattern is not one; a sentence.
    pub fn new(patterns: &[String]) -> Result<Exclusions, String> {
        let pattern = |text: &String| {
            let name = text.to_ascii_lowercase();
            let name = if name.contains(['.', '*']) { name } else { name + ".dll" };
            Pattern::new(&name).map_err(|error| format!("'{text}' is not a pattern: {error}"))
        };
        let named = patterns.iter().map(pattern).collect::<Result<_, _>>()?;
        Ok(Exclusions { lists: true, named })
    }

    /// The user's patterns that fit none of these names, which are as by [`crate::names::key`].
    pub fn without_match(&self, keys: &BTreeSet<Vec<u8>>) -> Vec<String> {
        let fits = |pattern: &Pattern| {
            keys.iter().any(|key| pattern.matches(&String::from_utf8_lossy(key)))
        };
        let none = self.named.iter().filter(|pattern| !fits(pattern));
        none.map(|pattern| pattern.as_str().to_owned()).collect()
    }

    /// No DLL at all: for checks that convert what must not be shipped like that.
    pub fn none() -> Exclusions {
        Exclusions { lists: false, named: Vec::new() }
    }

    /// Why nothing is imported by ordinal from a DLL, named as by [`crate::names::key`]; `None`
    /// where that is possible.
    pub fn why(&self, key: &[u8]) -> Option<Why> {
        let name = String::from_utf8_lossy(key);
        let named = self.named.iter().any(|pattern| pattern.matches(&name));
        let listed = if self.lists { known(&name) } else { None };
        listed.or(named.then_some(Why::Excluded))
    }
}

/// What the lists say of a name in lower case.
fn known(name: &str) -> Option<Why> {
    static REDISTRIBUTED_NAMES: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
        words(REDISTRIBUTED).filter_map(|pattern| Pattern::new(pattern).ok()).collect()
    });
    static WINDOWS_NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| words(WINDOWS).collect());
    static WINE_NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| words(WINE).collect());
    if REDISTRIBUTED_NAMES.iter().any(|pattern| pattern.matches(name)) {
        return Some(Why::Redistributed);
    }
    if WINDOWS_NAMES.contains(name) {
        return Some(Why::Windows);
    }
    WINE_NAMES.contains(name).then_some(Why::Wine)
}

/// The names of a list, without its comments.
fn words(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(name: &str) -> Option<Why> {
        Exclusions::default().why(&crate::names::key(name.as_bytes()))
    }

    #[test]
    fn every_line_of_the_lists_is_a_pattern_or_a_name_in_lower_case() {
        assert!(words(REDISTRIBUTED).all(|word| Pattern::new(word).is_ok()));
        for word in words(REDISTRIBUTED).chain(words(WINDOWS)).chain(words(WINE)) {
            assert!(word.contains('.') && word.to_ascii_lowercase() == word, "{word}");
        }
    }

    #[test]
    fn runtimes_and_libraries_of_systems_are_known_in_any_spelling() {
        for name in [
            "MSVCP140.dll",
            "msvcp140_1.dll",
            "MSVCP140D",
            "VCRUNTIME140_1.dll",
            "concrt140.dll",
            "vccorlib120.dll",
            "vcomp140.dll",
            "vcamp140.dll",
            "msvcp60.dll",
            "MSVCR71.dll",
            "msvcr120_clr0400.dll",
            "mfc42u.dll",
            "mfc140deu.dll",
            "mfcm140u.dll",
            "ATL80.dll",
            "msvcrt",
            "ucrtbase.dll",
            "api-ms-win-crt-heap-l1-1-0.dll",
            "libstdc++-6.dll",
            "libgcc_s_seh-1.dll",
            "libwinpthread-1.dll",
            "d3dcompiler_47.dll",
            "dxcompiler.dll",
            "dxil.dll",
            "cygwin1.dll",
        ] {
            assert_eq!(why(name), Some(Why::Redistributed), "{name}");
        }
        assert_eq!(why("clbcatq.dll"), Some(Why::Windows));
        for name in ["KERNEL32.dll", "user32", "WINSPOOL.DRV", "ws2_32.dll", "zlib1.dll"] {
            assert_eq!(why(name), Some(Why::Wine), "{name}");
        }
        for name in ["Qt5Core.dll", "atlas.dll", "mfcount.dll", "libxml2-2.dll", "vcpkg.dll"] {
            assert_eq!(why(name), None, "{name}");
        }
    }

    #[test]
    fn users_name_others() {
        let named = ["Qt5*".to_owned(), "libxml2-2".to_owned(), "a?.dll".to_owned()];
        let exclusions = Exclusions::new(&named).expect("patterns");
        let why = |name: &str| exclusions.why(&crate::names::key(name.as_bytes()));
        for name in ["Qt5Core.dll", "LIBXML2-2.dll", "ab.dll"] {
            assert_eq!(why(name), Some(Why::Excluded), "{name}");
        }
        assert_eq!(why("abc.dll"), None);
        assert_eq!(why("msvcp140.dll"), Some(Why::Redistributed));
        assert!(Exclusions::new(&["[".to_owned()]).is_err());
    }
}
