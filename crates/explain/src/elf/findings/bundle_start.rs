//! The finding on what remains of a bundle's start-up: its biggest parts in plain sentences, and what would
//! shorten it.

use super::Context;
use crate::advice::ExplainAdvice;
use crate::names::base_name;
use model::figures::{count, duration, plural};
use model::{BundleRemains, BundleReport, Finding, LibraryRemains, Phase, Reading};

/// Its short name.
pub(super) const ID: &str = "bundle-start";
/// The file of a bundle that stands in nobody's place.
const OWN_NAME: &str = "run";
/// A part of the start is told from this share.
const WORTH: f64 = 0.05;
/// A library has most of something from this share.
const MOST: f64 = 0.5;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let bundles = context.explanation.bundles.iter();
    let all = bundles.filter_map(|bundle| Some((bundle, bundle.remains.as_deref()?)));
    let longest = |one: &(&BundleReport, &BundleRemains)| one.1.start_us;
    let (bundle, remains) = all.max_by(|a, b| longest(a).total_cmp(&longest(b)))?;
    let name = context.name(&bundle.path);
    let mut evidence = parts(bundle, remains);
    if evidence.is_empty() {
        evidence.push("nothing that the bundle itself is known to do takes 5 % of that".to_owned());
    }
    let starts = match remains.starts {
        1 => format!("the start of the bundle {name}, up to main, takes"),
        starts => format!("the {starts} starts of the bundle {name}, up to main, take"),
    };
    Some(Finding {
        id: ID.to_owned(),
        cause: format!("{starts} {}", duration(remains.start_us)),
        evidence,
        cost_us: Reading::unavailable("its phases have findings of their own", ""),
        phase: None,
        part_of: None,
        remedy: remedy(context, bundle, remains),
    })
}

/// The parts of the start by what they take, longest first; those that matter little are left out.
fn parts(bundle: &BundleReport, remains: &BundleRemains) -> Vec<String> {
    let check = "it checks whether what it was made from has changed".to_owned();
    let mut parts = vec![
        ("", remains.init_us.get(), initializers(remains)),
        ("", bundle.check_us.get(), check),
        ("about ", remains.copy_us.get(), copies(remains)),
        ("about ", adjusting_us(remains), adjusting(bundle, remains)),
        ("about ", remains.map_parts_us.get(), mapping(remains)),
    ];
    let us = |part: &(&str, Option<f64>, String)| part.1.unwrap_or(0.0);
    parts.retain(|part| us(part) > 0.0 && us(part) >= WORTH * remains.start_us);
    parts.sort_by(|a, b| us(b).total_cmp(&us(a)));
    parts.iter().map(|part| format!("{}{}: {}", part.0, duration(us(part)), part.2)).collect()
}

fn initializers(remains: &BundleRemains) -> String {
    let libraries = remains.by_library.iter().filter(|library| library.path.is_some());
    let count = libraries.map(|library| library.work.initializers).sum();
    let run = plural(count, "initializer of libraries runs", "initializers of libraries run");
    match leader(remains, |library| library.init_us.get().unwrap_or(0.0)) {
        Some(library) if count > 1 => format!("{run}, most of this time for {library}"),
        _ => run,
    }
}

fn copies(remains: &BundleRemains) -> String {
    let copied = remains.copied.get().unwrap_or_default().before_main();
    let pages = |library: &LibraryRemains| library.copied.get().map_or(0, |it| it.before_main());
    let why = match remains.work.relocated_pages {
        relocated if relocated >= copied && !remains.fixed => {
            " because relocations write to them".to_owned()
        }
        relocated if relocated > 0 && !remains.fixed => {
            format!(", {} of them because relocations write to them", count(relocated))
        }
        _ => " when they are first written to".to_owned(),
    };
    let most = leader(remains, |library| pages(library) as f64);
    let most = most.map_or(String::new(), |library| format!("; most are of {library}"));
    format!("{}{why}{most}", plural(copied, "page is copied", "pages are copied"))
}

/// Relocating without the copies.
fn adjusting_us(remains: &BundleRemains) -> Option<f64> {
    let (copied, copy_us) = (remains.copied.get()?, remains.copy_us.get()?);
    let share = copied.relocate as f64 / copied.before_main().max(1) as f64;
    Some(remains.relocate_us.get()? - copy_us * share)
}

fn adjusting(bundle: &BundleReport, remains: &BundleRemains) -> String {
    let work = &remains.work;
    let addresses = work.relocations.saturating_sub(work.symbolic_relocations);
    let (names, copies) = (work.symbolic_relocations, remains.copied.get().unwrap_or_default());
    let names = plural(names, "reference bound by name", "references bound by name");
    let without = if copies.relocate > 0 { ", without these copies" } else { "" };
    let ahead = if bundle.read_ahead_us.is_some() { ", with reading ahead" } else { "" };
    format!(
        "{} and {names}{without}{ahead}",
        plural(addresses, "address adjusted", "addresses adjusted")
    )
}

fn mapping(remains: &BundleRemains) -> String {
    let parts = remains.kernel_parts.get().unwrap_or(0);
    format!("the kernel maps {}", plural(parts, "part of its file", "parts of its file"))
}

/// The library that has most of something.
fn leader(remains: &BundleRemains, figure: impl Fn(&LibraryRemains) -> f64) -> Option<&str> {
    let all: f64 = remains.by_library.iter().map(&figure).sum();
    let libraries = remains.by_library.iter().filter(|library| library.path.is_some());
    let first = libraries.max_by(|a, b| figure(a).total_cmp(&figure(b)))?;
    first.path.as_deref().map(base_name).filter(|_| figure(first) > all * MOST)
}

fn remedy(context: &Context, bundle: &BundleReport, remains: &BundleRemains) -> String {
    let least = WORTH * remains.start_us;
    let worth = |us: &Reading<f64>| us.get().is_some_and(|us| us > 0.0 && us >= least);
    let moved = remains.work.relocations > remains.work.symbolic_relocations;
    let told = context.shares.wholes.contains_key(&Phase::Relocate) || worth(&remains.relocate_us);
    let mut parts = Vec::new();
    if !remains.fixed && moved && told {
        parts.push(fixed_addresses(context, bundle));
    }
    if worth(&remains.init_us) {
        let initializers = "Initializers run as they would without a bundle: fewer libraries, and \
                            fewer static objects in them, make them fewer.";
        parts.push(initializers.to_owned());
    }
    match parts.is_empty() {
        true => "What takes the rest of the time is in the other findings.".to_owned(),
        false => parts.join(" "),
    }
}

/// What they change, with the command where the bundle can be made again by itself.
fn fixed_addresses(context: &Context, bundle: &BundleReport) -> String {
    let contents = context.inputs.contents.get(&bundle.path);
    let apart = contents.filter(|_| base_name(&bundle.path) == OWN_NAME);
    let renewed = apart.and_then(|it| Some((it.folder.clone()?, it.original.clone()?)));
    let again = renewed.map_or(String::new(), |(folder, program)| {
        let again = ExplainAdvice::RenewBundle { folder, program, fixed: true };
        format!(": {}", (context.words)(again))
    });
    format!(
        "At fixed addresses, no address of the bundle is adjusted and no page copied for that, but \
         ASLR is lost{again}."
    )
}
