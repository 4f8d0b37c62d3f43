//! Static facts of ELF files as text.

use super::{Block, WIDTH, end_of};
use crate::text::printable;
use model::figures::{bytes, count, plural};
use model::{ElfFacts, HashStyle, ImageKind, Relro};
use std::fmt::Write;

/// The facts of one file.
pub(super) fn block(image: &ElfFacts) -> String {
    let mut block = Block(String::new());
    block.end(&printable(&image.path));
    let order = if image.little_endian { "" } else { ", big-endian" };
    let size = bytes(image.file_bytes);
    block.row("kind", &format!("{}, {}{order}, {size}", kind(image.kind), image.machine));
    for (label, value) in [("soname", &image.soname), ("build-id", &image.build_id)] {
        if let Some(value) = value {
            block.row(label, value);
        }
    }
    if let Some(interpreter) = &image.interpreter {
        block.row("loader", &interpreter.0);
    }
    block.names("needs", &image.needed);
    for path in &image.search_paths {
        let label = path.tag.trim_start_matches("DT_").to_lowercase();
        block.row(&label, &path.folders.join(", "));
    }
    relocations(&mut block, image);
    symbols(&mut block, image);
    layout(&mut block, image);
    for problem in &image.problems {
        block.row("PROBLEM", problem);
    }
    block.0
}

fn relocations(block: &mut Block, image: &ElfFacts) {
    let all = image.relocation_count();
    if all == 0 {
        return block.row("relocations", "none");
    }
    let mut summary = count(all);
    if image.link_time_relocations == all {
        summary.push_str(", all for the linker only");
    } else {
        let pages = image.relocated_pages;
        let _ = write!(summary, " on {}", plural(pages, "page", "pages"));
        if image.link_time_relocations > 0 {
            let left_over = count(image.link_time_relocations);
            let _ = write!(summary, ", {left_over} of them for the linker only");
        }
    }
    let _ = write!(summary, ", tables of {}", bytes(image.relocation_table_bytes));
    block.row("relocations", &summary);
    let groups = [
        (image.relative_relocations, "relative"),
        (image.symbolic_relocations, "symbolic"),
        (image.plt_relocations, "of them PLT"),
        (image.irelative_relocations, "ifunc"),
        (image.copy_relocations, "copy"),
        (image.tls_relocations, "TLS"),
    ];
    let groups = groups.iter().filter(|(count, _)| *count > 0);
    let groups: Vec<String> = groups.map(|(n, name)| format!("{} {name}", count(*n))).collect();
    if !groups.is_empty() {
        block.row("", &groups.join(", "));
    }
    block.by_type(&image.relocations);
}

fn symbols(block: &mut Block, image: &ElfFacts) {
    let hash = match image.hash_style {
        HashStyle::None => "no hash table",
        HashStyle::Sysv => "System V hash table only",
        HashStyle::Gnu => "GNU hash table",
        HashStyle::Both => "System V and GNU hash tables",
    };
    let (imports, exports) = (count(image.imports), count(image.exports));
    block.row("symbols", &format!("{imports} imported, {exports} exported, {hash}"));
    for need in &image.version_needs {
        block.row("", &format!("{}: {}", need.library, need.versions.join(", ")));
    }
    block.names("versions", &image.version_definitions);
    if matches!(image.kind, ImageKind::Object | ImageKind::Core) {
        return;
    }
    let binding = if image.bind_now { "at start" } else { "lazy" };
    let relro = match image.relro {
        Relro::None => "no RELRO",
        Relro::Partial => "partial RELRO",
        Relro::Full => "full RELRO",
    };
    let further = [
        (image.relr, "RELR"),
        (image.symbolic, "symbolic"),
        (image.static_tls, "static TLS"),
        (image.text_relocations, "TEXT RELOCATIONS"),
        (image.executable_stack, "EXECUTABLE STACK"),
    ];
    let mut parts = vec![binding, relro];
    parts.extend(further.iter().filter(|(set, _)| *set).map(|(_, name)| *name));
    block.row("binding", &parts.join(", "));
    let (first, last) = (image.initializers, image.finalizers);
    let first = plural(first, "initializer", "initializers");
    block.row("functions", &format!("{first}, {}", plural(last, "finalizer", "finalizers")));
}

fn layout(block: &mut Block, image: &ElfFacts) {
    let segments = image.load_segments;
    if segments > 0 {
        let segments = plural(segments.into(), "segment", "segments");
        let (disk, memory) = (bytes(image.load_file_bytes), bytes(image.load_memory_bytes));
        let code = bytes(image.code_bytes);
        let sizes = format!("{disk} in {segments} ({memory} in memory, {code} code)");
        block.row("loaded", &sizes);
    }
    let kept = match (image.has_symbol_table, image.has_debug_info) {
        (false, false) => return,
        (true, false) => "symbol table",
        (false, true) => "debug information",
        (true, true) => "symbol table, debug information",
    };
    block.row("not stripped", kept);
}

/// One line a file.
pub(super) fn list(images: &[&ElfFacts]) -> String {
    let mut text = format!(
        "{:>9} {:>9} {:>7} {:>7} {:>5} {:>5}  {}\n",
        "relocs", "relative", "imports", "exports", "needs", "inits", "file"
    );
    for image in images {
        let _ = writeln!(
            text,
            "{:>9} {:>9} {:>7} {:>7} {:>5} {:>5}  {}",
            count(image.relocation_count()),
            count(image.relative_relocations),
            count(image.imports),
            count(image.exports),
            count(image.needed.len() as u64),
            count(image.initializers),
            end_of(&printable(&image.path), WIDTH - 49),
        );
    }
    text
}

fn kind(kind: ImageKind) -> &'static str {
    match kind {
        ImageKind::Executable => "program at a fixed address",
        ImageKind::PositionIndependentExecutable => "position-independent program",
        ImageKind::StaticExecutable => "static program at a fixed address",
        ImageKind::StaticPie => "static position-independent program",
        ImageKind::SharedLibrary => "shared library",
        ImageKind::Loader => "dynamic loader",
        ImageKind::Object => "object file",
        ImageKind::Core => "core dump",
    }
}
