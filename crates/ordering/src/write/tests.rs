//! Which names each linker's file lists, and which it leaves out.

use super::*;
use crate::maps;
use proptest::prelude::*;

const ALL: [Linker; 6] =
    [Linker::Lld, Linker::Gold, Linker::Bfd, Linker::Script, Linker::Objcopy, Linker::Ld64];

fn names(functions: &[&[&str]]) -> Vec<Vec<String>> {
    functions.iter().map(|names| names.iter().map(|&name| name.to_owned()).collect()).collect()
}

fn written(linker: Linker, functions: &[&[&str]], sections: Option<&InputSections>) -> OrderFile {
    let names = names(functions);
    let functions: Vec<_> = names.iter().map(|names| OrderedFunction { names }).collect();
    write(linker, &functions, sections)
}

#[test]
fn every_name_is_listed_once_and_what_has_none_is_reported() {
    let functions: [&[&str]; 5] = [&["b", "alias"], &[], &["a"], &["b"], &["bad\nname"]];
    let file = written(Linker::Lld, &functions, None);
    assert_eq!(file.text, "b\nalias\na\n");
    assert_eq!((file.functions, file.names), (3, 3));
    let reasons: Vec<_> = file.left_out.iter().map(|left| left.reason).collect();
    assert_eq!(reasons, [UnlistedReason::NoName, UnlistedReason::OddName]);
}

#[test]
fn names_of_sections_and_symbols_are_those_of_the_linker() {
    let functions: [&[&str]; 2] = [&["main"], &["f.cold"]];
    let gold = written(Linker::Gold, &functions, None).text;
    assert!(gold.contains(".text.startup.main\n"), "{gold}");
    assert!(gold.ends_with(".text.unlikely.f\n.text.split.f\n"), "{gold}");
    let script = written(Linker::Bfd, &functions, None).text;
    assert!(script.starts_with(".text : {\n  *(.text.main .text.startup.main "), "{script}");
    let added = written(Linker::Script, &functions, None).text;
    assert!(added.ends_with(" .text.split.f)\n}\n}\nINSERT BEFORE .text;\n"), "{added}");
    let objcopy = written(Linker::Objcopy, &functions, None).text;
    let renamed = "--rename-section=.text.unlikely.f=.text.sorted.000001\n";
    assert!(objcopy.contains(renamed), "{objcopy}");
    assert_eq!(written(Linker::Ld64, &functions, None).text, "_main\n_f.cold\n");
}

/// The cold part of f is in a section that reads like that of an unlikely function f.
#[test]
fn a_cold_part_stays_where_it_is_unless_it_was_called() {
    let sections = InputSections::usual(["f", "f.cold", "g"]);
    let text = written(Linker::Gold, &[&["f"], &["g"]], Some(&sections)).text;
    assert!(!text.contains(".text.unlikely.f\n") && text.contains(".text.f\n"), "{text}");
    assert!(text.contains(".text.unlikely.g\n"), "{text}");
    let called = written(Linker::Gold, &[&["f"], &["f.cold"]], Some(&sections)).text;
    assert!(called.ends_with(".text.unlikely.f\n.text.split.f\n"), "{called}");
}

#[test]
fn what_ends_a_word_of_a_format_is_quoted_or_left_out() {
    let name: &[&str] = &["operator \"x\" 'y'"];
    let objcopy = written(Linker::Objcopy, &[name], None).text;
    let first = objcopy.lines().next().unwrap();
    let quoted = r#"--rename-section=.text.operator\ \"x\"\ \'y\'=.text.sorted.000000"#;
    assert_eq!(first, quoted);
    assert_eq!(written(Linker::Bfd, &[name], None).left_out.len(), 1);
    let script = written(Linker::Bfd, &[&["-[A b:c]"], &["f(int) const"]], None);
    assert!(script.text.contains("(\".text.f(int) const\" "), "{}", script.text);
    assert_eq!(script.left_out[0].name, "-[A b:c]");
    let apple = written(Linker::Ld64, &[&["-[A b:c]"], &["x.o:y"], &["a#b"], &["a:b"]], None);
    assert_eq!(apple.text, "-[A b:c]\n_a:b\n");
    let versions = written(Linker::Lld, &[&["f@@V2"], &["f@V1"], &["@odd"]], None);
    assert_eq!((versions.text.as_str(), versions.functions), ("f\n@odd\n", 3));

    assert_eq!(written(Linker::Lld, &[&["\u{ef80}"]], None).left_out.len(), 1);
}

