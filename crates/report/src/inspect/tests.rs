//! Tests of how facts of images are printed.

mod pe;
mod pf;

use super::*;
use model::{ElfFacts, HashStyle, ImageKind, Interpreter, Relro, SearchPath, VersionNeed};

fn library() -> ElfFacts {
    ElfFacts {
        path: "/usr/lib/libexample.so.2".to_owned(),
        kind: ImageKind::SharedLibrary,
        machine: "x86_64".to_owned(),
        bits: 64,
        little_endian: true,
        file_bytes: 3_456_789,
        interpreter: None,
        soname: Some("libexample.so.2".to_owned()),
        build_id: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
        needed: (1..9).map(|n| format!("libdependency-{n}.so.{n}")).collect(),
        search_paths: vec![SearchPath {
            tag: "DT_RUNPATH".to_owned(),
            folders: vec!["$ORIGIN/../lib".to_owned(), "/opt/example/lib".to_owned()],
        }],
        relocations: [("R_X86_64_RELATIVE".to_owned(), 45_000), ("RELR".to_owned(), 1_234_567)]
            .into_iter()
            .chain([("R_X86_64_JUMP_SLOT".to_owned(), 345), ("R_X86_64_64".to_owned(), 12)])
            .collect(),
        link_time_relocations: 0,
        relative_relocations: 1_279_567,
        symbolic_relocations: 357,
        plt_relocations: 345,
        irelative_relocations: 0,
        copy_relocations: 0,
        tls_relocations: 0,
        relocation_table_bytes: 1_088_568,
        relocated_pages: 2_531,
        imports: 365,
        exports: 8_901,
        hash_style: HashStyle::Gnu,
        relr: true,
        bind_now: false,
        relro: Relro::Partial,
        text_relocations: false,
        symbolic: true,
        static_tls: false,
        initializers: 17,
        finalizers: 1,
        version_needs: vec![VersionNeed {
            library: "libc.so.6".to_owned(),
            versions: ["GLIBC_2.2.5", "GLIBC_2.34"].map(str::to_owned).to_vec(),
        }],
        version_definitions: vec!["EXAMPLE_1.0".to_owned(), "EXAMPLE_1.1".to_owned()],
        load_file_bytes: 3_400_000,
        load_memory_bytes: 3_500_000,
        load_segments: 4,
        code_bytes: 2_000_000,
        executable_stack: false,
        has_symbol_table: false,
        has_debug_info: false,
        problems: Vec::new(),
    }
}

fn program() -> ElfFacts {
    ElfFacts {
        path: "./a.out".to_owned(),
        kind: ImageKind::PositionIndependentExecutable,
        interpreter: Some(Interpreter("/lib64/ld-linux-x86-64.so.2".to_owned())),
        soname: None,
        build_id: None,
        needed: vec!["libc.so.6".to_owned()],
        search_paths: Vec::new(),
        relocations: [("R_X86_64_RELATIVE".to_owned(), 3)].into(),
        relative_relocations: 3,
        symbolic_relocations: 0,
        plt_relocations: 0,
        relocated_pages: 1,
        relocation_table_bytes: 72,
        version_needs: Vec::new(),
        version_definitions: Vec::new(),
        bind_now: true,
        relro: Relro::Full,
        relr: false,
        symbolic: false,
        initializers: 1,
        finalizers: 0,
        executable_stack: true,
        has_symbol_table: true,
        problems: vec!["section headers: Invalid ELF section header offset/size".to_owned()],
        ..library()
    }
}

fn fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= WIDTH, "{line:?} is wider than {WIDTH}");
        assert_eq!(line, line.trim_end());
    }
}

fn elf(images: impl IntoIterator<Item = ElfFacts>) -> Vec<ImageFacts> {
    images.into_iter().map(|facts| ImageFacts::Elf(Box::new(facts))).collect()
}

#[test]
fn a_few_files_get_a_block_each() {
    let text = table(&elf([library(), program()]));
    fits(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn many_files_get_a_line_each() {
    let mut images: Vec<ElfFacts> = (0..7).map(|_| library()).collect();
    images[3] = program();
    images[5].path = format!("/usr/lib/{}/libdeep.so", "very-long-folder-name/".repeat(5));
    let text = table(&elf(images));
    fits(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn nothing_is_nothing() {
    assert_eq!(table(&[]), "");
}
