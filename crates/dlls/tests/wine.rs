//! Rewritten sets under Wine's loader: the same output as before.

#![allow(clippy::unwrap_used)]

use dlls::elsewhere::Exclusions;
use dlls::rewrite::MemberDraft;
use dlls::{MemberId, OpenFiles, Refusal, bind, hints, ordinal};
use image::pe::edit::{KeepChecksum, PeDraft};
use image::pe::{Pe, PeFile, spec};
use model::BoundState;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use testkit::pe::{Image, Machine, Run, Tools, Wine, mingw, sources};
use workload::{Arch, Bases, By, Format, Hints, PeOptions, Pietrek, pe};

type Rewrite = fn(&mut MemberDraft<'_, '_>, &str) -> Result<(), Refusal>;

const HINTS: Rewrite = |draft, _| hints::repair(draft).map(drop);
const BIND: Rewrite = |draft, _| bind::bind(draft).map(drop);
const UNBIND: Rewrite = |draft, name| bind::unbind(draft.as_mut(), name).map(drop);
const ORDINAL: Rewrite = |draft, _| ordinal::convert(draft, &Exclusions::default()).map(drop);

/// The PE files of a folder.
fn images(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| PeFile::open(path).is_ok()).collect();
    paths.sort();
    paths
}

/// All images of a folder rewritten into another.
fn rewritten(from: &Path, rewrite: Rewrite) -> TempDir {
    let (folder, paths) = (tempfile::tempdir().unwrap(), images(from));
    let files = OpenFiles::open(&paths, &[]).unwrap();
    let set = files.set();
    for (id, path) in set.named().zip(&paths) {
        let mut draft = set.draft(id);
        rewrite(&mut draft, &set.member(id).name()).unwrap();
        let new = PeDraft::from(draft).finish(KeepChecksum::AsItWas);
        std::fs::write(folder.path().join(path.file_name().unwrap()), new).unwrap();
    }
    folder
}

fn same_files(one: &Path, other: &Path) {
    for path in images(one) {
        let bytes = |path: &Path| std::fs::read(path).unwrap();
        assert!(bytes(&path) == bytes(&other.join(path.file_name().unwrap())), "{path:?}");
    }
}

