//! Order files, read by the linkers that they are for: functions come out in that order, and
//! nothing is lost or warned of.
#![allow(clippy::unwrap_used)]

mod build;
mod predicted;

use build::{Build, Names, ONE, TWO, grouped};
use model::FunctionId;
use ordering::Movability;
use ordering::predict::TextPlacement;
use ordering::subject::Subject;
use ordering::write::{self, InputSections, Linker, OrderFile, OrderedFunction, UnlistedReason};
use std::path::Path;
use std::process::Command;

fn order_file(linker: Linker, functions: &[Names], sections: Option<&InputSections>) -> OrderFile {
    let functions: Vec<_> = functions.iter().map(|names| OrderedFunction { names }).collect();
    write::write(linker, &functions, sections)
}

/// `functions` from the last to the first; those of one name move together, to the first place.
fn reversed(functions: &[Names]) -> Vec<Names> {
    let mut order: Vec<Names> = functions.iter().rev().cloned().collect();
    for at in 0..order.len() {
        let same = order[at + 1..].iter().position(|names| *names == order[at]);
        if let Some(behind) = same {
            let moved = order.remove(at + 1 + behind);
            order.insert(at, moved);
        }
    }
    order
}

/// Names that only compilers give, without which the test would test little.
fn has_what_compilers_make(compiler: &str, functions: &[Names]) {
    let all: Vec<&String> = functions.iter().flatten().collect();
    let gcc = [".part.0", ".constprop.0", ".isra.0", ".cold"];
    let expected = if compiler == "gcc" { &gcc[..] } else { &[] };
    for part in expected.iter().chain(&["_GLOBAL__sub_I_", "_Z7genericIiET_S0_", "other_name"]) {
        assert!(all.iter().any(|name| name.contains(part)), "no {part} in {all:?}");
    }
    assert_eq!(all.iter().filter(|name| **name == "same").count(), 2);
    assert!(functions.len() >= 20, "{all:?}");
}

/// Links twice, the second time with an order that reverses what the first has, and compares.
fn reverses(
    build: &Build,
    linker: Linker,
    options: &[&str],
    by_file: impl Fn(&str) -> Vec<String>,
) {
    build.link("before", options);
    let before = build.functions("before");
    has_what_compilers_make(build.compiler, &before);
    let expected = reversed(&before);
    let all = before.iter().flatten().map(String::as_str);
    let file = order_file(linker, &expected, Some(&InputSections::usual(all)));
    assert_eq!((file.functions, file.left_out.len()), (expected.len(), 0));
    build.write("order", &file.text);
    let with = by_file("order");
    let with: Vec<&str> = with.iter().map(String::as_str).collect();
    build.link("after", &[options, &with].concat());
    assert_eq!(build.functions("after"), expected, "{linker:?} {options:?} {}", build.compiler);
    // Nothing of others is in between.
    let all = grouped(build.symbols(&["-n", "after"]));
    let first = all.iter().position(|names| *names == expected[0]).unwrap();
    assert_eq!(all[first..first + expected.len()], expected);
}

/// For both compilers, each with the linker as `ld.NAME`.
fn with_both(name: &str, path: &Path, test: impl Fn(&Build, &[&str])) {
    for compiler in ["gcc", "clang-19"] {
        let Some(build) = Build::new(compiler, &["-ffunction-sections"]) else { continue };
        build.take(path, name);
        test(&build, &["-B.", &format!("-fuse-ld={name}")]);
    }
}

fn option(text: &str) -> impl Fn(&str) -> Vec<String> {
    let text = text.to_owned();
    move |file| vec![format!("{text}{file}")]
}

const FOR_LLD: &str = "-Wl,--symbol-ordering-file=";
const FOR_SECTIONS: &str = "-Wl,--section-ordering-file=";

#[test]
fn ld_lld_takes_any_order() {
    let Some(lld) = testkit::tool("ld.lld-19") else { return };
    with_both("lld", &lld, |build, by| {
        for more in [&[][..], &["-Wl,--gc-sections", "-no-pie"], &["-Wl,--icf=all"]] {
            reverses(build, Linker::Lld, &[by, more].concat(), option(FOR_LLD));
        }
    });
}

