//! Traces of each format, whole and damaged.

use super::pairing::{PairedBy, TraceMatch};
use super::runs::{NamedFunction, OrderedImage, UnmatchedCall, runs};
use super::*;
use crate::function::{Movability, PlacedFunction};
use model::{
    Ending, ExecutedProgram, FirstCall, Format, FunctionId, FunctionModule, MappedVa, ModuleId, Rva,
};
use proptest::prelude::*;

/// What OpenOffice's document shows, and two more calls.
const SPLASH: &str = "splmi.dll, Baseaddress: 0x03aa0000\n1, 0x03ab74d0, 1\n2, 0x03aa1000, 17\n\
                      3, 0x03aa1040, 2\n";

fn call(program: u32, rva: u32, name: &str) -> FirstCall {
    let (module, count) = (ModuleId(0), None);
    FirstCall { program, module, rva: Rva(rva), bytes: 16, count, name: name.to_owned() }
}

fn native_trace() -> FunctionTrace {
    let module = FunctionModule {
        path: "/opt/caf\u{efe9}/app".to_owned(),
        build_id: Some("0123abcd".to_owned()),
        watched: Some(9),
        ..FunctionModule::default()
    };
    let program = |pid, forked_from| ExecutedProgram { pid, path: "/opt/app".into(), forked_from };
    let odd = FirstCall { count: Some(u64::MAX), ..call(1, u32::MAX, "-[a \"b\" c:]\n\u{efff}") };
    FunctionTrace {
        recorder: "headstart".to_owned(),
        command: vec!["app".to_owned(), "--help".to_owned()],
        launched: Some("/opt/app".to_owned()),
        weight: 2.5,
        ending: Some(Ending::Signal(11)),
        modules: vec![module],
        programs: vec![program(7, None), program(8, Some(0))],
        calls: vec![call(0, 0x174d0, &"n".repeat(3345)), odd, call(0, 0, "")],
        ..FunctionTrace::default()
    }
}

fn refused(bytes: &[u8]) -> (u64, TraceProblem) {
    let error = read("a.log", bytes).unwrap_err();
    assert!(error.to_string().starts_with(&format!("a.log, line {}: ", error.line)));
    (error.line, error.problem)
}

#[test]
fn a_trace_of_headstart_comes_back_as_it_was() {
    let trace = native_trace();
    let text = native::write(&trace);
    assert_eq!(read("a.log", &text).unwrap()[0], trace);
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    assert!(lines[0].starts_with(b"{\"schema\":1,\"recorder\":\"headstart\""));
    assert_eq!(lines[3], b"[0,0,\"0x0\",16,\"\"]");
    let mut appended = native::write_header(&trace);
    trace.calls.iter().for_each(|call| native::write_call(call, &mut appended));
    native::write_end(trace.calls.len(), &mut appended);
    assert_eq!(appended, text);
    assert!(text.ends_with(b"\n{\"calls\":3}\n"));
}

#[test]
fn a_trace_without_its_end_is_read_and_told() {
    let trace = native_trace();
    let text = native::write(&trace);
    let end = text.len() - b"{\"calls\":3}\n".len();
    let older = native::read("a.log", &text[..end]).unwrap();
    assert_eq!((older.calls.len(), incomplete(&older)), (3, Some(NO_END)));
    assert_eq!(incomplete(&native::read("a.log", &native::write(&older)).unwrap()), Some(NO_END));
    assert_eq!(incomplete(&trace), None);
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let without_one = [&lines[..2], &lines[3..]].concat().concat();
    assert_eq!(refused(&without_one), (4, TraceProblem::CallsMissing { found: 2, calls: 3 }));
    assert_eq!(refused(&[&text[..], &text].concat()), (6, TraceProblem::BehindEnd));
}