#[test]
fn generated_sets_call_the_same_functions() {
    let Some(wine) = Wine::shared() else { return };
    for bases in [Bases::Default, Bases::Chosen] {
        let options =
            PeOptions { bases, hints: Hints::Zero, file_alignment: 4096, ..PeOptions::default() };
        let asked = Pietrek {
            dlls: 10,
            functions: 100,
            globals: 5,
            by: By::Name,
            format: Format::Pe,
            arch: Arch::X86_64,
            lazy: false,
            pe: options,
        };
        let folder = tempfile::tempdir().unwrap();
        for index in 0..=10 {
            let (name, bytes) = pe::pietrek::file(&asked, index).unwrap();
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let run = |folder: &Path| wine.run(folder, &["LoadTimeTest.exe", "--call"]).code;
        assert_eq!(run(folder.path()), Some(0));
        let bound = rewritten(folder.path(), BIND);
        let unbound = rewritten(bound.path(), UNBIND);
        same_files(folder.path(), unbound.path());
        for rewrite in [HINTS, ORDINAL] {
            assert_eq!(run(rewritten(folder.path(), rewrite).path()), Some(0), "{bases:?}");
        }
        assert_eq!(run(bound.path()), Some(0), "{bases:?}");
        // The calls can fail: libraries of another seed have other identities.
        let other = Pietrek { pe: PeOptions { seed: 99, ..asked.pe }, ..asked };
        let (name, bytes) = pe::pietrek::file(&other, 3).unwrap();
        std::fs::write(bound.path().join(name), bytes).unwrap();
        assert_eq!(run(bound.path()), Some(1));
    }
}

/// Loads the DLL at the first call: enough of what Visual C++'s helper does.
const DELAY_HELPER: &str = r#"
typedef unsigned long long word;
extern char __ImageBase;
__declspec(dllimport) void *__stdcall LoadLibraryA(const char *);
__declspec(dllimport) void *__stdcall GetProcAddress(void *, const char *);
void *__delayLoadHelper2(const unsigned *d, void **slot) {
  char *base = &__ImageBase;
  void **table = (void **)(base + d[3]);
  word name = ((word *)(base + d[4]))[slot - table];
  void *module = LoadLibraryA(base + d[1]);
  const char *asked = name >> 63 ? (const char *)(name & 0xffff) : base + name + 2;
  return *slot = GetProcAddress(module, asked);
}
"#;

/// A program and DLLs with everything that imports can be: by name, without a name, data, through
/// two forwarders, delayed.
fn build(tools: &Tools, folder: &Path) {
    let end = Image::new("end.dll", "int last(void) { return 40; } int pad(void) { return 0; }");
    tools.build(folder, &end.exports("pad\nlast").base(0x1_a000_0000).checksum());
    let middle = Image::new("middle.dll", "int own(void) { return 2; }");
    let middle = middle.exports("own\nlast = end.last\nlate = end.#2").against("end.dll");
    tools.build(folder, &middle.base(0x1_b000_0000).checksum());
    let source = "int number = 300; int silent(void) { return 4000; } int own(void);\n\
                  int plain(void) { return 50000 + own(); }";
    let first = Image::new("first.dll", source).against("middle.dll");
    let exports = "plain\nnumber DATA\nsilent @7 NONAME\nthrough = middle.last";
    tools.build(folder, &first.exports(exports).base(0x1_c000_0000).checksum());
    let late = Image::new(
        "late.dll",
        "int later(void) { return 600000; } int at(void) { return 7000000; }",
    );
    tools.build(folder, &late.exports("later\nat").base(0x1_d000_0000).checksum());
    let source = format!("{DELAY_HELPER}{MAIN}");
    let program = Image::new("program.exe", &source).prelude(sources::SPEAKING).checksum();
    let program = program.system("kernel32.dll", &SYSTEM);
    let program = program.against("first.dll").against("late.dll").link("/delayload:late.dll");
    tools.build(folder, &program.file_alignment(4096).link("/dynamicbase:no"));
}

const SYSTEM: [&str; 5] =
    ["ExitProcess", "GetStdHandle", "WriteFile", "LoadLibraryA", "GetProcAddress"];

const MAIN: &str = r#"
__declspec(dllimport) extern int number;
__declspec(dllimport) int plain(void);
__declspec(dllimport) int silent(void);
__declspec(dllimport) int through(void);
__declspec(dllimport) int later(void);
__declspec(dllimport) int at(void);
void start(void) {
  int sum = number + plain() + silent() + through() + later() + at();
  char text[12];
  int end = 11;
  text[end] = 0;
  for (text[--end] = '\n'; sum; sum /= 10) text[--end] = '0' + sum % 10;
  say(text + end);
  leave(0);
}
"#;

/// 300 + 50002 + 4000 + 40 + 600000 + 7000000.
const SAYS: &str = "7654342\n";

#[test]
fn forwarders_data_ordinals_and_delayed_imports() {
    let (Some(tools), Some(wine)) = (Tools::find(), Wine::shared()) else { return };
    let folder = tempfile::tempdir().unwrap();
    build(&tools, folder.path());
    let run = |folder: &Path| wine.run(folder, &["program.exe"]);
    let good = Run { code: Some(0), stdout: SAYS.to_owned() };
    assert_eq!(run(folder.path()), good);
    for rewrite in [HINTS, BIND, ORDINAL] {
        let new = rewritten(folder.path(), rewrite);
        let changed = std::fs::read(new.path().join("program.exe")).unwrap();
        assert!(changed != std::fs::read(folder.path().join("program.exe")).unwrap());
        assert_eq!(run(new.path()), good);
    }
    bound_as_expected(rewritten(folder.path(), BIND).path());
    no_name_is_left(rewritten(folder.path(), ORDINAL).path());
    a_changed_dll_is_noticed(&tools, &wine, folder.path());
}

fn bound_as_expected(folder: &Path) {
    let paths = images(folder);
    let files = OpenFiles::open(&paths, &[]).unwrap();
    let set = files.set();
    let program = paths.iter().position(|path| path.ends_with("program.exe")).unwrap();
    let state = bind::state(&set, MemberId::at(program)).unwrap();
    let of = |name: &str| state.iter().find(|one| one.name.eq_ignore_ascii_case(name)).unwrap();
    // lld marks DLLs as relocatable at will.
    assert_eq!(of("first.dll").state, BoundState::Moved);
    assert_eq!(of("kernel32.dll").time_stamp, 0);
    let bytes = std::fs::read(&paths[program]).unwrap();
    let file = Pe::parse("program.exe", &bytes).unwrap();
    let entries: Vec<_> = file.bound_imports().map(Result::unwrap).collect();
    let first = entries.iter().find(|entry| entry.name == b"first.dll").unwrap();
    let names: Vec<&[u8]> = first.forwarders.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, [&b"middle.dll"[..], b"end.dll"]);
    assert!(file.directory(spec::BOUND_IMPORT).is_some());
}

