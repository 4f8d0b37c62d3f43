//! `headstart elf relr`: relative relocations packed.

use crate::args::RewriteArgs;
use crate::rewritten_elf;
use anyhow::Result;
use model::figures;
use rewrite::relr;
use serde_json::json;
use std::process::ExitCode;

/// Pack the relative relocations of a program or library: fewer bytes to read at start
///
/// A relocation takes 24 bytes, and about one bit when packed (DT_RELR). The result needs glibc
/// 2.36 or newer; older versions refuse it with a message. Addresses, symbols and ASLR do not
/// change.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    target: RewriteArgs,
}

/// Packs, writes and tells.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let target = &arguments.target;
    if target.undo {
        return rewritten_elf::restore(target);
    }
    let written = rewrite::file(&target.file, target.target(), relr::pack)?;
    let packed = &written.counts;
    let bytes_before = packed.relocations_before * 24;
    let bytes_after = packed.relocations_after * 24 + packed.table_bytes;
    let done = format!(
        "Packed {} of {} relocations: {} became {}",
        figures::count(packed.packed),
        figures::count(packed.relocations_before),
        figures::bytes(bytes_before),
        figures::bytes(bytes_after)
    );
    let json = json!({
        "packed": packed.packed,
        "relocations_before": packed.relocations_before,
        "relocations_after": packed.relocations_after,
        "table_bytes_before": bytes_before,
        "table_bytes_after": bytes_after,
        "new_segment": packed.new_segment,
    });
    rewritten_elf::print(target, &written, &done, json)
}
