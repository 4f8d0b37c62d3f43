//! Maps typed from their descriptions, and damaged ones.

use super::*;
use model::{MappedVa, Rva};
use proptest::prelude::*;

/// What OpenOffice's document shows of splmi.dll, with an entry of each kind.
const SPLASH: &str = " splmi

 Timestamp is 49f5cd1b (Mon Apr 27 17:20:27 2009)

 Preferred load address is 10000000

 Start         Length     Name                   Class
 0001:00000000 00016600H .text                   CODE
 0001:00016600 00000c2aH .text$x                 CODE
 0002:00000000 00000410H .idata$5                DATA

  Address         Publics by Value              Rva+Base     Lib:Object

 0000:00000001       ___safe_se_handler_count   00000001     <absolute>
 0001:00000000       ?launch@SplashScreen@desktop@@QAEXXZ 10001000 f   splash.obj
 0001:00000040       ??1Mutex@osl@@QAE@XZ       10001040 f i splash.obj
 0001:00001230       _rtl_allocateMemory        10002230 f   isal:sal3.dll
 0002:00000000       __imp__GetTickCount@0      10018000     kernel32:KERNEL32.dll

 entry point at        0001:00012a40

 Static symbols

 0001:000164d0       ??__E?_aMutex@SplashScreen@desktop@@0VMutex@osl@@A@@YAXXZ 100174d0 f   splash.obj
 0001:00016600       $L1234                     10017600 f   splash.obj
";

#[test]
fn the_example_of_openoffice_leads_to_a_static_initializer() {
    let map = read("splmi.map", SPLASH.as_bytes()).unwrap();
    let rva = rva_of(MappedVa(0x03ac_74d0), MappedVa(0x03ab_0000)).unwrap();
    assert_eq!(rva, Rva(0x1_74d0));
    assert_eq!(map.va_of(rva), Some(Va(0x1001_74d0)));
    let found = map.at_rva(rva);
    assert!(found.is_static());
    let names: Vec<&str> = found.functions().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["??__E?_aMutex@SplashScreen@desktop@@0VMutex@osl@@A@@YAXXZ"]);
    assert_eq!(map.rva_of(Va(0x1001_74d0)), Some(rva));
    assert_eq!(rva_of(MappedVa(0x03aa_ffff), MappedVa(0x03ab_0000)), None);
    assert_eq!(rva_of(MappedVa(u64::MAX), MappedVa(0)), None);
}

/// As the console of Windows redirects what the linker prints.
#[test]
fn a_map_in_utf16_is_read() {
    let text = format!("\u{feff}{}", SPLASH.replace('\n', "\r\n"));
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let plain = read("splmi.map", SPLASH.as_bytes()).unwrap();
    assert_eq!(read("splmi.map", &utf16).unwrap(), plain);
    assert_eq!(read("splmi.map", text.as_bytes()).unwrap(), plain);
}

#[test]
fn flags_sections_and_objects_are_those_of_the_map() {
    let wide = SPLASH.replace("10001", "0000000010001").replace("10000000", "0000000010000000");
    for text in [SPLASH.to_owned(), SPLASH.replace('\n', "\r\n"), wide] {
        let map = read("splmi.map", text.as_bytes()).unwrap();
        assert_eq!(map.preferred_base, Some(Va(0x1000_0000)));
        assert_eq!(map.symbols.len(), 6);
        let inline = map.at_rva(Rva(0x1040)).symbols;
        assert!(inline[0].is_inline && inline[0].is_function);
        let import = &map.at_rva(Rva(0x1_8000)).symbols[0];
        assert!(!import.is_function && !import.is_inline);
        assert_eq!(import.object.as_deref(), Some("kernel32:KERNEL32.dll"));
        assert_eq!(&*import.section, ".idata$5");
        assert_eq!(&*map.at_rva(Rva(0x1_7600)).symbols[0].section, ".text$x");
        assert_eq!(map.covering_rva(Rva(0x1050)).unwrap().name, "??1Mutex@osl@@QAE@XZ");
        assert!(map.covering_rva(Rva(0xfff)).is_none());
    }
}

#[test]
fn names_may_have_blanks_and_bytes_that_are_no_text() {
    let text = SPLASH.replace("_rtl_allocateMemory ", "`anonymous namespace'::operator new ");
    let map = read("splmi.map", text.as_bytes()).unwrap();
    assert_eq!(map.at_rva(Rva(0x2230)).symbols[0].name, "`anonymous namespace'::operator new");
    let mut bytes = SPLASH.as_bytes().to_vec();
    let at = SPLASH.find("_rtl").unwrap();
    bytes[at] = 0xff;
    let map = read("splmi.map", &bytes).unwrap();
    assert_eq!(map.at_rva(Rva(0x2230)).symbols[0].name, "\u{efff}rtl_allocateMemory");
    let nm = b"0000000000001000 t -[View draw: in:]\n00001010 T (anonymous namespace)::f(int)\n";
    let map = read("nm", nm).unwrap();
    assert_eq!(map.symbols[0].name, "-[View draw: in:]");
    assert!(!map.symbols[0].is_demangled && map.symbols[1].is_demangled);
}

