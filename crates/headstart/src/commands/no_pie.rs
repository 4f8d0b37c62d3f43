//! `headstart elf no-pie`: a program at a fixed address.

use crate::args::{RewriteArgs, address};
use crate::rewritten_elf;
use anyhow::Result;
use model::figures;
use rewrite::no_pie;
use serde_json::json;
use std::process::ExitCode;

/// Put a position-independent program at a fixed address: no relative relocations at start
///
/// Pointers in the file are final, so the loader does not change them and their pages stay shared
/// with the file. The cost: the program itself has no address-space layout randomization (its
/// libraries keep theirs). The address is chosen at random once. Programs with setuid, setgid or
/// capabilities are refused.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    target: RewriteArgs,
    /// Address of the first byte, a multiple of the alignment of its segments [default: random]
    #[arg(long, value_name = "HEX", value_parser = address)]
    base: Option<u64>,
}

/// Fixes, writes and tells.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let target = &arguments.target;
    if target.undo {
        return rewritten_elf::restore(target);
    }
    let random = no_pie::random();
    let written = rewrite::file(&target.file, target.target(), |image, origin| {
        no_pie::refuse_privileged(files::privilege(&target.file))?;
        let base = arguments.base.unwrap_or_else(|| no_pie::base(image, random));
        no_pie::fix(image, base, origin)
    })?;
    let fixed = &written.counts;
    let done = format!(
        "Fixed at {:#x}: {} relocations applied, {} left; the program itself no longer has ASLR",
        fixed.base,
        figures::count(fixed.applied),
        figures::count(fixed.left),
    );
    let json = json!({
        "base": format!("{:#x}", fixed.base),
        "applied": fixed.applied,
        "relocations_after": fixed.left,
    });
    rewritten_elf::print(target, &written, &done, json)
}