/// Where every function is after relinking is known before, if the map tells the sections.
#[test]
fn the_place_of_each_function_is_predicted_from_the_map() {
    let Some(lld) = testkit::tool("ld.lld-19") else { return };
    for (compiler, options) in [
        ("gcc", &[][..]),
        ("gcc", &["-ffunction-sections", "-falign-functions=64"]),
        ("clang-19", &[]),
        ("clang-19", &["-ffunction-sections"]),
    ] {
        let Some(build) = Build::new(compiler, options) else { continue };
        build.take(&lld, "lld");
        build.link("before", &["-B.", "-fuse-ld=lld", "-Wl,-Map=map"]);
        let mut subject = Subject::open(&build.path().join("before")).unwrap();
        subject.use_sections(&build.map("map"));
        assert!(subject.has_sections);
        let is_named = |name: &&str| subject.names.iter().any(|names| names[..] == [*name]);
        let wanted = ["checked", "two", "_Z7checkedi", "main", "likely"];
        let order: Vec<&str> = wanted.into_iter().filter(is_named).collect();
        assert!(order.len() > 3, "{order:?}");
        build.write("order", &order.join("\n"));
        build.link("after", &["-B.", "-fuse-ld=lld", "-Wl,--symbol-ordering-file=order"]);
        let id = |name: &&str| subject.names.iter().position(|it| it.iter().any(|it| it == name));
        let order: Vec<_> = order.iter().filter_map(id).map(FunctionId::at).collect();
        let placement = TextPlacement::reordered(&subject.functions, &order);
        let after = Subject::open(&build.path().join("after")).unwrap();
        let mut compared = 0;
        for (id, extent) in placement.extents() {
            // Sections behind the ordered one begin elsewhere when that has other gaps.
            let is_fixed = subject.functions[id.index()].movability == Movability::Fixed;
            let names = &subject.names[id.index()];
            let others = after.names.iter().enumerate().filter(|(_, other)| *other == names);
            let same: Vec<usize> = others.map(|(at, _)| at).collect();
            if let ([at], false) = (&same[..], names.is_empty() || is_fixed) {
                assert_eq!(
                    extent.rva, after.functions[*at].rva,
                    "{compiler} {options:?} {names:?}"
                );
                compared += 1;
            }
        }
        assert!(compared > 20, "{compared}");
    }
}

/// The linker that Rust's own toolchains bring along.
#[test]
fn rust_lld_takes_any_order() {
    let done = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap();
    let sysroot = String::from_utf8(done.stdout).unwrap();
    let host = format!("lib/rustlib/{}-unknown-linux-gnu/bin", std::env::consts::ARCH);
    let path = Path::new(sysroot.trim()).join(host).join("gcc-ld/ld.lld");
    if !path.is_file() {
        return testkit::skip("this Rust toolchain has no rust-lld");
    }
    for compiler in ["gcc", "clang-19"] {
        let Some(build) = Build::new(compiler, &["-ffunction-sections"]) else { continue };
        let folder = format!("-B{}", path.parent().unwrap().display());
        reverses(&build, Linker::Lld, &[&folder, "-fuse-ld=lld"], option(FOR_LLD));
    }
}

#[test]
fn gold_takes_any_order() {
    let Some(gold) = testkit::tool("ld.gold") else { return };
    with_both("gold", &gold, |build, by| {
        for more in [&[][..], &["-Wl,--gc-sections", "-no-pie"]] {
            reverses(build, Linker::Gold, &[by, more].concat(), option(FOR_SECTIONS));
        }
    });
}

/// Whether GNU ld is as new as its option.
fn has_ordering_files(ld: &Path) -> bool {
    let help = Command::new(ld).arg("--help").output().unwrap();
    String::from_utf8_lossy(&help.stdout).contains("--section-ordering-file")
}