fn no_name_is_left(folder: &Path) {
    let bytes = std::fs::read(folder.join("program.exe")).unwrap();
    let file = Pe::parse("program.exe", &bytes).unwrap();
    for from in dlls::tables::read("program.exe", &file).unwrap() {
        let by_name = |import: &image::pe::imports::Import<'_>| {
            matches!(import.by, image::pe::imports::ImportBy::Name { .. })
        };
        let system = from.from.name.eq_ignore_ascii_case(b"kernel32.dll");
        assert!(!from.imports.is_empty() && from.imports.iter().all(by_name) == system);
    }
}

/// A bound program whose DLL was built anew, with everything elsewhere, gets the new functions.
fn a_changed_dll_is_noticed(tools: &Tools, wine: &Wine, folder: &Path) {
    let bound = rewritten(folder, BIND);
    let source = "int own(void); int other[5000]; int silent(void) { return 4001; }\n\
                  int plain(void) { return 50001 + own(); } int number = 301;";
    let first = Image::new("first.dll", source).against("middle.dll").time_stamp(1_700_000_000);
    let exports = "a\nplain\nnumber DATA\nsilent @7 NONAME\nthrough = middle.last";
    let first = first.exports(exports).prelude("int a(void) { return 1; }");
    let library = "middle.lib";
    std::fs::copy(folder.join(library), bound.path().join(library)).unwrap();
    tools.build(bound.path(), &first.base(0x1_c000_0000));
    let paths = images(bound.path());
    let files = OpenFiles::open(&paths, &[]).unwrap();
    let program = paths.iter().position(|path| path.ends_with("program.exe")).unwrap();
    let state = bind::state(&files.set(), MemberId::at(program)).unwrap();
    assert!(state.iter().any(|one| one.state == BoundState::Stale));
    assert_eq!(wine.run(bound.path(), &["program.exe"]).stdout, "7654345\n");
}

const MINGW_LIBRARY: &str = "
    __declspec(dllexport) int zeta = 5;
    __declspec(dllexport) int beta(int n) { return n * 2 + zeta; }
    __declspec(dllexport) int alpha(int n) { return beta(n) + 1; }";
const MINGW_PROGRAM: &str = r#"
    #include <stdio.h>
    __declspec(dllimport) int zeta;
    __declspec(dllimport) int alpha(int n);
    __declspec(dllimport) int beta(int n);
    int main(void) { return printf("%d %d %d\n", zeta, alpha(10), beta(20)) < 0; }"#;

/// By gcc and GNU ld, with a C library.
#[test]
fn programs_of_mingw() {
    let Some(wine) = Wine::shared() else { return };
    for machine in [Machine::X86_64, Machine::I686] {
        let folder = tempfile::tempdir().unwrap();
        let build = |name: &str, source: &str, flags: &[&str]| {
            mingw(folder.path(), machine, name, source, flags)
        };
        let shared = ["-shared", "-Wl,--image-base,0x66000000"];
        if build("lib.dll", MINGW_LIBRARY, &shared).is_none() {
            return;
        }
        // It is built without one, and is not bound to then.
        stamp(&folder.path().join("lib.dll"));
        build("program.exe", MINGW_PROGRAM, &["lib.dll", "-Wl,--file-alignment,4096"]).unwrap();
        for rewrite in [HINTS, BIND, ORDINAL] {
            let new = rewritten(folder.path(), rewrite);
            // 32-bit programs are rewritten here, and run only where Wine has a part for them.
            if machine == Machine::X86_64 {
                let run = wine.run(new.path(), &["program.exe"]);
                assert_eq!((run.code, run.stdout.trim_end()), (Some(0), "5 26 45"));
            }
        }
        let bound = rewritten(folder.path(), BIND);
        assert!(
            bind::state(&OpenFiles::open(&images(bound.path()), &[]).unwrap().set(), MemberId(1))
                .unwrap()
                .len()
                > 1
        );
        same_files(folder.path(), rewritten(bound.path(), UNBIND).path());
        let ordinals = rewritten(folder.path(), ORDINAL);
        let bytes = std::fs::read(ordinals.path().join("program.exe")).unwrap();
        let file = Pe::parse("program.exe", &bytes).unwrap();
        let tables = dlls::tables::read("program.exe", &file).unwrap();
        let own = tables.iter().find(|from| from.from.name == b"lib.dll").unwrap();
        assert_eq!(own.imports.len(), 3);
        let by_name = own
            .imports
            .iter()
            .filter(|import| matches!(import.by, image::pe::imports::ImportBy::Name { .. }));
        assert_eq!(by_name.count(), 0, "{machine:?}");
    }
}

/// Gives a DLL a time stamp that is the same on every day.
fn stamp(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    let mut draft = PeDraft::of(&Pe::parse("lib.dll", &bytes).unwrap());
    draft.set_time_stamp(1_600_000_000).unwrap();
    std::fs::write(path, draft.finish(KeepChecksum::AsItWas)).unwrap();
}
