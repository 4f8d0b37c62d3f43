//! Control Flow Guard as text.

use super::Block;
use model::figures::{bytes, count};
use model::{GuardFacts, PeFacts, PeKind};

/// `IMAGE_GUARD_*` of `winnt.h`, and the words for them.
const FLAGS: [(u32, &str); 13] = [
    (0x100, "instrumented"),
    (0x200, "writes checked"),
    (0x400, "function table"),
    (0x800, "no security cookie"),
    (0x1000, "delay-load IAT protected"),
    (0x2000, "delay-load IAT in its own section"),
    (0x4000, "export suppression"),
    (0x8000, "export suppression enabled"),
    (0x1_0000, "long-jump table"),
    (0x2_0000, "return flow instrumented"),
    (0x4_0000, "return flow enabled"),
    (0x8_0000, "return flow strict"),
    (0x40_0000, "exception continuations"),
];

/// The tables, and what they cost where that grows with their square.
pub(super) fn rows(block: &mut Block, image: &PeFacts) {
    let Some(guard) = &image.guard else { return };
    let tables = [
        (guard.functions, "functions"),
        (guard.address_taken_imports, "imports"),
        (guard.long_jump_targets, "long jumps"),
        (guard.exception_continuations, "continuations"),
    ];
    let tables = tables.iter().filter(|(number, what)| *number > 0 || *what == "functions");
    let tables: Vec<String> =
        tables.map(|(number, what)| format!("{} {what}", count(*number))).collect();
    block.row("Guard CF", &tables.join(", "));
    if guard.functions > 0 {
        let size = 4 + u64::from(guard.stride);
        let order = if guard.sorted { "sorted" } else { "NOT SORTED" };
        let bitmap = bytes(guard.bitmap_bytes);
        block.row("", &format!("entries of {size} bytes, {order}, {bitmap} of the bitmap"));
    }
    if guard.outside_code > 0 {
        block.row("", &format!("{} ENTRIES OUTSIDE CODE", count(guard.outside_code)));
    }
    let words = FLAGS.iter().filter(|(flag, _)| guard.flags & flag != 0);
    let words: Vec<&str> = words.map(|(_, word)| *word).collect();
    block.row("", &format!("flags {:#x}: {}", guard.flags, words.join(", ")));
    if guard.functions >= GuardFacts::MANY {
        cost(block, image.kind, guard);
    }
}

fn cost(block: &mut Block, kind: PeKind, guard: &GuardFacts) {
    let who = match kind {
        PeKind::Program => "programs pay this at every start",
        _ => "this affected programs, and DLLs less",
    };
    block.row(
        "",
        &format!(
            "ESTIMATE: Windows 10 before 1903 does about {:.1} times the work of {} entries, \
             because it grows with the square; {who}",
            guard.quadratic_cost(),
            count(GuardFacts::MANY),
        ),
    );
}
