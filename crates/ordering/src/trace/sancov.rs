//! SanitizerCoverage's files (`.sancov`): which places of a module were reached.
//!
//! Source: Clang, *SanitizerCoverage*, *Sancov data format*: a magic number of eight bytes tells
//! whether addresses have 64 bits or 32, then there are the addresses, in the byte order of the
//! machine. They are sorted: the order of calls is not in such a file. They are not the starts of
//! functions but places in them, where the compiler put its call.

use super::problem::{TraceProblem, TraceReadError, no_line};
use crate::lines::Line;
use model::{FirstCall, FunctionModule, FunctionTrace, ModuleId, Rva, Va};

const WIDE: u64 = 0xc0bf_ffff_ffff_ff64;
const NARROW: u64 = 0xc0bf_ffff_ffff_ff32;
const NO_ORDER: &str = "SanitizerCoverage sorts addresses: the order of first calls is not known";

/// Whether a file of this format begins with these bytes.
pub(super) fn begins(bytes: &[u8]) -> bool {
    magic(bytes).is_some()
}

fn magic(bytes: &[u8]) -> Option<u64> {
    let magic = bytes.first_chunk().map(|magic| u64::from_le_bytes(*magic))?;
    matches!(magic, WIDE | NARROW).then_some(magic)
}

/// Reads a file of this format, whose name begins with that of its module: `NAME.PID.sancov`.
///
/// `preferred_base` is that of the module, as it is not in the file; 0 for shared objects and
/// position-independent programs.
///
/// # Errors
/// The file begins differently, ends within an address, or has one outside of the module.
pub fn read(file: &str, bytes: &[u8], preferred_base: Va) -> Result<FunctionTrace, TraceReadError> {
    let fail = |problem| {
        let shown = bytes.get(..16).unwrap_or(bytes);
        Line { bytes: shown, ..no_line() }.error(file, problem)
    };
    let magic = magic(bytes).ok_or_else(|| fail(TraceProblem::Unrecognized))?;
    let width = if magic == WIDE { 8 } else { 4 };
    let addresses = bytes.get(8..).unwrap_or_default().chunks(width);
    let mut calls = Vec::with_capacity(addresses.len());
    for digits in addresses {
        if digits.len() < width {
            return Err(fail(TraceProblem::CutShort));
        }
        let address = digits.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
        let distance = Va(address).since(preferred_base);
        let rva = distance.and_then(|it| u32::try_from(it).ok()).map(Rva);
        calls.push(FirstCall {
            program: 0,
            module: ModuleId::PROGRAM,
            rva: rva.ok_or_else(|| fail(TraceProblem::OutsideOfModule))?,
            bytes: 0,
            count: None,
            name: String::new(),
        });
    }
    let path = module_name(file).to_owned();
    Ok(FunctionTrace {
        recorder: "sancov".to_owned(),
        weight: 1.0,
        modules: vec![FunctionModule { path, preferred_base, ..FunctionModule::default() }],
        notes: vec![NO_ORDER.to_owned()],
        calls,
        ..FunctionTrace::default()
    })
}

/// `NAME.PID.sancov`, without what the run added.
fn module_name(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    let bare = name.strip_suffix(".sancov").unwrap_or(name);
    match bare.rsplit_once('.') {
        Some((bare, pid)) if pid.bytes().all(|byte| byte.is_ascii_digit()) => bare,
        _ => bare,
    }
}