#[test]
fn weights_that_cannot_be_summed_are_refused_with_the_line() {
    for weight in [0.0, -1.0, 1e308, 1e-300] {
        let text = native::write(&FunctionTrace { weight, ..native_trace() });
        assert_eq!(refused(&text), (1, TraceProblem::Weight(weight.to_string())));
    }
    let header = |weight: &str| {
        let text = native::write_header(&native_trace());
        String::from_utf8(text).unwrap().replace("\"weight\":2.5", &format!("\"weight\":{weight}"))
    };
    for weight in ["NaN", "1e999", "null", "\"1\""] {
        let (line, problem) = refused(header(weight).as_bytes());
        assert!(line == 1 && matches!(problem, TraceProblem::Json(_)), "{weight}: {problem:?}");
    }
    let profile = b":ir\n:temporal_prof_traces\n1\n1\n0\nmain\n";
    assert_eq!(refused(profile), (5, TraceProblem::Weight("0".to_owned())));
}

#[test]
fn a_recorder_that_was_killed_leaves_all_whole_lines() {
    let trace = native_trace();
    let text = native::write(&trace);
    let end = b"{\"calls\":3}\n".len();
    for (cut, calls, note) in [
        (1, 3, None),
        (2, 3, Some(CUT)),
        (end - 1, 3, Some(CUT)),
        (end, 3, Some(NO_END)),
        (end + 1, 3, Some(NO_END)),
        (end + 2, 2, Some(CUT)),
        (end + 14, 2, Some(CUT)),
    ] {
        let found = native::read("a.log", &text[..text.len() - cut]).unwrap();
        assert_eq!((found.calls.len(), incomplete(&found)), (calls, note), "{cut}");
    }
    let header = text.iter().position(|&byte| byte == b'\n').unwrap();
    assert_eq!(refused(&text[..header - 9]), (1, TraceProblem::CutShort));
    assert_eq!(native::read("a.log", &text[..header]).unwrap().calls, []);
}

#[test]
fn a_damaged_line_is_shown_with_its_number() {
    let header = native::write_header(&native_trace());
    let with =
        |line: &str| refused(&[&header, line.as_bytes(), b"\n[0,0,\"0x0\",1,\"\"]\n"].concat());
    for line in [
        "x",
        "[]",
        "[0,0,\"10\",1,\"\"]",
        "[0,0,\"0x100000000\",1,\"\"]",
        "[0,-1,\"0x1\",1,\"\"]",
        "[0,0,\"0x1\",1,\"\",1,1]",
        "[0,0,\"0x1\",1,\"é\"",
        "{}",
    ] {
        let (number, problem) = with(line);
        assert!(number == 2 && matches!(problem, TraceProblem::Json(_)), "{line}: {problem:?}");
    }
    assert_eq!(with("[0,1,\"0x1\",1,\"\"]"), (2, TraceProblem::NoModule(1)));
    assert_eq!(with("[2,0,\"0x1\",1,\"\"]"), (2, TraceProblem::NoProgram(2)));
    assert_eq!(refused(b"").1, TraceProblem::Empty);
    assert_eq!(refused(b"\n\nhello\n"), (3, TraceProblem::Unrecognized));
    let newer = TraceProblem::Schema { found: 9, known: 1 };
    assert_eq!(refused(b"{\"schema\":9,\"x\":0}\n").1, newer);
    assert!(matches!(refused(b"{\"schema\":1}\n").1, TraceProblem::Json(_)));
}

#[test]
fn an_openoffice_trace_is_written_again_byte_by_byte() {
    let two = format!("{SPLASH}sal3.dll, Baseaddress: 0x00a00000\n4, 0x00a01000, 1\n");
    let each = format!("{SPLASH}sal3.dll, Baseaddress: 0x00a00000\n1, 0x00a01000, 1\n");
    let wide = SPLASH.replace("0x03a", "0x0000000003a");
    let upper = SPLASH.replace("3aa", "3AA").replace("3ab74d0", "3AB74D0");
    let forms = [
        SPLASH.into(),
        SPLASH.replace('\n', "\r\n"),
        two,
        each,
        wide,
        upper,
        SPLASH.trim_end().to_owned(),
        SPLASH.lines().next().unwrap().to_owned() + "\n",
    ];
    for form in forms {
        let traces = read("a.log", form.as_bytes()).unwrap();
        assert_eq!(traces[0].notes, [""; 0], "{form:?}");
        assert_eq!(String::from_utf8(openoffice::write(&traces[0])).unwrap(), form);
        // In between, it may have been one of headstart's own files.
        let kept = native::read("b.log", &native::write(&traces[0])).unwrap();
        assert_eq!(openoffice::write(&kept), form.as_bytes());
    }
}

