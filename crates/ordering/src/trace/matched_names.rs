//! Names that stay the same from build to build: without what compilers and linkers number anew.

use std::borrow::Cow;

/// What is cut from the end of a name: a word that a number may follow.
const SUFFIXES: [&str; 8] = [
    // LLVM, `ModuleSummaryIndex::getGlobalNameForLocal`: a local function that ThinLTO made public.
    ".llvm",
    // GCC, ipa-split: the part of a function that is rarely needed.
    ".part",
    // GCC, ipa-cp: a copy for arguments that are always the same.
    ".constprop",
    // GCC, ipa-sra: a copy with fewer parameters.
    ".isra",
    // GCC, bb-reorder, and LLVM, HotColdSplitting (there with a number): code that hardly runs.
    ".cold",
    // GCC, lto-partition: a local function whose name was there twice.
    ".lto_priv",
    // Clang, `-funique-internal-linkage-names`: a hash of the source file's path.
    ".__uniq",
    // GCC, `symtab_node::noninterposable_alias`: an alias that cannot be replaced at run time.
    ".localalias",
];
/// The anonymous namespace of a source file in names of Microsoft's compiler, with a hash that is
/// another one in each build: `?A0xC97B23F3@`.
const ANONYMOUS: &str = "?A0x";
/// Digits of the hash that ends Rust's names of the legacy scheme, `17h0123456789abcdefE`.
/// Source: *rustc*, *Symbol mangling*.
const RUST_HASH: usize = 16;

/// A name without what changes from build to build.
///
/// ```
/// use ordering::trace::matched_names::root;
/// assert_eq!(root("parse.constprop.0.cold"), "parse");
/// assert_eq!(root("fopen@@GLIBC_2.2.5"), "fopen");
/// assert_eq!(root("?q@?A0xC97B23F3@@3HA"), root("?q@?A0x12345678@@3HA"));
/// ```
pub fn root(name: &str) -> Cow<'_, str> {
    if name.contains(ANONYMOUS) {
        return Cow::Owned(without_hashes(name));
    }
    if name.starts_with('?') {
        return Cow::Borrowed(name);
    }
    let name = without_suffixes(without_version(name));
    match without_rust_hash(name) {
        Some(start) => Cow::Owned(format!("{start}E")),
        None => Cow::Borrowed(name),
    }
}

/// GNU's symbol versions: `NAME@VERSION`, `NAME@@VERSION` for the default one. Digits behind an
/// `@` are bytes of arguments in names of Windows (`_DllMain@12`), and belong to the name.
fn without_version(name: &str) -> &str {
    match name.split_once('@') {
        Some((bare, version)) if !bare.is_empty() => {
            let is_bytes = version.bytes().all(|byte| byte.is_ascii_digit());
            if is_bytes { name } else { bare }
        }
        _ => name,
    }
}

fn without_suffixes(mut name: &str) -> &str {
    loop {
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let numbered = bare.strip_suffix('.').filter(|_| bare.len() < name.len());
        let word = numbered.unwrap_or(name);
        let cut = SUFFIXES.iter().find_map(|suffix| word.strip_suffix(suffix));
        match cut.filter(|cut| !cut.is_empty()) {
            Some(cut) => name = cut,
            None => return name,
        }
    }
}

fn without_rust_hash(name: &str) -> Option<&str> {
    let rest = name.strip_suffix('E').filter(|_| name.starts_with("_ZN"))?;
    let start = rest.len().checked_sub(RUST_HASH)?;
    let is_hash = rest.get(start..)?.bytes().all(|byte| byte.is_ascii_hexdigit());
    rest.get(..start).filter(|_| is_hash)?.strip_suffix("17h")
}

fn without_hashes(name: &str) -> String {
    let mut parts = name.split(ANONYMOUS);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        whole += ANONYMOUS;
        whole += part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::root;

    #[test]
    fn what_a_build_numbers_is_cut() {
        for name in [
            "f.llvm.1234567890",
            "f.part.0",
            "f.constprop.3",
            "f.isra.12",
            "f.cold",
            "f.cold.1",
            "f.lto_priv.7",
            "f.__uniq.99887766554433221100",
            "f@V1",
            "f@@V1",
            "f.localalias",
            "f.part.0.constprop.1.isra.2.cold",
            "f.__uniq.1.llvm.2",
        ] {
            assert_eq!(root(name), "f", "{name}");
        }
        assert_eq!(root("_ZN4core3fmt17h0123456789abcdefE.llvm.77"), "_ZN4core3fmtE");
    }

    #[test]
    fn what_tells_functions_apart_stays() {
        for name in [
            "f",
            "f.0",
            "f.1.2",
            ".cold",
            "f.colder",
            "_DllMain@12",
            "@fast@8",
            "f.part.x",
            "?f@@YAXXZ",
            "_ZN1a17hxyzE",
            "_ZN1aE",
            "_Z1fv",
            "f.",
        ] {
            assert_eq!(root(name), name);
        }
        assert_ne!(root("?a@?A0x12345678@@3HA"), root("?b@?A0x12345678@@3HA"));
    }
}