#[test]
fn gnu_ld_takes_an_ordering_file() {
    let Some(ld) = testkit::tool("ld.bfd") else { return };
    if !has_ordering_files(&ld) {
        return testkit::skip("GNU ld has no --section-ordering-file before 2.43");
    }
    with_both("bfd", &ld, |build, by| {
        for more in [&[][..], &["-Wl,--gc-sections", "-no-pie"]] {
            reverses(build, Linker::Bfd, &[by, more].concat(), option(FOR_SECTIONS));
        }
    });
}

#[test]
fn gnu_ld_of_any_age_takes_one_more_section() {
    let Some(ld) = testkit::tool("ld.bfd") else { return };
    with_both("bfd", &ld, |build, by| {
        for more in [&[][..], &["-Wl,--gc-sections", "-no-pie"], &["-static-pie"]] {
            reverses(build, Linker::Script, &[by, more].concat(), option("-Wl,-T,"));
        }
    });
}

#[test]
fn gnu_ld_sorts_sections_that_objcopy_has_renamed() {
    let tools = ["ld.bfd", "objcopy", "llvm-objcopy-19"].map(testkit::tool);
    let [Some(ld), Some(objcopy), Some(llvm)] = tools else { return };
    for objcopy in [objcopy, llvm] {
        with_both("bfd", &ld, |build, by| {
            reverses(build, Linker::Objcopy, by, |file| {
                for object in ["one.o", "two.o", "three.o"] {
                    build.run(&objcopy, &[&format!("@{file}"), object]);
                }
                Vec::new()
            });
        });
    }
}

/// An object file without sections for functions moves as a whole or not at all, and both is told.
#[test]
fn functions_that_share_a_section_are_told() {
    let Some(lld) = testkit::tool("ld.lld-19") else { return };
    let Some(build) = Build::new("gcc", &["-ffunction-sections"]) else { return };
    build.run("gcc", &["-O2", "-c", "two.c"]);
    build.take(&lld, "lld");
    let by = ["-B.", "-fuse-ld=lld"];
    build.link("before", &[&by[..], &["-Wl,-Map=map"]].concat());
    let map = build.map("map");
    let order = [vec!["fold_b".to_owned()], vec!["real_name".to_owned(), "other_name".to_owned()]];
    let functions: Vec<_> = order.iter().map(|names| OrderedFunction { names }).collect();
    let along = write::moved_along(Linker::Lld, &functions, &map);
    assert_eq!(along.functions, 2, "{along:?}");
    let file = order_file(Linker::Lld, &order, None);
    build.write("order", &file.text);
    build.link("after", &[&by[..], &[&format!("{FOR_LLD}order")]].concat());
    let after = build.functions("after");
    let mut first: Vec<&str> = after.iter().flatten().take(5).map(String::as_str).collect();
    first.sort_unstable();
    assert_eq!(first, ["fold_b", "other_name", "real_name", "same", "two"]);
    for linker in [Linker::Gold, Linker::Bfd, Linker::Script, Linker::Objcopy] {
        let file = order_file(linker, &order, Some(&InputSections::of(&map)));
        assert_eq!((file.functions, file.left_out.len()), (1, 1), "{linker:?}");
        assert_eq!(file.left_out[0].reason, UnlistedReason::NoSection);
        let along = write::moved_along(linker, &functions, &map);
        assert_eq!(along.functions, 0, "{linker:?}");
    }
}