#[test]
fn traces_that_were_saved_on_windows_are_read() {
    let whole = native_trace();
    let texts = [String::from_utf8(native::write(&whole)).unwrap(), SPLASH.replace('\n', "\r\n")];
    for text in &texts {
        let plain = read("a.log", text.as_bytes()).unwrap().remove(0);
        let marked = format!("\u{feff}{text}");
        let utf16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [marked.as_bytes(), &utf16] {
            let found = read("a.log", bytes).unwrap().remove(0);
            assert_eq!((&found.modules, &found.calls), (&plain.modules, &plain.calls));
            // It would be written without the mark.
            assert_eq!(found.notes.len(), usize::from(*text != texts[0]));
        }
    }
}

#[test]
fn an_openoffice_trace_tells_addresses_counts_and_order() {
    let trace = &read("a.log", SPLASH.as_bytes()).unwrap()[0];
    let module = &trace.modules[0];
    assert_eq!((module.path.as_str(), module.format), ("splmi.dll", Format::Pe));
    assert_eq!(module.mapped_at, Some(MappedVa(0x03aa_0000)));
    let seen: Vec<_> = trace.calls.iter().map(|it| (it.rva, it.count)).collect();
    assert_eq!(seen, [(Rva(0x174d0), Some(1)), (Rva(0x1000), Some(17)), (Rva(0x1040), Some(2))]);
    let mixed =
        "b.dll, Baseaddress: 0x1000\n2, 0x1010, 1\na.dll, Baseaddress: 0x2000\n1, 0x2020, 1\n";
    let trace = &read("a.log", mixed.as_bytes()).unwrap()[0];
    let order: Vec<_> = trace.calls.iter().map(|it| (it.module, it.rva)).collect();
    assert_eq!(order, [(ModuleId(1), Rva(0x20)), (ModuleId(0), Rva(0x10))]);
    let one = openoffice::write_module(trace, ModuleId(1));
    assert_eq!(one, b"a.dll, Baseaddress: 0x2000\n1, 0x2020, 1\n");
}

#[test]
fn damaged_openoffice_traces_are_refused_with_the_line() {
    let number = TraceProblem::Number;
    let with = |line: &str| refused(format!("{SPLASH}{line}\n4, 0x03aa2000, 1\n").as_bytes());
    assert_eq!(with("x, 0x03aa2000, 1"), (5, number("the place in the order")));
    assert_eq!(with("4, 03aa200g, 1").1, number("the address"));
    assert_eq!(with("4, 0x03aa2000").1, number("the count"));
    assert_eq!(with("4, 0x03aa2000, 1, 1").1, number("the count at the end of the line"));
    assert_eq!(with("4, 0x1ffffffffffffffff, 1").1, number("the address"));
    assert_eq!(with("4, 0x03a90000, 1").1, TraceProblem::OutsideOfModule);
    assert_eq!(with("4, 0x103aa0000, 1").1, TraceProblem::OutsideOfModule);
    let headless = SPLASH.split_once('\n').unwrap().1;
    assert_eq!(
        openoffice::read("a", headless.as_bytes()).unwrap_err().problem,
        TraceProblem::NoHeader
    );
    let cut = read("a.log", &SPLASH.as_bytes()[..SPLASH.len() - 4]).unwrap();
    assert_eq!((cut[0].calls.len(), cut[0].notes.len()), (2, 1));
    let spaced = read("a.log", SPLASH.replace("1, 0x", "1,0x").as_bytes()).unwrap();
    assert_eq!((spaced[0].calls.len(), spaced[0].notes.len()), (3, 1));
}

