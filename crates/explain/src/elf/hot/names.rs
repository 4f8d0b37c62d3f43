//! Demangles names of functions.

/// A function's name as its programmer wrote it: Rust (v0 and legacy, without the hash) and C++
/// (Itanium C++ ABI, 5.1); other names as they stand.
pub(crate) fn demangled(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    if !name.starts_with("_Z") {
        return name.to_owned();
    }
    let symbol = cpp_demangle::Symbol::new(name).ok();
    symbol.and_then(|symbol| symbol.demangle().ok()).unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_three_languages() {
        for (mangled, wanted) in [
            ("strcmp", "strcmp"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            (
                "_ZNSt6vectorIiSaIiEE9push_backERKi",
                "std::vector<int, std::allocator<int> >::push_back(int const&)",
            ),
            ("_Z", "_Z"),
            ("_Zbroken", "_Zbroken"),
        ] {
            assert_eq!(demangled(mangled), wanted);
        }
    }
}