/// With the map of a linker, only sections that exist are listed, and the order is the same.
#[test]
fn a_map_makes_the_order_file_exact() {
    let tools = ["ld.lld-19", "ld.gold", "ld.bfd"].map(testkit::tool);
    let [Some(lld), Some(gold), Some(ld)] = tools else { return };
    for compiler in ["gcc", "clang-19"] {
        let Some(build) = Build::new(compiler, &["-ffunction-sections"]) else { continue };
        for (path, name) in [(&lld, "lld"), (&gold, "gold"), (&ld, "bfd")] {
            build.take(path, name);
        }
        build.link("before", &["-B.", "-fuse-ld=lld", "-Wl,-Map=map", "-Wl,--no-demangle"]);
        let expected = reversed(&build.functions("before"));
        let sections = InputSections::of(&build.map("map"));
        for (linker, by, option) in [
            (Linker::Gold, "-fuse-ld=gold", FOR_SECTIONS),
            (Linker::Script, "-fuse-ld=bfd", "-Wl,-T,"),
        ] {
            let file = order_file(linker, &expected, Some(&sections));
            assert_eq!(file.left_out, []);
            assert!(file.names <= expected.len(), "{} names\n{}", file.names, file.text);
            build.write("order", &file.text);
            build.link("after", &["-B.", by, &format!("{option}order")]);
            assert_eq!(build.functions("after"), expected, "{linker:?}");
        }
    }
}

/// Functions that ThinLTO brings from one file to another get a number behind their name.
#[test]
fn names_that_thin_lto_makes_are_ordered() {
    let [Some(_), Some(_)] = ["clang-19", "ld.lld-19"].map(testkit::tool) else { return };
    let folder = tempfile::tempdir().unwrap();
    let build = Build { folder, compiler: "clang-19" };
    let near = "int grow(int); int last(int x) { return x - 7; }
        int main(int count, char **words) { return (grow(count) + last(count)) & 0; }";
    let far = "volatile int sink;
        __attribute__((noinline)) static int own(int x) { sink += x; return sink * 3; }
        int grow(int x) { return own(x) + own(sink); }";
    build.write("near.c", near);
    build.write("far.c", far);
    let common = ["-O2", "-flto=thin", "-ffunction-sections", "-fuse-ld=lld", "near.c", "far.c"];
    build.run("clang-19", &[&common[..], &["-o", "before"]].concat());
    let functions = |file| {
        let all = grouped(build.symbols(&["-n", file]));
        let ours =
            |name: &String| ["main", "last", "grow"].contains(&&**name) || name.starts_with("own");
        all.into_iter().filter(|names| names.iter().any(ours)).collect::<Vec<_>>()
    };
    let expected = reversed(&functions("before"));
    assert!(expected.iter().flatten().any(|name| name.contains("own.llvm.")), "{expected:?}");
    build.write("order", &order_file(Linker::Lld, &expected, None).text);
    let with = format!("{FOR_LLD}order");
    build.run("clang-19", &[&common[..], &["-o", "after", &with]].concat());
    assert_eq!(functions("after"), expected);
}

/// Names that end words in one format or another; those of Rust, of ThinLTO, and a very long one.
fn odd_names() -> Vec<String> {
    let odd = "plain|with space|paren(x)|op<<|comma,x|colon:x|tick'x|star*x|ques?x|brack[x]|semi;x|brace{x}\
        |eq=x|bang!x|tilde~x|caret^x|percent%x|plus+x|minus-x|dollar$x|amp&x|hash#x|#lead|ünicode\
        |-dash|+plus|%pc|:c|.dot|$d|EXCLUDE_FILE|KEEP|COMMON|a.o|slash/x|back`x|unlikely|startup\
        |_RNvCs1234_7mycrate4main|_ZN4core3fmt17h0123456789abcdefE\
        |_ZN3foo28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE.llvm.12345";
    let long = [3345, 20_000].map(|length| "x".repeat(length));
    odd.split('|').map(str::to_owned).chain(long).collect()
}

/// An object file with a function of each name, in a section of its own.
fn odd_object(build: &Build, before: &str) {
    let mut text = String::new();
    for name in odd_names() {
        text += &format!(
            ".section \".text.{name}\",\"ax\",@progbits\n.globl \"{name}\"\n.type \
             \"{name}\",@function\n\"{name}\": ret\n.size \"{name}\",.-\"{name}\"\n"
        );
    }
    build.write("odd.s", &(text + before));
    build.run("clang-19", &["-c", "odd.s"]);
    build.write("main.c", "int main(void) { return 3; }");
    build.run("gcc", &["-c", "main.c"]);
}

