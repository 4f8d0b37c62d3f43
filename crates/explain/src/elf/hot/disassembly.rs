//! Disassembles hot functions and puts the samples on their instructions.

use super::functions::{Code, name};
use crate::names::base_name;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Formatter, Instruction, IntelFormatter, SymbolResolver,
    SymbolResult,
};
use model::HotInstruction;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// No function that a compiler makes is larger.
const LARGEST: u64 = 1 << 20;
/// Instructions kept before and behind one with samples.
const AROUND: usize = 32;

/// The instructions of `code` with the samples on each; `None` for other processors' code and
/// where the file cannot be read.
pub(super) fn instructions(code: &Code, debug_folder: &Path) -> Option<Vec<HotInstruction>> {
    let path = PathBuf::from(model::text::name(&code.path));
    let path = path.as_path();
    let bits = match image::elf::facts(path).ok()?.machine.as_str() {
        "x86_64" | "x32" => 64,
        "i386" => 32,
        _ => return None,
    };
    let bytes = image::code(path, code.offset, code.bytes.min(LARGEST)).ok()?;
    if bytes.is_empty() {
        return None;
    }
    let decoder = Decoder::with_ip(bits, &bytes, code.address, DecoderOptions::NONE);
    let decoded: Vec<(Instruction, u64)> = decoder
        .into_iter()
        .map(|instruction| (instruction, samples_on(code, &instruction)))
        .collect();
    let kept: Vec<&(Instruction, u64)> = near_samples(&decoded);
    let targets = Targets::of(&kept, code, debug_folder);
    let mut formatter = IntelFormatter::with_options(Some(Box::new(targets)), None);
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_branch_leading_zeros(false);
    options.set_space_after_operand_separator(true);
    options.set_show_branch_size(false);
    let addresses: Vec<u64> = kept.iter().map(|(instruction, _)| instruction.ip()).collect();
    let sources = image::lines(path, debug_folder, &addresses).into_iter().map(source);
    let listed = kept.into_iter().zip(sources).map(|((instruction, samples), source)| {
        let mut text = String::new();
        formatter.format(instruction, &mut text);
        let length = instruction.len() as u8;
        HotInstruction { address: instruction.ip(), length, samples: *samples, text, source }
    });
    Some(listed.collect())
}

fn source(line: Option<image::Line>) -> Option<String> {
    line.map(|line| format!("{}:{}", base_name(&line.file), line.line))
}

fn samples_on(code: &Code, instruction: &Instruction) -> u64 {
    code.samples.range(instruction.ip()..instruction.next_ip()).map(|(_, samples)| samples).sum()
}

fn near_samples(all: &[(Instruction, u64)]) -> Vec<&(Instruction, u64)> {
    let mut kept_until = 0;
    let mut kept = Vec::new();
    for (at, _) in all.iter().enumerate().filter(|(_, (_, samples))| *samples > 0) {
        let from = at.saturating_sub(AROUND).max(kept_until);
        let until = (at + AROUND + 1).min(all.len());
        kept.extend(all.get(from..until).unwrap_or(&[]));
        kept_until = until;
    }
    kept
}

/// Names of the functions that code calls and jumps to.
struct Targets(HashMap<u64, String>);

impl Targets {
    fn of(instructions: &[&(Instruction, u64)], code: &Code, debug_folder: &Path) -> Targets {
        let outside = |target: &u64| {
            target.checked_sub(code.address).is_none_or(|within| within >= code.bytes)
        };
        let is_branch = |instruction: &&Instruction| {
            use FlowControl::{Call, ConditionalBranch, UnconditionalBranch};
            matches!(instruction.flow_control(), Call | ConditionalBranch | UnconditionalBranch)
        };
        let branches = instructions.iter().map(|(instruction, _)| instruction).filter(is_branch);
        let mut targets: Vec<u64> =
            branches.map(Instruction::near_branch_target).filter(outside).collect();
        targets.sort_unstable();
        targets.dedup();
        // Code of one image keeps its distances in the file; what does not is not found as code.
        let offset = |target: &u64| target.wrapping_sub(code.address).wrapping_add(code.offset);
        let offsets: Vec<u64> = targets.iter().map(offset).collect();
        let placed =
            image::functions(Path::new(&model::text::name(&code.path)), debug_folder, &offsets);
        let named =
            targets.iter().zip(placed.unwrap_or_default()).filter_map(|(&target, placed)| {
                let function = placed.filter(|placed| placed.address == target)?.function?;
                function.name.as_ref().filter(|name| !name.starts_with('['))?;
                let text = name(&code.path, &function);
                Some((
                    target,
                    match target - function.address {
                        0 => text,
                        within => format!("{text}+{within:#x}"),
                    },
                ))
            });
        Targets(named.collect())
    }
}

impl SymbolResolver for Targets {
    fn symbol(
        &mut self,
        _: &Instruction,
        _: u32,
        _: Option<u32>,
        address: u64,
        _: u32,
    ) -> Option<SymbolResult<'_>> {
        self.0.get(&address).map(|name| SymbolResult::with_str(address, name))
    }
}
