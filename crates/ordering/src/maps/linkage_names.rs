//! Names as linkers know them: told apart from readable ones, and taken from section names.

/// What `-ffunction-sections` writes in front of a function's name: GCC's documentation,
/// *Optimize Options*, and the section names of its and LLVM's targets. Longer ones first.
const BEFORE: [&[u8]; 10] = [
    b".text.unlikely.",
    b".text.startup.",
    b".text.unknown.",
    b".text.split.",
    b".text.exit.",
    b".text.hot.",
    b".text.",
    b".text$",
    b".gnu.linkonce.t.",
    b".ltext.",
];
/// Sections of several functions.
const COMMON: [&[u8]; 7] =
    [b"unlikely", b"startup", b"unknown", b"split", b"exit", b"hot", b"sorted"];

/// The function that an input section is named after: `.text._Z4worki`.
pub(super) fn of_section(section: &[u8]) -> Option<&[u8]> {
    let name = BEFORE.iter().find_map(|before| section.strip_prefix(*before))?;
    let is_common = COMMON.contains(&name) || name.starts_with(b"sorted.");
    (!name.is_empty() && !is_common).then_some(name)
}

/// Whether a section holds code, by its name.
pub(super) fn is_code(section: &[u8]) -> bool {
    const EXACT: [&[u8]; 11] = [
        b".text",
        b".init",
        b".fini",
        b".plt",
        b".iplt",
        b".stub",
        b".code",
        b".ltext",
        b"il_plt",
        b".plt.got",
        b".plt.sec",
    ];
    EXACT.contains(&section) || BEFORE.iter().any(|before| section.starts_with(before))
}

/// Whether a name of an ELF file is in its readable form. Mangled names and those of C have none
/// of these characters; those of Objective-C's methods have blanks themselves.
pub(super) fn is_demangled(name: &[u8]) -> bool {
    let is_method = name.starts_with(b"-[") || name.starts_with(b"+[");
    let has_scope = name.windows(2).any(|pair| pair == b"::");
    !is_method && (has_scope || name.iter().any(|byte| b"( <".contains(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_names_its_function() {
        assert_eq!(of_section(b".text._Z4worki"), Some(&b"_Z4worki"[..]));
        assert_eq!(of_section(b".text.unlikely._Z4worki.cold"), Some(&b"_Z4worki.cold"[..]));
        assert_eq!(of_section(b".text$_Z4worki"), Some(&b"_Z4worki"[..]));
        for several in [&b".text"[..], b".text.hot", b".text.hot.", b".text.sorted.5", b".data.x"] {
            assert_eq!(of_section(several), None, "{}", several.escape_ascii());
        }
    }

    #[test]
    fn sections_of_code_are_known_by_name() {
        for code in [&b".text"[..], b".text.hot", b".init", b".text$mn"] {
            assert!(is_code(code), "{}", code.escape_ascii());
        }
        for data in [&b".init_array"[..], b".data.text.x", b".rodata", b"COMMON"] {
            assert!(!is_code(data), "{}", data.escape_ascii());
        }
    }

    #[test]
    fn readable_names_are_known() {
        for readable in ["work(int)", "vtable for S", "S::x", "a<int>"] {
            assert!(is_demangled(readable.as_bytes()), "{readable}");
        }
        for linked in ["_Z4worki", "main", "-[View draw: in:]", "+[View new]", "f.part.0"] {
            assert!(!is_demangled(linked.as_bytes()), "{linked}");
        }
    }
}
