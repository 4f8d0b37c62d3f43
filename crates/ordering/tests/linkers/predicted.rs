//! Predictions for functions of names that an order file cannot list, against the relinked program.

use super::build::Build;
use super::{FOR_LLD, FOR_SECTIONS};
use model::FunctionId;
use ordering::subject::Subject;
use ordering::summary;
use ordering::write::{self, Linker, Relinker};
use std::collections::BTreeSet;

/// Names of called functions, as C has them. Each linker has some that its file cannot list; `static`
/// is a function that a map of GNU ld does not name.
const ODD: [&str; 9] = [
    "plain",
    "star*x",
    "ques?x",
    "brack[x]",
    "#lead",
    "two words",
    "back\\\\slash",
    "at@V",
    "static",
];
/// Between two of them, for more than a page.
const PADS: usize = 40;

fn source() -> String {
    let mut text = String::from("volatile int sink;\n");
    for (number, name) in ODD.iter().enumerate() {
        for pad in 0..PADS {
            // Of many sizes, so that addresses tell no larger alignment than there is.
            let sums = "sink += x;".repeat(20 + pad);
            text += &format!("void pad{number}_{pad}(int x) {{ {sums} }}\n");
        }
        text += &match *name {
            "static" => format!("__attribute__((noinline)) static void w{number}(int x) {{"),
            name => format!("void w{number}(int) asm(\"{name}\"); void w{number}(int x) {{"),
        };
        text += " sink -= x; }\n";
    }
    let calls: String = (0..ODD.len()).map(|number| format!("w{number}(count);")).collect();
    text + &format!("int main(int count, char **words) {{ (void)words; {calls} return 0; }}\n")
}

/// Whether these are names of main or of an odd function.
fn is_called(names: &[String]) -> bool {
    let odd = ODD.map(|name| name.replace("\\\\", "\\"));
    let others = ["main".to_owned(), "at".to_owned(), format!("w{}", ODD.len() - 1)];
    odd.iter().chain(&others).any(|called| names.contains(called))
}

fn called(subject: &Subject) -> Vec<FunctionId> {
    let all = subject.names.iter().enumerate().filter(|(_, names)| is_called(names));
    all.map(|(at, _)| FunctionId::at(at)).collect()
}

fn pages(extents: impl Iterator<Item = (u32, u32)>) -> usize {
    let pages = extents.flat_map(|(start, bytes)| start / 4096..=(start + bytes - 1) / 4096);
    pages.collect::<BTreeSet<u32>>().len()
}

fn pages_of(subject: &Subject) -> usize {
    let functions = called(subject).into_iter().map(|id| &subject.functions[id.index()]);
    pages(functions.map(|function| (function.rva.0, function.bytes)))
}

/// Links before and after an order of the called functions; pages that the prediction has, and that
/// the program has before and after.
fn predicted(build: &Build, linker: Linker, by: &str, option: &str) -> (usize, [usize; 2]) {
    let link = ["w.o", "-B.", by, "-o"];
    build.run("gcc", &[&link[..], &["before", "-Wl,-Map=map"]].concat());
    let map = build.map("map");
    let mut before = Subject::open(&build.path().join("before")).unwrap();
    before.use_sections(&map);
    let order = called(&before);
    assert_eq!(order.len(), ODD.len() + 1, "{linker:?}");
    let sections = summary::input_sections(&before, Some(&map));
    let relinker = Relinker { linker, sections: &sections };
    let moved = relinker.moved(&before, &order);
    let placement = relinker.placement(&before, &moved);
    let extents = order.iter().filter_map(|function| placement.extent(*function));
    let predicted = pages(extents.map(|extent| (extent.rva.0, extent.bytes)));
    let functions = summary::ordered_functions(&before, &order);
    let file = write::write(linker, &functions, Some(&sections));
    assert!(!file.left_out.is_empty(), "{linker:?}");
    assert_eq!(moved.len() + file.left_out.len(), order.len(), "{linker:?}");
    build.write("order", &file.text);
    build.run("gcc", &[&link[..], &["after", &format!("{option}order")]].concat());
    let after = Subject::open(&build.path().join("after")).unwrap();
    (predicted, [pages_of(&before), pages_of(&after)])
}

#[test]
fn what_an_order_file_cannot_list_is_predicted_to_stay() {
    let tools = ["clang-19", "ld.lld-19", "ld.gold", "ld.bfd"].map(testkit::tool);
    let [Some(_), Some(lld), Some(gold), Some(ld)] = tools else { return };
    for (linker, name, path, option) in [
        (Linker::Lld, "lld", lld, FOR_LLD),
        (Linker::Gold, "gold", gold, FOR_SECTIONS),
        (Linker::Script, "bfd", ld, "-Wl,-T,"),
    ] {
        let build = Build { folder: tempfile::tempdir().unwrap(), compiler: "clang-19" };
        build.take(&path, name);
        build.write("w.c", &source());
        build.run("clang-19", &["-O1", "-ffunction-sections", "-c", "w.c"]);
        let (predicted, [before, after]) =
            predicted(&build, linker, &format!("-fuse-ld={name}"), option);
        assert_eq!(predicted, after, "{linker:?}: {before} pages before");
        assert!(after < before, "{linker:?}: {after} instead of {before}");
    }
}