#[test]
fn temporal_profiles_have_names_and_weights() {
    let text = b"# IR\n:ir\n:temporal_prof_traces\n# Num\n2\n5\n# Weight:\n1\nmain,p.c;a,b,\n7\n\n\nmain\n1\n1\n1\n";
    let traces = read("a.proftext", text).unwrap();
    let names: Vec<&str> = traces[0].calls.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["main", "a", "b"]);
    assert_eq!((traces[1].weight, traces[1].calls.len()), (7.0, 0));
    assert!(traces[0].modules[0].names_only);
    assert_eq!(refused(b":ir\nmain\n1\n1\n1\n"), (1, TraceProblem::NoTemporalTraces));
    assert_eq!(refused(b":ir\n:temporal_prof_traces\n2\n2\n1\n"), (5, TraceProblem::CutShort));
    assert_eq!(
        refused(b":temporal_prof_traces\nmany\n").1,
        TraceProblem::Number("the number of traces")
    );
    assert_eq!(refused(b":temporal_prof_traces\n99999999999\n1\n").1, TraceProblem::CutShort);
}

#[test]
fn sancov_files_of_both_widths_are_read() {
    let wide = [&0xc0bf_ffff_ffff_ff64_u64.to_le_bytes()[..], &0x1ba66_u64.to_le_bytes()].concat();
    let narrow =
        [&0xc0bf_ffff_ffff_ff32_u64.to_le_bytes()[..], &0x1ba66_u32.to_le_bytes()].concat();
    for bytes in [&wide, &narrow] {
        let trace = &read("folder/app.so.77.sancov", bytes).unwrap()[0];
        assert_eq!((trace.calls[0].rva, trace.modules[0].path.as_str()), (Rva(0x1ba66), "app.so"));
        assert_eq!(trace.notes.len(), 1);
        assert_eq!(refused(&bytes[..bytes.len() - 1]).1, TraceProblem::CutShort);
    }
    let fixed = sancov::read("app.77.sancov", &wide, Va(0x10000)).unwrap();
    assert_eq!(fixed.calls[0].rva, Rva(0xba66));
    let far = [&wide[..8], &u64::MAX.to_le_bytes()].concat();
    assert_eq!(refused(&far).1, TraceProblem::OutsideOfModule);
}

fn placed(starts: &[u32]) -> Vec<PlacedFunction> {
    let function = |&rva: &u32| PlacedFunction {
        rva: Rva(rva),
        bytes: 16,
        alignment: 16,
        movability: Movability::Free,
        moves_with_previous: false,
        bytes_behind: 0,
    };
    starts.iter().map(function).collect()
}

fn image(path: &str) -> OrderedImage<'_> {
    let (functions, names) = (&[][..], &[][..]);
    OrderedImage { path, module: None, soname: None, build_id: None, functions, names }
}

