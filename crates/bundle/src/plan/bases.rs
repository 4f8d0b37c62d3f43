//! Where a bundle at fixed addresses is: chosen by chance, once.

use crate::choose::members::Membership;
use crate::error::{BundleAdvice, DeclineReason};
use crate::make::BundleOptions;
use crate::plan::layout::{Bases, LARGE_PAGE, PAGE, align_up, same_modulo};
use image::elf::Loadable;
use loader::Graph;
use model::BundleVa;
use rand::RngExt;

/// Lowest and highest address of what is chosen by chance: above what fits 32 bits, below where
/// the kernel puts stacks and mappings.
const LOWEST: u64 = 0x1_0000_0000;
const HIGHEST: u64 = 0x5000_0000_0000;
/// Behind a program with fixed addresses its libraries must be near enough for tables of 32-bit
/// distances.
const REACH: u64 = 0x7f00_0000;

/// Bases for the program and its libraries, where they are to be fixed.
pub(crate) fn choose(
    graph: &Graph,
    memberships: &[Membership],
    options: &BundleOptions,
) -> Result<Bases, DeclineReason> {
    let free = Bases { unmoved: false, low: BundleVa::ZERO, libraries: None };
    if !options.fixed {
        return Ok(free);
    }
    let program = &graph.program();
    if program.image.fixed {
        let merged = graph.modules.iter().zip(memberships).skip(1).filter(|(_, m)| m.is_merged());
        let sizes = merged.map(|(module, _)| span(&module.image) + module.image.alignment());
        let start = align_up(end(&program.image), PAGE) + MARGIN;
        let reached = low(&program.image).saturating_add(REACH);
        let last = reached.saturating_sub(sizes.sum::<u64>() + MARGIN);
        // As far into a large page as the program ends, so that the file has no hole there.
        let distances = 0..last.saturating_sub(start) / LARGE_PAGE;
        if distances.is_empty() {
            return Err(too_large());
        }
        let distance = rand::rng().random_range(distances) * LARGE_PAGE;
        let libraries = Some(BundleVa(start + distance));
        return Ok(Bases { unmoved: true, libraries, ..free });
    }
    Ok(Bases { low: other(BundleVa::ZERO, &program.image), ..free })
}

/// Another base for a bundle that begins at `low`: it stays the same modulo a large page, as its file is laid
/// out for that, and modulo the strictest alignment of its parts.
pub(crate) fn other(low: BundleVa, image: &Loadable) -> BundleVa {
    let unit = image.alignment().max(LARGE_PAGE);
    let chosen = rand::rng().random_range(LOWEST / unit..HIGHEST / unit) * unit;
    BundleVa(same_modulo(chosen, low.0, unit))
}

/// Room for the bundle's own tables.
const MARGIN: u64 = 64 << 20;

/// Why there is no bundle of so much code.
pub(crate) fn too_large() -> DeclineReason {
    DeclineReason::from("it spans more than 2 GiB, which tables for exceptions cannot reach")
        .with(BundleAdvice::KeepLargeOutside)
}

fn end(image: &Loadable) -> u64 {
    image.segments().iter().filter(|s| s.loads()).map(|s| s.end().0).max().unwrap_or(0)
}

fn low(image: &Loadable) -> u64 {
    image.segments().iter().filter(|s| s.loads()).map(|s| s.address.0).min().unwrap_or(0)
}

fn span(image: &Loadable) -> u64 {
    align_up(end(image).saturating_sub(low(image)), PAGE)
}
