//! Static facts of PE files as text.

use super::{Block, INDENT, WIDTH, end_of};
use crate::Style;
use crate::text::printable;
use model::figures::{bytes, count, plural};
use model::{BoundState, ImportedDll, PeFacts, PeKind, StrongNameFacts};
use std::fmt::Write;

/// Columns of a section's name.
const NAME: usize = 10;
/// These facts are drawn alike everywhere.
const PLAIN: Style = Style { color: false, width: WIDTH, unicode: false };

/// The facts of one file.
pub(super) fn block(image: &PeFacts) -> String {
    let mut block = Block(String::new());
    block.end(&printable(&image.path));
    head(&mut block, image);
    sections(&mut block, image);
    relocations(&mut block, image);
    imports(&mut block, image);
    exports(&mut block, image);
    super::guard::rows(&mut block, image);
    bound(&mut block, image);
    others(&mut block, image);
    for problem in &image.problems {
        block.row("PROBLEM", problem);
    }
    block.0
}

fn head(block: &mut Block, image: &PeFacts) {
    let size = bytes(image.file_bytes);
    let kind = match image.kind {
        PeKind::Program => "program",
        PeKind::Library => "DLL",
        PeKind::Native => "driver",
        PeKind::Firmware => "firmware",
    };
    let net = if image.clr { ", .NET" } else { "" };
    block.row("kind", &format!("{kind} ({}), {}{net}, {size}", image.subsystem, image.machine));
    let in_memory = bytes(image.size_of_image.into());
    block.row("base", &format!("{:#x}, {in_memory} in memory", image.base));
    block.row("flags", &flags(image));
    let hash = image.debug.iter().any(|entry| entry.kind == "repro");
    let hash = if hash { ", a hash of the content" } else { "" };
    block.row("time stamp", &format!("{:#x}{hash}", image.time_stamp));
    let (stored, computed) = (image.checksum.stored, image.checksum.computed);
    let checksum = match stored {
        0 => "none".to_owned(),
        stored if stored == computed => format!("correct ({stored:#x})"),
        stored => format!("WRONG: {stored:#x}, should be {computed:#x}"),
    };
    block.row("checksum", &checksum);
}