const MAP: &[u8] = b"             VMA              LMA     Size Align Out     In      Symbol
            1000             1000       50    16 .text
            1000             1000       20    16         one.o:(.text)
            1000             1000       10     1                 together
            1010             1010       10     1                 neighbor
            1020             1020       10    16         one.o:(.text.own)
            1020             1020       10     1                 own
            1030             1030       10    16         two.o:(.text.own)
            1030             1030       10     1                 own
            1040             1040       10    16         two.o:(.text.sorted.000001)
            1040             1040       10     1                 renamed
";

#[test]
fn a_map_tells_what_has_no_section_of_its_own_and_what_moves_along() {
    let map = maps::read("map", MAP).unwrap();
    let sections = InputSections::of(&map);
    let functions: [&[&str]; 3] = [&["together"], &["own"], &["renamed"]];
    let file = written(Linker::Gold, &functions, Some(&sections));
    assert_eq!(file.text.lines().next(), Some(".text.own"));
    assert!(file.text.contains(".text.renamed\n") && !file.text.contains("sorted"));
    let left = &file.left_out;
    assert_eq!((left.len(), left[0].reason), (1, UnlistedReason::NoSection));
    let names = names(&functions);
    let functions: Vec<_> = names.iter().map(|names| OrderedFunction { names }).collect();
    let along = |linker, count: usize| moved_along(linker, &functions[..count], &map);
    let neighbor = MovedAlong { functions: 1, example: Some("neighbor".to_owned()) };
    assert_eq!(along(Linker::Lld, 1), neighbor);
    assert_eq!(along(Linker::Lld, 2).functions, 2);
    assert_eq!(along(Linker::Gold, 1).functions, 0);
    assert_eq!(along(Linker::Bfd, 2), MovedAlong { functions: 1, example: None });
}

/// All code that is hardly ever executed is in `.text.unlikely`, unless each function has its own.
#[test]
fn a_section_of_many_is_not_that_of_a_function() {
    let text = written(Linker::Gold, &[&["unlikely"], &["startup"]], None).text;
    assert!(text.contains(".text.startup.startup\n"), "{text}");
    assert!(!text.contains(".text.unlikely\n") && !text.contains(".text.startup\n"), "{text}");
}

#[test]
fn an_empty_order_has_no_names() {
    for linker in ALL {
        let file = written(linker, &[], None);
        assert_eq!((file.functions, file.names, file.left_out.len()), (0, 0, 0));
    }
    assert_eq!(written(Linker::Lld, &[], None).text, "");
    assert_eq!(written(Linker::Bfd, &[], None).text, ".text : {\n}\n");
}

#[test]
fn one_function_has_and_several_have() {
    let words = |count| UnlistedReason::NoName.words(count);
    assert!(words(1).starts_with("has no name") && words(2).starts_with("have no name"));
    assert!(UnlistedReason::Static.words(1).starts_with("is static: this linker does not move it"));
}

proptest! {
    /// However odd the names are, each function is counted once and each line is one name.
    #[test]
    fn functions_are_listed_or_left_out(
        functions in proptest::collection::vec(
            proptest::collection::vec("[ab#@. \\n\"'=*é\u{ef80}]{0,4}", 0..3), 0..9)
    ) {
        for linker in ALL {
            let functions: Vec<_> =
                functions.iter().map(|names| OrderedFunction { names }).collect();
            let file = write(linker, &functions, None);
            prop_assert_eq!(file.functions + file.left_out.len(), functions.len());
            if matches!(linker, Linker::Lld | Linker::Gold | Linker::Ld64) {
                prop_assert_eq!(file.text.lines().count(), file.names);
                let lines: std::collections::HashSet<_> = file.text.lines().collect();
                prop_assert_eq!(lines.len(), file.names);
            }
        }
    }
}