fn named(names: &[&'static str]) -> Vec<NamedFunction<'static>> {
    let name =
        |(at, &name): (usize, &&'static str)| NamedFunction { function: FunctionId::at(at), name };
    names.iter().enumerate().map(name).collect()
}

#[test]
fn the_same_build_is_matched_by_address_and_another_by_name() {
    let functions = placed(&[0x100, 0x110, 0x120, 0x130]);
    let names = named(&["main", "parse.constprop.1", "helper", "helper"]);
    let image = |build_id| OrderedImage {
        build_id,
        functions: &functions,
        names: &names,
        ..image("/x/app")
    };
    let mut trace = native_trace();
    trace.calls =
        vec![call(0, 0x130, "old"), call(0, 0x118, ""), call(0, 0x100, "main"), call(0, 0x90, "")];
    let same = runs(&[trace.clone()], &image(Some("0123abcd")));
    let ids = |ids: &[u32]| ids.iter().copied().map(FunctionId).collect::<Vec<_>>();
    assert_eq!(same.runs[0].first_calls, ids(&[3, 1, 0]));
    assert_eq!((same.by_address, same.by_name, same.runs[0].weight), (3, 0, 2.5));
    assert_eq!(same.unmatched, [UnmatchedCall { trace: 0, name: String::new(), rva: Rva(0x90) }]);
    assert_eq!(same.matched_percent(), Some(75.0));
    trace.calls =
        vec![call(0, 0x500, "parse.constprop.0"), call(0, 0x100, "gone"), call(0, 0x700, "helper")];
    let other = runs(&[trace.clone()], &image(Some("beef")));
    assert_eq!(other.runs[0].first_calls, ids(&[1, 3]));
    assert_eq!((other.by_address, other.by_name, other.unmatched.len()), (0, 2, 1));
    trace.modules[0].path = "/x/another".to_owned();
    assert_eq!(runs(&[trace], &image(Some("beef"))).runs, []);
    assert_eq!(runs(&[], &image(None)).matched_percent(), None);
}

/// A build-id may be fixed by an option, or kept by a tool that moves functions.
#[test]
fn a_build_id_that_names_or_sizes_contradict_counts_for_nothing() {
    let functions = placed(&[0x100, 0x110, 0x120, 0x130]);
    let names = named(&["a", "b", "f@@V1", "d"]);
    let build_id = Some("0123abcd");
    let image = OrderedImage { functions: &functions, names: &names, build_id, ..image("/x/app") };
    let unnamed = OrderedImage { names: &[], ..image };
    let found = |image: &OrderedImage<'_>, calls: &[(u32, u32, &str)]| {
        let calls = calls
            .iter()
            .map(|(rva, bytes, name)| FirstCall { bytes: *bytes, ..call(0, *rva, name) });
        let trace = FunctionTrace { calls: calls.collect(), ..native_trace() };
        let mut found = runs(&[trace], image);
        let order = found.runs.pop().map_or(Vec::new(), |run| run.first_calls);
        let order: Vec<usize> = order.into_iter().map(FunctionId::index).collect();
        (order, found.traces.remove(0).has_wrong_id)
    };
    // Names of other versions and unknown ones, sizes that nobody knows, and calls into a function.
    let same = [(0x120, 16, "f"), (0x110, 0, "local"), (0x138, 5, ""), (0x100, 16, "")];
    assert_eq!(found(&image, &same), (vec![2, 1, 3, 0], false));
    assert_eq!(found(&unnamed, &same), (vec![2, 1, 3, 0], false));
    // One name at another address is enough: b and d have been swapped.
    let moved = [(0x100, 16, "a"), (0x110, 16, "d"), (0x130, 16, "b")];
    assert_eq!(found(&image, &moved), (vec![0, 3, 1], true));
    assert_eq!(found(&image, &[(0x900, 16, "d")]), (vec![3], true));
    // Without names sizes tell.
    assert_eq!(found(&unnamed, &[(0x100, 16, "a"), (0x110, 48, "b")]), (vec![], true));
}

#[test]
fn the_surest_sign_tells_which_module_is_the_image() {
    let functions = placed(&[0x100]);
    let module = |path: &str, build_id: Option<&str>| FunctionModule {
        path: path.to_owned(),
        build_id: build_id.map(str::to_owned),
        ..FunctionModule::default()
    };
    let library = OrderedImage {
        soname: Some("libx.so.1"),
        build_id: Some("aa"),
        functions: &functions,
        ..image("/build/libx.so.1.3")
    };
    let paired = |modules: &[FunctionModule], image: &OrderedImage<'_>| {
        let trace = FunctionTrace {
            modules: modules.to_vec(),
            calls: vec![call(0, 0x100, "f")],
            ..native_trace()
        };
        runs(&[trace], image).traces.remove(0)
    };
    let all = [
        module("/other", Some("bb")),
        module("/a/libx.so.1.3", Some("cc")),
        module("/a/libx.so.1.2", Some("dd")),
        module("/a/renamed", Some("aa")),
    ];
    let sign = |found: TraceMatch| found.paired;
    let is = |by, path: &str| Some((by, path.to_owned()));
    assert_eq!(sign(paired(&all, &library)), is(PairedBy::BuildId, "/a/renamed"));
    let by_soname = paired(&all[2..3], &library);
    assert!(by_soname.is_other_build);
    assert_eq!(sign(by_soname), is(PairedBy::Soname, "/a/libx.so.1.2"));
    let unnamed = OrderedImage { soname: None, ..library };
    assert_eq!(sign(paired(&all[..3], &unnamed)), is(PairedBy::FileName, "/a/libx.so.1.3"));
    let asked = OrderedImage { module: Some("/other"), ..unnamed };
    let found = paired(&all[..3], &asked);
    assert_eq!((found.calls, found.matched), (1, 0));
    assert_eq!(sign(found), is(PairedBy::Request, "/other"));
    let none = TraceMatch { modules: vec![false], ..TraceMatch::default() };
    assert_eq!(paired(&all[..1], &library), none);
    assert_eq!(sign(paired(&[module("libx.so.10", None)], &library)), None, "another version");
}

#[test]
fn without_build_ids_an_address_counts_unless_the_name_is_another() {
    let functions = placed(&[0x100, 0x110]);
    let names = named(&["first", "second"]);
    let image = OrderedImage { functions: &functions, names: &names, ..image("APP") };
    let mut trace = native_trace();
    trace.modules[0].build_id = None;
    trace.calls = vec![call(0, 0x100, "second"), call(0, 0x108, ""), call(0, 0x110, "third")];
    let found = runs(&[trace], &image);
    assert_eq!(found.runs[0].first_calls, [FunctionId(1), FunctionId(0)]);
    assert_eq!((found.by_address, found.by_name, found.unmatched.len()), (1, 1, 1));
}

#[test]
fn a_fork_begins_with_the_calls_of_its_parent() {
    let functions = placed(&[0x100, 0x110, 0x120, 0x130]);
    let image = OrderedImage { build_id: Some("0123abcd"), functions: &functions, ..image("app") };
    let mut trace = native_trace();
    let counted = |program, rva, count| FirstCall { count: Some(count), ..call(program, rva, "") };
    trace.calls = vec![
        counted(0, 0x100, 5),
        counted(1, 0x120, 1),
        counted(0, 0x110, 1),
        counted(1, 0x100, 3),
    ];
    let found = runs(&[trace.clone()], &image);
    let orders: Vec<_> = found.runs.iter().map(|run| run.first_calls.clone()).collect();
    let id = FunctionId;
    assert_eq!(orders, [vec![id(0), id(1)], vec![id(0), id(2)]]);
    assert_eq!(found.runs[1].counts, [8, 1]);
    trace.calls[0].count = None;
    assert_eq!(runs(&[trace.clone()], &image).runs[1].counts, [0_u64; 0]);
    // A chain that leads nowhere or to itself does no harm.
    for parent in [1, 9] {
        trace.programs[1].forked_from = Some(parent);
        assert_eq!(runs(&[trace.clone()], &image).runs[1].first_calls, [id(2), id(0)]);
    }
}

proptest! {
    #[test]
    fn any_call_comes_back(rva: u32, bytes: u32, count: Option<u64>, name in "\\PC{0,40}|[\\x00-\\x7f]{0,9}") {
        let mut trace = native_trace();
        trace.calls = vec![FirstCall { program: 1, module: ModuleId(0), rva: Rva(rva), bytes, count, name }];
        prop_assert_eq!(native::read("a", &native::write(&trace)).unwrap(), trace);
    }

    #[test]
    fn any_bytes_give_a_trace_or_an_error(
        start in prop_oneof![Just(SPLASH.as_bytes().to_vec()), Just(native::write(&native_trace())),
            Just(b":ir\n:temporal_prof_traces\n1\n1\n1\na,b\n".to_vec())],
        at in 0_usize..600, bytes in proptest::collection::vec(any::<u8>(), 0..4), end in 0_usize..600,
    ) {
        let mut text = start;
        let (at, end) = (at % text.len(), end % text.len());
        text.splice(at..at, bytes);
        for text in [&text[..], &text[..end]] {
            for trace in read("a.log", text).unwrap_or_default() {
                let again = native::read("b.log", &native::write(&trace)).unwrap();
                prop_assert_eq!(again, trace);
            }
        }
    }
}
