//! Tests of how facts of PE images are printed.

use super::super::{set, table};
use super::{elf, fits, library, program};
use crate::Style;
use model::{
    BoundDll, BoundForwarder, BoundState, Checksum, Collision, Collisions, DebugEntry, FileOffset,
    GuardFacts, ImageFacts, ImportedDll, PE_SET_SCHEMA, PeFacts, PeFlags, PeKind, PeSection, PeSet,
    Rva, SetFinding, TlsFacts, Va,
};

/// A program with something of everything.
fn pe_program() -> PeFacts {
    let section = |name: &str, rva, offset, access: &str| PeSection {
        name: name.to_owned(),
        rva: Rva(rva),
        memory_bytes: 0x12345,
        offset: FileOffset(offset),
        file_bytes: 0x12400,
        access: access.to_owned(),
    };
    let dll = |name: &str, functions, by_ordinal, delayed| ImportedDll {
        name: name.to_owned(),
        functions,
        by_ordinal,
        delayed,
    };
    PeFacts {
        path: "C/Program Files/Example/example.exe".to_owned(),
        kind: PeKind::Program,
        machine: "x86_64".to_owned(),
        bits: 64,
        file_bytes: 3_456_789,
        subsystem: "console".to_owned(),
        base: Va(0x1_4000_0000),
        size_of_image: 3_500_000,
        file_alignment: 512,
        section_alignment: 4096,
        time_stamp: 0x5f5e_1000,
        flags: PeFlags {
            dynamic_base: true,
            guard_cf: true,
            swap_run_net: true,
            ..Default::default()
        },
        checksum: Checksum { stored: 0x1234, computed: 0x34_5678 },
        sections: vec![
            section(".text", 0x1000, 0x400, "rx"),
            section("a-long-name-in-the-string-table", 0x14000, 0x13000, "rw"),
        ],
        relocations: [("DIR64".to_owned(), 123_456), ("ABSOLUTE".to_owned(), 7)].into(),
        relocation_table_bytes: 262_144,
        relocated_pages: 812,
        imports: 260,
        imports_by_ordinal: 10,
        delay_imports: 3,
        wrong_hints: Some(17),
        hints_checked: 200,
        imported: vec![
            dll("KERNEL32.dll", 250, 0, false),
            dll("WS2_32.dll", 10, 10, false),
            dll(&format!("{}.dll", "a-very-long-name-".repeat(6)), 3, 1, true),
        ],
        exports: 5,
        ordinals_only: 1,
        forwarders: 2,
        export_names: 4,
        export_name: Some("example.exe".to_owned()),
        guard: Some(GuardFacts {
            functions: 1_280_000,
            stride: 1,
            flags: 0x1001_0500,
            sorted: false,
            outside_code: 3,
            bitmap_bytes: 320_000,
            address_taken_imports: 12,
            long_jump_targets: 0,
            exception_continuations: 0,
        }),
        bound: vec![
            BoundDll {
                name: "KERNEL32.dll".to_owned(),
                time_stamp: 1,
                forwarders: vec![BoundForwarder { name: "NTDLL.dll".to_owned(), time_stamp: 2 }],
                valid: Some(true),
                state: BoundState::Valid,
            },
            BoundDll {
                name: "USER32.dll".to_owned(),
                time_stamp: 3,
                forwarders: Vec::new(),
                valid: Some(false),
                state: BoundState::Stale,
            },
            BoundDll {
                name: "COMCTL32.dll".to_owned(),
                time_stamp: 3,
                forwarders: Vec::new(),
                valid: Some(false),
                state: BoundState::Moved,
            },
            BoundDll {
                name: "COMDLG32.dll".to_owned(),
                time_stamp: 0,
                forwarders: Vec::new(),
                valid: None,
                state: BoundState::Unbound,
            },
            BoundDll {
                name: "GDI32.dll".to_owned(),
                time_stamp: 4,
                forwarders: Vec::new(),
                valid: None,
                state: BoundState::Unknown,
            },
        ],
        tls: Some(TlsFacts { template_bytes: 8, zero_bytes: 100, callbacks: 1 }),
        load_configuration_bytes: 320,
        debug: vec![DebugEntry {
            kind: "codeview".to_owned(),
            bytes: 30,
            pdb: Some(r"D:\a\example.pdb".to_owned()),
            build_id: Some("5F6F5C727EE82F814C4C44205044422E1".to_owned()),
        }],
        exception_functions: 1,
        certificates: 1,
        strong_name: Some(model::StrongNameFacts::Signed),
        overlay_bytes: 0,
        clr: true,
        problems: vec!["the relocation block at 0x3000 has the size 4".to_owned()],
    }
}