#[test]
fn odd_names_are_ordered_or_left_out() {
    let tools = ["clang-19", "ld.lld-19", "ld.gold", "ld.bfd", "objcopy"].map(testkit::tool);
    let [Some(_), Some(lld), Some(gold), Some(ld), Some(objcopy)] = tools else { return };
    let patterns = ["star*x", "ques?x", "brack[x]"];
    let new = has_ordering_files(&ld).then_some((Linker::Bfd, "bfd", FOR_SECTIONS, &patterns[..]));
    let all = [
        (Linker::Lld, "lld", FOR_LLD, &["#lead"][..]),
        (Linker::Gold, "gold", FOR_SECTIONS, &patterns),
        (Linker::Script, "bfd", "-Wl,-T,", &patterns),
        (Linker::Objcopy, "bfd", "", &["eq=x"]),
    ];
    for (linker, name, option, left_out) in all.into_iter().chain(new) {
        let build = Build { folder: tempfile::tempdir().unwrap(), compiler: "clang-19" };
        let path = match name {
            "lld" => &lld,
            "gold" => &gold,
            _ => &ld,
        };
        build.take(path, name);
        odd_object(&build, ".section .note.GNU-stack,\"\",@progbits\n");
        let order: Vec<Names> = odd_names().into_iter().rev().map(|name| vec![name]).collect();
        let by = format!("-fuse-ld={name}");
        let link = ["-B.", &by, "main.o", "odd.o", "-o"];
        let sections = InputSections::usual([]);
        let file = order_file(linker, &order, Some(&sections));
        let left: Vec<&str> = file.left_out.iter().map(|left| left.name.as_str()).collect();
        let mut expected_left = left_out.to_vec();
        expected_left.reverse();
        assert_eq!(left, expected_left, "{linker:?}");
        build.write("order", &file.text);
        let with = format!("{option}order");
        if linker == Linker::Objcopy {
            build.run(&objcopy, &["@order", "odd.o"]);
            build.run("gcc", &[&link[..], &["after"]].concat());
        } else {
            build.run("gcc", &[&link[..], &["after", &with]].concat());
        }
        let after = grouped(build.symbols(&["-n", "after"]));
        let is_in_order = |names: &&Names| {
            order.contains(names) && !left.contains(&&*names[0]) && !stays(linker, &names[0])
        };
        let after: Vec<&Names> = after.iter().filter(is_in_order).collect();
        let expected: Vec<&Names> = order.iter().filter(is_in_order).collect();
        assert_eq!(after, expected, "{linker:?}");
    }
}

/// Names whose sections may be those of many others, which only a map would tell.
fn stays(linker: Linker, name: &str) -> bool {
    linker != Linker::Lld && matches!(name, "unlikely" | "startup")
}

/// Versions of symbols are no part of their names for a linker.
#[test]
fn symbols_with_versions_are_ordered() {
    let [Some(lld), Some(_)] = ["ld.lld-19", "gcc"].map(testkit::tool) else { return };
    let build = Build { folder: tempfile::tempdir().unwrap(), compiler: "gcc" };
    build.take(&lld, "lld");
    let source = "__asm__(\".symver old, f@V1\"); __asm__(\".symver new, f@@V2\");
        int old(void) { return 1; } int new(void) { return 2; } int other(void) { return 3; }";
    build.write("v.c", source);
    build.write("versions", "V1 { global: f; other; local: *; }; V2 { global: f; } V1;");
    let common = ["-O2", "-fPIC", "-shared", "-ffunction-sections", "-B.", "-fuse-ld=lld"];
    let common = [&common[..], &["v.c", "-Wl,--version-script=versions", "-o"]].concat();
    // GNU ld, unlike ld.lld, keeps the version in the symbol table.
    let order = ["other", "f@@V2"].map(|name| vec![name.to_owned()]);
    build.write("order", &order_file(Linker::Lld, &order, None).text);
    build.run("gcc", &[&common[..], &["after.so", &format!("{FOR_LLD}order")]].concat());
    let all = build.symbols(&["-n", "after.so"]);
    let place = |wanted: &str| all.iter().position(|(_, name)| name == wanted).unwrap();
    assert!(place("other") < place("new") && place("other") < place("old"), "{all:?}");
}

