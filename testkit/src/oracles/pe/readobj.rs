//! What llvm-readobj says of a PE file. Its JSON is not valid for PE files; its text is read.

use super::Oracle;
use anyhow::{Context, Result, ensure};
use std::process::Command;

const PROGRAM: &str = "llvm-readobj-19";

/// Asks for all tables; for exports in a run of its own, as an error ends the program.
///
/// # Errors
/// It cannot be run, or it complains of anything but exports.
pub fn read(path: &str) -> Result<Oracle> {
    let mut oracle = Oracle { tool: PROGRAM.to_owned(), ..Oracle::default() };
    let flags = [
        "--file-headers",
        "--coff-imports",
        "--coff-load-config",
        "--coff-tls-directory",
        "--coff-debug-directory",
        "--coff-basereloc",
    ];
    let (text, complaints) = run(&flags, path)?;
    ensure!(complaints.is_empty(), "{PROGRAM} on {path}: {complaints}");
    headers(&text, &mut oracle);
    relocations(&text, &mut oracle);
    imports(&text, &mut oracle);
    others(&text, &mut oracle);
    let (text, complaints) = run(&["--coff-exports"], path)?;
    exports(&text, &mut oracle);
    oracle.complaints = complaints;
    Ok(oracle)
}

fn run(flags: &[&str], path: &str) -> Result<(String, String)> {
    let output = Command::new(PROGRAM).args(flags).arg(path).output();
    let output = output.with_context(|| format!("{PROGRAM} cannot be run; install llvm-19"))?;
    ensure!(output.status.code().is_some(), "{PROGRAM} was ended by a signal on {path}");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((text(&output.stdout), text(&output.stderr)))
}

/// The lines of a part that begins with `NAME {` or `NAME [` in the first column, up to its end.
fn parts<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let starts = [format!("\n{name} {{\n"), format!("\n{name} [\n")];
    let mut rest = text;
    std::iter::from_fn(move || {
        let (at, start) = starts
            .iter()
            .filter_map(|start| Some((rest.find(start.as_str())?, start)))
            .min_by_key(|(at, _)| *at)?;
        let body = rest.get(at + start.len()..)?;
        let ends = [body.find("\n}"), body.find("\n]")];
        // An empty part ends at once.
        let end = match body.starts_with(['}', ']']) {
            true => 0,
            false => ends.into_iter().flatten().min().unwrap_or(body.len()),
        };
        rest = body.get(end..).unwrap_or_default();
        body.get(..end)
    })
}

/// The value behind the first `NAME: `.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(": "))
}

/// A number, decimal or hexadecimal, also in brackets behind a name.
fn number(text: &str) -> Option<u64> {
    let text = text.rsplit_once('(').map_or(text, |(_, rest)| rest.trim_end_matches(')')).trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn headers(text: &str, oracle: &mut Oracle) {
    let value = |name: &str| number(field(text, name)?);
    let small = |name: &str| value(name).and_then(|value| u32::try_from(value).ok());
    oracle.machine = value("Machine").map(|machine| machine as u16);
    oracle.base = value("ImageBase");
    oracle.size_of_image = small("SizeOfImage");
    oracle.section_alignment = small("SectionAlignment");
    oracle.file_alignment = small("FileAlignment");
    oracle.time_stamp = small("TimeDateStamp");
    oracle.checksum_stored = small("CheckSum");
    // The first such line is of the file header.
    let flags = text.lines().filter_map(|line| line.trim().strip_prefix("Characteristics [ "));
    oracle.dll_characteristics = flags.filter_map(number).nth(1).map(|flags| flags as u16);
}

fn relocations(text: &str, oracle: &mut Oracle) {
    let counts = oracle.relocations.get_or_insert_default();
    for part in parts(text, "BaseReloc") {
        let kinds = part.lines().filter_map(|line| line.trim_start().strip_prefix("Type: "));
        for kind in kinds {
            let number = match kind {
                "ABSOLUTE" => 0,
                "HIGH" => 1,
                "LOW" => 2,
                "HIGHLOW" => 3,
                "HIGHADJ" => 4,
                "ARM_MOV32(A)" => 5,
                "ARM_MOV32(T)" => 7,
                "DIR64" => 10,
                _ => u8::MAX - 1,
            };
            *counts.entry(number).or_default() += 1;
        }
    }
}

fn imports(text: &str, oracle: &mut Oracle) {
    let read = |name| {
        let parts = parts(text, name).map(|part| {
            let dll = field(part, "Name").unwrap_or_default().to_owned();
            let symbols =
                part.lines().filter_map(|line| line.trim_start().strip_prefix("Symbol: "));
            let by_ordinal = symbols.clone().filter(|symbol| symbol.starts_with(" (")).count();
            (dll, symbols.count() as u64, by_ordinal as u64)
        });
        Some(parts.collect())
    };
    oracle.imports = read("Import");
    oracle.delay_imports = read("DelayImport");
}

fn exports(text: &str, oracle: &mut Oracle) {
    let (mut functions, mut unnamed, mut forwarded) = (0, 0, 0);
    for part in parts(text, "Export") {
        if field(part, "RVA") == Some("0x0") {
            continue;
        }
        functions += 1;
        unnamed += u64::from(field(part, "Name").is_none_or(|name| name.trim().is_empty()));
        forwarded += u64::from(part.contains("ForwardedTo: "));
    }
    oracle.exports = Some((functions, unnamed, forwarded));
}

fn others(text: &str, oracle: &mut Oracle) {
    let config = parts(text, "LoadConfig").next().unwrap_or_default();
    let value = |name: &str| field(config, name).and_then(number).unwrap_or(0);
    let flags = config.lines().find_map(|line| line.trim().strip_prefix("GuardFlags [ "));
    let flags = flags.and_then(number).unwrap_or(0) as u32;
    oracle.guard = Some((value("GuardCFFunctionCount"), flags));
    // Of 32-bit images the last one is not printed.
    let whole = config.is_empty() || field(config, "GuardEHContinuationCount").is_some();
    oracle.guard_others = whole.then(|| {
        (
            value("GuardAddressTakenIatEntryCount"),
            value("GuardLongJumpTargetCount"),
            value("GuardEHContinuationCount"),
        )
    });
    let tls = parts(text, "TLSDirectory").next().unwrap_or_default();
    let value = |name: &str| field(tls, name).and_then(number).unwrap_or(0);
    let template = value("EndAddressOfRawData").saturating_sub(value("StartAddressOfRawData"));
    oracle.tls = Some((template, value("SizeOfZeroFill")));
    let debug = parts(text, "DebugDirectory").next().unwrap_or_default();
    let pdb = debug.split("PDBInfo {").skip(1).filter_map(|part| {
        let guid = field(part, "PDBGUID")?.trim_matches(['{', '}']).replace('-', "");
        let age = number(field(part, "PDBAge")?)?;
        Some((field(part, "PDBFileName")?.to_owned(), format!("{guid}{age:X}")))
    });
    oracle.pdb = Some(pdb.filter(|(name, _)| !name.is_empty()).collect());
}