/// A DLL of nothing.
fn pe_library() -> PeFacts {
    PeFacts {
        path: "empty.dll".to_owned(),
        kind: PeKind::Library,
        flags: PeFlags::default(),
        checksum: Checksum { stored: 0, computed: 5 },
        sections: Vec::new(),
        relocations: [].into(),
        imports: 0,
        imports_by_ordinal: 0,
        delay_imports: 0,
        imported: Vec::new(),
        exports: 0,
        wrong_hints: None,
        hints_checked: 0,
        guard: None,
        bound: Vec::new(),
        tls: None,
        debug: Vec::new(),
        exception_functions: 0,
        certificates: 0,
        strong_name: None,
        overlay_bytes: 3_000_000,
        clr: false,
        problems: Vec::new(),
        ..pe_program()
    }
}

fn pe(images: impl IntoIterator<Item = PeFacts>) -> Vec<ImageFacts> {
    images.into_iter().map(|facts| ImageFacts::Pe(Box::new(facts))).collect()
}

#[test]
fn windows_programs_have_their_own_facts() {
    let text = table(&pe([pe_program(), pe_library()]));
    fits(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn many_windows_programs_get_a_line_each_in_a_table_of_their_own() {
    let mut images = pe((0..5).map(|_| pe_program()));
    images.extend(elf([library(), program()]));
    images.push(ImageFacts::Pe(Box::new(pe_library())));
    let text = table(&images);
    fits(&text);
    insta::assert_snapshot!(text);
}

fn example_set() -> PeSet {
    let finding = |id: &str, cause: &str, files: usize| SetFinding {
        id: id.to_owned(),
        cause: cause.to_owned(),
        evidence: vec![
            "moving them applies 123,456 relocations on 812 pages, which each process then has for \
             itself"
                .to_owned(),
        ],
        files: (0..files).map(|n| format!("C/Program Files/Example/{n}/library-{n}.dll")).collect(),
        remedy: "headstart pe rebase --auto --out DIR FILE…".to_owned(),
    };
    let path = "C/Program Files/Example/0/library-0.dll".to_owned();
    let mut moved = pe_library();
    moved.path.clone_from(&path);
    PeSet {
        schema: PE_SET_SCHEMA,
        files: vec![pe_program(), pe_library(), moved],
        collisions: Collisions {
            moved: vec![Collision { path, by: pe_program().path }],
            ..Collisions::default()
        },
        twins: Vec::new(),
        findings: vec![
            finding("collisions", "1 of 3 images collide with others", 1),
            finding("wrong-hints", "17 of 200 import hints are wrong", 9),
        ],
    }
}

const STYLE: Style = Style { color: false, width: 80, unicode: true };

#[test]
fn a_set_is_a_table_and_what_can_be_done_better() {
    let text = set(&example_set(), STYLE);
    fits(&text);
    insta::assert_snapshot!(text);
    let plain = set(&example_set(), Style { unicode: false, ..STYLE });
    assert!(plain.is_ascii(), "{plain}");
    let colored = set(&example_set(), Style { color: true, ..STYLE });
    assert!(colored.contains('\u{1b}'));
}

#[test]
fn a_set_in_order_says_so() {
    let good = PeSet { findings: Vec::new(), collisions: Collisions::default(), ..example_set() };
    assert!(set(&good, STYLE).contains("No problems found."));
    let empty = PeSet { files: Vec::new(), ..good };
    assert_eq!(set(&empty, STYLE), "no PE files\n");
}