/// What it asks of the loader, in words.
fn flags(image: &PeFacts) -> String {
    let flags = &image.flags;
    let words = [
        (flags.dynamic_base, "ASLR"),
        (flags.high_entropy_va, "high-entropy ASLR"),
        (flags.nx_compatible, "NX"),
        (flags.guard_cf, "Guard CF"),
        (flags.large_address_aware, "large addresses"),
        (flags.force_integrity, "signature enforced"),
        (flags.no_isolation, "no isolation"),
        (flags.no_seh, "no SEH"),
        (flags.no_bind, "no binding"),
        (flags.app_container, "app container"),
        (flags.wdm_driver, "WDM driver"),
        (flags.terminal_server_aware, "terminal-server aware"),
        (flags.swap_run_net, "SWAPRUN:NET"),
        (flags.swap_run_removable, "SWAPRUN:CD"),
        (flags.relocations_stripped, "CANNOT BE MOVED"),
    ];
    let words: Vec<&str> = words.iter().filter(|(set, _)| *set).map(|(_, word)| *word).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn sections(block: &mut Block, image: &PeFacts) {
    if image.sections.is_empty() {
        return block.row("sections", "none");
    }
    let title = format!(
        "{:<NAME$}{:>10}{:>11}{:>11}{:>12}  access",
        "", "address", "in memory", "in file", "at"
    );
    block.end(&format!("  {:<width$}{title}", "sections", width = INDENT - 2));
    for section in &image.sections {
        let name = PLAIN.shorten(&section.name, NAME - 1);
        block.end(&format!(
            "{:INDENT$}{name:<NAME$}{:>#10x}{:>11}{:>11}{:>#12x}  {}",
            "",
            section.rva,
            bytes(section.memory_bytes.into()),
            bytes(section.file_bytes.into()),
            section.offset,
            section.access,
        ));
    }
    let unmapped = image.unmapped_sections().count();
    if unmapped > 0 {
        let alignment = image.file_alignment;
        let text = format!(
            "FileAlignment {alignment}: Wine reads {unmapped} of them instead of \
             mapping them"
        );
        block.row("", &text);
    }
}

fn relocations(block: &mut Block, image: &PeFacts) {
    let all = image.relocation_count();
    if all == 0 {
        return block.row("relocations", "none");
    }
    let pages = plural(image.relocated_pages, "page", "pages");
    let table = bytes(image.relocation_table_bytes);
    block.row("relocations", &format!("{} on {pages}, table of {table}", count(all)));
    block.by_type(&image.relocations);
}

fn imports(block: &mut Block, image: &PeFacts) {
    if image.imported.is_empty() {
        return block.row("imports", "none");
    }
    let dlls = plural(image.imported.len() as u64, "DLL", "DLLs");
    let mut text = format!("{} from {dlls}", count(image.imports + image.delay_imports));
    if image.imports_by_ordinal > 0 {
        let _ = write!(text, ", {} by ordinal", count(image.imports_by_ordinal));
    }
    if image.delay_imports > 0 {
        let _ = write!(text, ", {} delayed", count(image.delay_imports));
    }
    block.row("imports", &text);
    for dll in &image.imported {
        block.counted(dll.functions, &imported(dll));
    }
    block.row("hints", &hints(image));
}

fn imported(dll: &ImportedDll) -> String {
    let ordinal = match dll.by_ordinal {
        0 => None,
        all if all == dll.functions => Some("by ordinal".to_owned()),
        some => Some(format!("{} by ordinal", count(some))),
    };
    let delayed = dll.delayed.then(|| "delayed".to_owned());
    let notes: Vec<String> = ordinal.into_iter().chain(delayed).collect();
    match notes.is_empty() {
        true => dll.name.clone(),
        false => format!("{} ({})", dll.name, notes.join(", ")),
    }
}

fn hints(image: &PeFacts) -> String {
    let by_ordinal: u64 = image.imported.iter().map(|dll| dll.by_ordinal).sum();
    let named = (image.imports + image.delay_imports).saturating_sub(by_ordinal);
    let unknown = named.saturating_sub(image.hints_checked);
    let (checked, wrong) = (image.hints_checked, image.wrong_hints.unwrap_or(0));
    let known = match (checked, wrong) {
        (0, _) if unknown == 0 => return "none needed".to_owned(),
        (0, _) => return "unknown: none of these DLLs was found".to_owned(),
        (checked, 0) => format!("{} correct", count(checked)),
        (checked, wrong) => format!("{} of {} wrong", count(wrong), count(checked)),
    };
    match unknown {
        0 => known,
        unknown => format!("{known}, {} unknown: their DLLs were not found", count(unknown)),
    }
}

fn exports(block: &mut Block, image: &PeFacts) {
    if image.exports == 0 {
        return block.row("exports", "none");
    }
    let names = plural(image.export_names, "name", "names");
    let mut text = format!("{} with {names}", count(image.exports));
    for (number, what) in
        [(image.ordinals_only, "by ordinal only"), (image.forwarders, "forwarded")]
    {
        if number > 0 {
            let _ = write!(text, ", {} {what}", count(number));
        }
    }
    if let Some(name) = &image.export_name {
        let _ = write!(text, "; as {name}");
    }
    block.row("exports", &text);
}

fn bound(block: &mut Block, image: &PeFacts) {
    let describe = |dll: &model::BoundDll| {
        let state = match dll.state {
            BoundState::Valid => "valid",
            BoundState::Stale => "OUT OF DATE",
            BoundState::Moved => "not used: ASLR moves it",
            BoundState::Unbound => "not bound: it was not found then",
            BoundState::Unknown => "not found",
        };
        let forwarders = match dll.forwarders.len() {
            0 => String::new(),
            number => format!(", forwards to {number}"),
        };
        format!("{} ({state}{forwarders})", dll.name)
    };
    let dlls: Vec<String> = image.bound.iter().map(describe).collect();
    block.names("bound to", &dlls);
}

fn others(block: &mut Block, image: &PeFacts) {
    if let Some(tls) = &image.tls {
        let callbacks = plural(tls.callbacks, "callback", "callbacks");
        let size = bytes(tls.template_bytes + tls.zero_bytes);
        block.row("TLS", &format!("{size} per thread, {callbacks}"));
    }
    if image.exception_functions > 0 {
        let functions = plural(image.exception_functions, "function", "functions");
        block.row("exceptions", &format!("table of {functions}"));
    }
    for entry in &image.debug {
        if let Some(pdb) = &entry.pdb {
            block.row("PDB", pdb);
        }
        if let Some(id) = &entry.build_id {
            block.row("build-id", id);
        }
    }
    let kinds: Vec<String> = image.debug.iter().map(|entry| entry.kind.clone()).collect();
    block.names("debug", &kinds);
    if image.certificates > 0 {
        let number = plural(image.certificates, "certificate", "certificates");
        block.row("signed", &format!("Authenticode, {number} (not checked)"));
    }
    if let Some(strong_name) = image.strong_name {
        let state = match strong_name {
            StrongNameFacts::Signed => "signed (not checked)",
            StrongNameFacts::PublicSigned => "public-signed: the signature is all zero",
            StrongNameFacts::DelaySigned => "delay-signed: not signed yet",
        };
        block.row("strong name", state);
    }
    if image.overlay_bytes > 0 {
        block.row("overlay", &format!("{} appended to the image", bytes(image.overlay_bytes)));
    }
}

/// One line a file.
pub(super) fn list(images: &[&PeFacts]) -> String {
    let mut text = format!(
        "{:>18} {:>9} {:>7} {:>7} {:>7}  {}\n",
        "base", "relocs", "imports", "hints !", "exports", "file"
    );
    for image in images {
        let _ = writeln!(
            text,
            "{:>#18x} {:>9} {:>7} {:>7} {:>7}  {}",
            image.base,
            count(image.relocation_count()),
            count(image.imports + image.delay_imports),
            wrong_hints(image),
            count(image.exports),
            end_of(&printable(&image.path), WIDTH - 54),
        );
    }
    text
}

/// Their number; `?` where unknown.
pub(super) fn wrong_hints(image: &PeFacts) -> String {
    image.wrong_hints.map_or_else(|| "?".to_owned(), count)
}
