//! Where the order file stands in each snippet. What builds make of them is in `tests/`.

use super::*;

const LINKERS: [Linker; 8] = [
    Linker::Lld,
    Linker::Gold,
    Linker::Bfd,
    Linker::Script,
    Linker::Objcopy,
    Linker::Ld64,
    Linker::Msvc,
    Linker::LldLink,
];

#[test]
fn every_snippet_names_the_file_once() {
    for build in BuildSystem::ALL {
        for linker in LINKERS {
            let Some(text) = snippet(build, linker, "some/order.txt") else {
                let is_odd = (build, linker) == (BuildSystem::Cargo, Linker::Gold);
                assert!(linker == Linker::Objcopy || is_odd, "{build:?} {linker:?}");
                continue;
            };
            let times = if build == BuildSystem::Meson { 2 } else { 1 };
            assert_eq!(text.matches("some/order.txt").count(), times, "{text}");
            assert!(text.ends_with('\n') && !text.contains('\0'), "{text}");
            let is_for_pe = matches!(linker, Linker::Msvc | Linker::LldLink);
            let sections = linker != Linker::Ld64 && build != BuildSystem::Cargo;
            let by_gcc = text.contains("-ffunction-sections");
            assert_eq!(by_gcc, sections && !is_for_pe, "{text}");
            assert_eq!(text.contains("/Gy"), sections && is_for_pe, "{text}");
            assert_eq!(text.contains("/ORDER:@"), is_for_pe, "{text}");
            assert_eq!(text.contains("objcopy"), linker == Linker::Objcopy, "{text}");
        }
    }
}

#[test]
fn names_of_files_are_quoted() {
    let odd = r#"a "b" $c 'd' \e"#;
    let text = |build| snippet(build, Linker::Lld, odd).unwrap();
    assert!(text(BuildSystem::CMake).contains(r#""a \"b\" \$c 'd' \\e""#));
    assert!(text(BuildSystem::Meson).contains(r#"'a "b" $c \'d\' \\e'"#));
    assert!(text(BuildSystem::Cargo).contains(r#""a \"b\" $c 'd' \\e""#));
    assert!(text(BuildSystem::Shell).starts_with("order_file='a"), "{}", text(BuildSystem::Shell));
}

/// What `tests/` shows to work is not refused.
#[test]
fn names_that_a_build_cannot_pass_on_are_refused() {
    use BuildSystem::{CMake, Cargo, Make, Meson, Shell};
    let refused = |build, names: &[&str]| {
        let found = names.iter().map(|name| unfit(build, Linker::Lld, name));
        found.map(|sign| sign.unwrap_or('-')).collect::<String>()
    };
    let odd = ["a b", "a'b", "a\"b", "a#b", "a$b", "a;b", "a\\b", "a,b", "a\nb", "é/a_b-c.+@9"];
    assert_eq!(refused(CMake, &odd), "--\"-$;\\,\n-");
    assert_eq!(refused(Meson, &odd), "--\"---\\,\n-");
    assert_eq!(refused(Cargo, &odd), "-------,\n-");
    for build in [Make, Shell] {
        assert_eq!(refused(build, &odd), " '\"#$;\\,\n-");
    }
    assert_eq!(unfit(Cargo, Linker::LldLink, "a,b"), None);
    assert_eq!(unfit(CMake, Linker::Msvc, "a,b"), Some(','), "LINKER: is divided at commas");
}

#[test]
fn a_name_with_commas_is_a_word_of_its_own() {
    let words = |linker| link_words(linker, "a,b").unwrap().join(" ");
    assert_eq!(words(Linker::Script), "-fuse-ld=bfd -Xlinker -T -Xlinker a,b");
    assert_eq!(words(Linker::Ld64), "-Xlinker -order_file -Xlinker a,b");
    assert_eq!(words(Linker::Msvc), "/ORDER:@a,b");
}

/// The document shows them as they are.
#[test]
fn the_document_has_the_snippets() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/order.md");
    let document = std::fs::read_to_string(path).unwrap();
    for build in BuildSystem::ALL {
        let text = snippet(build, Linker::Lld, "program.order").unwrap();
        assert!(document.contains(&format!("\n{text}```\n")), "{build:?} in {path}:\n{text}");
    }
}