#[test]
fn local_names_may_repeat() {
    let nm = b"00001000 00000010 t helper\n00001010 t helper\n00001010 T other\n         U puts\n";
    let map = read("nm", nm).unwrap();
    assert_eq!(map.symbols.iter().filter(|it| it.name == "helper").count(), 2);
    let both = map.at(Va(0x1010));
    assert_eq!(both.symbols.len(), 2);
    assert!(!both.is_static() && map.at(Va(0x1000)).is_static());
    assert!(!map.at(Va(0x1001)).is_static());
    assert_eq!((map.preferred_base, map.va_of(Rva(0))), (None, None));
    assert_eq!(map.with_base(Va(0x1000)).at_rva(Rva(0x10)).symbols.len(), 2);
}

#[test]
fn the_smallest_cover_wins_and_gaps_have_none() {
    let nm = b"00001000 00000100 T outer\n00001020 00000010 t inner\n00001040 t label\n";
    let map = read("nm", nm).unwrap();
    let name = |va| map.covering(Va(va)).map(|it| it.name.as_str());
    assert_eq!(name(0x1025), Some("inner"));
    assert_eq!((name(0x1035), name(0x1041)), (Some("outer"), Some("outer")));
    assert_eq!((name(0x1100), name(0xfff)), (Some("label"), None));
}

fn refused(bytes: &[u8]) -> (u64, String, MapProblem) {
    let error = read("a.map", bytes).unwrap_err();
    assert!(error.to_string().starts_with(&format!("a.map, line {}: ", error.line)));
    (error.line, error.text, error.problem)
}

#[test]
fn a_damaged_line_is_shown_with_its_number() {
    assert_eq!(refused(b""), (1, String::new(), MapProblem::Empty));
    assert_eq!(refused(b"\n \n").2, MapProblem::Empty);
    assert_eq!(refused(b"\nMZ\x90").1, "MZ\\x90");
    let line = " 0001:00000040       ??1Mutex@osl@@QAE@XZ       10001040 f i splash.obj";
    let changed = |new: &str| refused(SPLASH.replace(line, new).as_bytes());
    assert_eq!(changed(" 0001:00000040"), (16, " 0001:00000040".to_owned(), MapProblem::NoName));
    assert_eq!(changed(" 0001:0000 ??1Mutex").2, MapProblem::NoAddress);
    assert_eq!(changed(" garbage").2, MapProblem::NoAddress);
    assert_eq!(changed(" 0001:00 f 1ffffffffffffffff f a.obj").2, MapProblem::TooLarge);
    assert_eq!(changed(" 0001:00 f 00001040 f a.obj").2, MapProblem::BelowBase(Va(0x1000_0000)));
    let without = SPLASH.replace(" Preferred load address is 10000000", "");
    assert_eq!(refused(without.as_bytes()).2, MapProblem::NoBase);
    assert_eq!(refused(b"00001000 T a\n00002000 T\n").2, MapProblem::NoName);
    assert_eq!(refused(b"00001000 T a\nx y\n").2, MapProblem::NoAddress);
    assert_eq!(refused(b"\na.o:\n00001000 T a\n\nb.o:\n").2, MapProblem::SecondFile);
}

#[test]
fn a_map_that_ends_early_is_refused_or_noted() {
    let end = SPLASH.find(" entry point").unwrap();
    let (line, _, problem) = refused(&SPLASH.as_bytes()[..end]);
    assert_eq!((line, problem), (18, MapProblem::CutShort));
    assert_eq!(refused(&SPLASH.as_bytes()[..end - 60]).2, MapProblem::NoAddress);
    let gnu = "Linker script and memory map\n\n.text           0x0000000000001000      0x200\n \
               .text.a        0x0000000000001000       0x20 a.o\n \
               .text.a_long_name_of_a_function\n";
    assert_eq!(refused(gnu.as_bytes()).2, MapProblem::CutShort);
    let rest = "                0x0000000000001020       0x20 a.o\n";
    let map = read("a.map", format!("{gnu}{rest}").as_bytes()).unwrap();
    assert_eq!((map.symbols.len(), map.notes.len()), (2, 1));
    assert_eq!(map.symbols[1].name, "a_long_name_of_a_function");
    let lld =
        "             VMA              LMA     Size Align Out     In      Symbol\n    1000 10";
    assert_eq!(refused(lld.as_bytes()).2, MapProblem::NoSize);
}

proptest! {
    #[test]
    fn any_damage_gives_a_map_or_an_error(at in 0..SPLASH.len(), byte: u8, end in 0..SPLASH.len()) {
        let mut bytes = SPLASH.as_bytes().to_vec();
        bytes[at] = byte;
        for bytes in [&bytes[..], &bytes[..end]] {
            if let Ok(map) = read("a.map", bytes) {
                prop_assert!(map.symbols.is_sorted_by_key(|it| it.va));
            }
        }
    }

    #[test]
    fn any_bytes_behind_a_heading_do_no_harm(
        heading in prop_oneof![
            Just(&b"Linker script and memory map\n"[..]), Just(&b" Timestamp is \n"[..]),
            Just(&b"VMA LMA Size Align Out In Symbol\n"[..]), Just(&b"00001000 T a\n"[..]),
        ],
        text in "([0-9a-fx .:*()\n]|[ -~]|\\PC){0,300}",
    ) {
        let bytes = [heading, text.as_bytes()].concat();
        if let Err(error) = read("a.map", &bytes) {
            prop_assert!(error.line >= 1);
        }
    }
}