/// An order without functions changes nothing, except that gold does not collect code by its
/// prefixes where it is given an order.
#[test]
fn an_empty_order_is_read_by_every_linker() {
    let tools = ["ld.lld-19", "ld.gold", "ld.bfd", "objcopy"].map(testkit::tool);
    let [Some(lld), Some(gold), Some(ld), Some(objcopy)] = tools else { return };
    let Some(build) = Build::new("gcc", &["-ffunction-sections"]) else { return };
    for (path, name) in [(&lld, "lld"), (&gold, "gold"), (&ld, "bfd")] {
        build.take(path, name);
    }
    let new = has_ordering_files(&ld).then_some((Linker::Bfd, "bfd", FOR_SECTIONS));
    let all = [
        (Linker::Lld, "lld", FOR_LLD),
        (Linker::Gold, "gold", FOR_SECTIONS),
        (Linker::Script, "bfd", "-Wl,-T,"),
    ];
    for (linker, name, option) in all.into_iter().chain(new) {
        build.write("order", &order_file(linker, &[], None).text);
        let by = format!("-fuse-ld={name}");
        build.link("before", &["-B.", &by]);
        build.link("after", &["-B.", &by, &format!("{option}order")]);
        let [mut before, mut after] = ["before", "after"].map(|file| build.functions(file));
        if linker == Linker::Gold {
            before.sort_unstable();
            after.sort_unstable();
        }
        assert_eq!(after, before, "{linker:?}");
    }
    build.write("order", &order_file(Linker::Objcopy, &[], None).text);
    build.run(objcopy, &["@order", "one.o"]);
}

/// Mach-O files, whose linker divides object files at symbols.
#[test]
fn ld64_lld_takes_any_order() {
    let tools = ["clang-19", "ld64.lld-19", "llvm-nm-19"].map(testkit::tool);
    let [Some(_), Some(ld64), Some(nm)] = tools else { return };
    let build = Build { folder: tempfile::tempdir().unwrap(), compiler: "clang-19" };
    let one = ONE.replace("#include <stdlib.h>", "void exit(int) __attribute__((noreturn));");
    let alias = "extern int other_name(int) __attribute__((alias(\"real_name\")));";
    build.write("one.c", &one.replace(alias, "int other_name(int);"));
    build.write(
        "two.c",
        &format!(
            "{TWO}int from_cpp(int x) {{ return x; }} void exit(int x) {{ for (;;) sink = x; }}"
        ),
    );
    build.write("more.c", "int other_name(int x) { return x; }");
    let target = "--target=x86_64-apple-macos12";
    for file in ["one.c", "two.c", "more.c"] {
        build.run("clang-19", &[target, "-O2", "-ffreestanding", "-c", file]);
    }
    let link = |output: &str, more: &[&str]| {
        let arch = ["-arch", "x86_64", "-platform_version", "macos", "12.0", "12.0"];
        let files = ["-undefined", "dynamic_lookup", "one.o", "two.o", "more.o", "-o", output];
        build.run(&ld64, &[&arch[..], &files, more].concat());
        let text = build.run(&nm, &["-n", "--defined-only", output]).stdout;
        let text = String::from_utf8(text).unwrap();
        let code = text.lines().filter(|line| line.contains(" t ") || line.contains(" T "));
        let names = code.filter_map(|line| line.rsplit(' ').next()?.strip_prefix('_'));
        names
            .filter(|name| !name.starts_with("_mh_"))
            .map(|name| vec![name.to_owned()])
            .collect::<Vec<_>>()
    };
    let before = link("before", &[]);
    assert!(before.len() >= 18, "{before:?}");
    assert_eq!(link("empty", &["-order_file", "/dev/null"]), before);
    let expected = reversed(&before);
    build.write("order", &order_file(Linker::Ld64, &expected, None).text);
    assert_eq!(link("after", &["-order_file", "order"]), expected);
}
