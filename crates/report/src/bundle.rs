//! Views of a bundle: what it was made of, and what has become of that.

mod stale;

use crate::CommandWords;
use crate::figure::{count, plural};
use crate::style::{Style, Tint};
use model::bundle::{
    BundleCheck, BundleFigures, BundleManifest, BundlePopulate, BundleReadAhead,
    BundleVerification, Starts,
};
use model::{LargePages, Reading, RecordingMode};
use stale::{is_only_beside, stale};

/// Bytes of a page of a bundle.
const PAGE_BYTES: u64 = 4096;

/// The terminal view of a bundle that was made just now.
/// `run` is what to start.
pub fn made(
    run: &str,
    manifest: &BundleManifest,
    figures: &BundleFigures,
    words: &CommandWords,
    style: &Style,
) -> String {
    let merged = manifest.modules.iter().filter(|module| module.outside.is_none()).count() as u64;
    let adjusted = match (manifest.fixed, figures.relative) {
        (true, _) => {
            format!("no address is adjusted (they are fixed: see {})", words.rerandomize)
        }
        (false, 1) => "1 address is adjusted".to_owned(),
        (false, relative) => format!("{} addresses are adjusted", count(relative)),
    };
    let sentence = format!(
        "{} and {} are now one file of {}; {} bound beforehand; the loader still looks up {}, and \
         {adjusted}{}{}.",
        style.terminal(&manifest.program),
        plural(merged.saturating_sub(1), "library", "libraries"),
        model::figures::bytes(figures.bytes),
        plural(figures.bound, "reference", "references"),
        plural(figures.looked_up, "symbol", "symbols"),
        found(figures.found),
        left_out(figures.idle),
    );
    let mut view = style.paint(Tint::Name, &style.terminal(run)) + "\n";
    view += &(style.wrap(&sentence, 0) + "\n");
    if !manifest.plugins.is_empty() {
        view += &(style.wrap(&plugins(manifest), 0) + "\n");
    }
    if let Some(ahead) = &manifest.read_ahead {
        view += &(style.wrap(&read_ahead(ahead, style), 0) + "\n");
    }
    if let Some(populate) = &manifest.populate {
        view += &(style.wrap(&self::populate(populate, style), 0) + "\n");
    }
    for module in &manifest.modules {
        let Some(reason) = &module.outside else { continue };
        let line = format!("outside: {} ({reason})", style.terminal(&module.path));
        view += &(style.wrap(&line, 9) + "\n");
    }
    for warning in &manifest.warnings {
        let line = format!("{} {}", style.paint(Tint::Doubt, "warning:"), style.terminal(warning));
        view += &(style.wrap(&line, 9) + "\n");
    }
    let mut notes = Vec::new();
    if manifest.join {
        notes.push(
            "Constants are mapped together with the code next to them, and are executable."
                .to_owned(),
        );
    } else if figures.joined > 0 {
        notes.push(format!(
            "One file can have only 1,170 segments: constants of {} are mapped together with \
             their code, and are executable.",
            plural(figures.joined, "module", "modules")
        ));
    }
    view + &style.notes(&notes)
}

/// What is opened while the program runs.
fn plugins(manifest: &BundleManifest) -> String {
    let files = manifest.carried.len() as u64;
    let bytes = manifest.carried.iter().map(|file| file.bytes).sum();
    let folder = manifest.carried.first().and_then(|file| file.path.split('/').next());
    format!(
        "Of what it opens while it runs, {} {} now {} of {} in the folder {}.",
        plural(manifest.plugins.len() as u64, "library", "libraries"),
        if manifest.plugins.len() == 1 { "is" } else { "are" },
        plural(files, "file", "files"),
        model::figures::bytes(bytes),
        folder.unwrap_or_default(),
    )
}

/// What needs no look-up by the loader, as a rule.
fn found(functions: u64) -> String {
    match functions {
        0 => String::new(),
        _ => {
            let functions = plural(functions, "function", "functions");
            format!("; the bundle itself finds {functions} of libc and the loader")
        }
    }
}

/// What is not called any more.
fn left_out(idle: u64) -> String {
    match idle {
        0 => String::new(),
        1 => "; an initializer or finalizer that does nothing is left out".to_owned(),
        _ => format!("; {} initializers and finalizers that do nothing are left out", count(idle)),
    }
}

/// What is read ahead, and where that is known from.
fn read_ahead(ahead: &BundleReadAhead, style: &Style) -> String {
    let beside = match ahead.files {
        0 => String::new(),
        files => format!(
            " and {} of {}",
            model::figures::bytes(ahead.bytes_of_files),
            plural(files, "other file", "other files")
        ),
    };
    let recorded = match ahead.recorded {
        RecordingMode::Exact => "page by page",
        RecordingMode::Tracepoints => "with what the kernel read ahead",
        RecordingMode::PageFaults => "from page faults",
    };
    format!(
        "Where it is not in memory, a start reads {} of it ahead in {}{beside}, as a launch of `{}` \
         did (recorded {recorded}).",
        model::figures::bytes(ahead.bytes),
        plural(ahead.ranges, "request", "requests"),
        style.terminal(&ahead.command),
    )
}

/// What is mapped at once, where that is known from, and what it costs.
fn populate(populate: &BundlePopulate, style: &Style) -> String {
    let launch = style.terminal(&populate.command);
    let costs = match populate.copied_pages {
        0 => String::new(),
        copied => format!(
            " It copies {} for this, so a start may have up to {} of private memory that it does not use.",
            plural(copied, "page", "pages"),
            model::figures::bytes(copied.saturating_mul(PAGE_BYTES)),
        ),
    };
    let left = match populate.left_out {
        0 => String::new(),
        left => format!(" {} more did not fit into the list.", plural(left, "place", "places")),
    };
    format!(
        "At every start, the kernel maps pages in {} at once: those that a launch of `{launch}` \
         used.{costs}{left}",
        plural(populate.ranges, "place", "places"),
    )
}

/// Where there is no other reason.
const NOT_KNOWN: &str = "it is not known whether run starts the merged code";

/// The terminal view of a verification.
pub fn verified(verification: &BundleVerification, words: &CommandWords, style: &Style) -> String {
    let program = style.terminal(&verification.program);
    let files = count(verification.files as u64);
    let (tint, word, sentence) = match (verification.current, verification.starts) {
        (true, Starts::Bundle) if verification.check == Some(BundleCheck::Sealed) => (
            Tint::Good,
            "used",
            format!(
                "run starts the merged code; {} in its folder are unchanged, and {program} and its \
                 libraries are not looked at (check: sealed)",
                plural(verification.files as u64, "file", "files"),
            ),
        ),
        (true, Starts::Bundle) => (
            Tint::Good,
            "used",
            format!(
                "run starts the merged code; all {files} files of {program} are unchanged{}",
                checked(verification)
            ),
        ),
        (true, Starts::Unknown) => (
            Tint::Doubt,
            "unknown",
            format!(
                "{}; all {files} files of {program} are unchanged",
                style.terminal(verification.reason.as_deref().unwrap_or(NOT_KNOWN))
            ),
        ),
        (true, Starts::Copies) => (
            Tint::Good,
            "current",
            format!("all {files} files of {program} are unchanged; nothing is checked at start"),
        ),
        (true, _) if verification.used => {
            (Tint::Good, "current", format!("run starts {program} itself"))
        }
        (true, Starts::Nothing) => {
            (Tint::Doubt, "stale", stale(verification, Starts::Nothing, &program, style))
        }
        (true, _) => (Tint::Doubt, "stale", unused(verification, &program, style)),
        (false, starts) => (Tint::Doubt, "stale", stale(verification, starts, &program, style)),
    };
    let (tint, word) = match verification.starts {
        Starts::Unknown if !verification.current => (Tint::Bad, "changed"),
        Starts::Bundle if is_only_beside(verification) => (tint, "changed"),
        _ => (tint, word),
    };
    let head = format!("{}: {sentence}", style.paint(tint, word));
    let mut view = style.wrap(&head, 0) + "\n";
    let said = |found: &String| Some(found) == verification.instead.as_ref();
    for change in verification.changes.iter().filter(|change| !said(&change.found)) {
        let line = format!("{}: {}", style.terminal(&change.path), style.terminal(&change.found));
        view += &(style.wrap(&line, 2) + "\n");
    }
    view += &before_start(verification, style);
    let pages = verification.large_pages.as_ref().filter(|_| verification.used);
    if let Some(text) = not_warm(pages, words) {
        view += &(style.wrap(&text, 0) + "\n");
    }
    if let Some(remedy) = &verification.remedy {
        // A command has to be copied whole.
        view += &(style.paint(Tint::Remedy, &style.terminal(remedy)) + "\n");
    }
    view
}

/// What a bundle does first at a start, if it is as it was made.
fn before_start(verification: &BundleVerification, style: &Style) -> String {
    if !verification.current {
        return String::new();
    }
    let ahead = verification.read_ahead.as_ref();
    let ahead = ahead.map(|ahead| read_ahead(ahead, style) + &not_read_ahead(verification, style));
    let populate = verification.populate.as_ref().map(|it| populate(it, style));
    ahead.iter().chain(&populate).map(|text| style.wrap(text, 0) + "\n").collect()
}

/// The terminal view of a bundle that was read into memory in large pages.
pub fn warmed(folder: &str, pages: &LargePages, style: &Style) -> String {
    let text = match &pages.huge_kib {
        Reading::Value(_) if pages.file_kib < LARGE_PAGE_KIB => {
            "the file is smaller than a large page, so there is nothing to do".to_owned()
        }
        Reading::Value(huge) if is_poor(*huge, pages) => format!(
            "{}: the file system or the kernel may not support large pages (squashfs, btrfs, most tmpfs \
             and Linux before 5.14 do not), memory may be short, or a running process may have mapped the file in smaller pages",
            in_large_pages(*huge, pages)
        ),
        Reading::Value(huge) => in_large_pages(*huge, pages),
        Reading::Unavailable { reason, remedy } if remedy.is_empty() => reason.clone(),
        Reading::Unavailable { reason, remedy } => format!("{reason}: {remedy}"),
    };
    style.wrap(&format!("{}: {text}", style.terminal(folder)), 0) + "\n"
}

/// Size of a large page.
const LARGE_PAGE_KIB: u64 = 2048;

fn in_large_pages(huge_kib: u64, pages: &LargePages) -> String {
    let bytes = |kib: u64| model::figures::bytes(kib * 1024);
    format!("{} of {} are in memory in large pages", bytes(huge_kib), bytes(pages.file_kib))
}

/// Whether much of what could be in large pages is not.
fn is_poor(huge_kib: u64, pages: &LargePages) -> bool {
    huge_kib < pages.file_kib / LARGE_PAGE_KIB * LARGE_PAGE_KIB / 2
}

/// Whether starts would be faster from large pages.
pub(crate) fn is_not_warm(pages: Option<&LargePages>) -> bool {
    pages.is_some_and(|pages| pages.huge_kib.get().is_some_and(|huge| is_poor(huge, pages)))
}

/// That starts would be faster from large pages.
fn not_warm(pages: Option<&LargePages>, words: &CommandWords) -> Option<String> {
    let pages = pages?;
    let huge = pages.huge_kib.get().filter(|huge| is_poor(*huge, pages))?;
    Some(format!(
        "{}. A start from large pages takes fewer page faults; {} reads the bundle into them, if the \
         file system supports them.",
        in_large_pages(huge, pages),
        words.warm
    ))
}

/// Which files it does not read ahead any more.
fn not_read_ahead(verification: &BundleVerification, style: &Style) -> String {
    let Some((first, more)) = verification.not_read_ahead.split_first() else {
        return String::new();
    };
    let first = style.terminal(first);
    match more.len() {
        0 => format!(" {first} has changed or is gone, and is not read ahead."),
        more => {
            format!(" {first} and {more} more have changed or are gone, and are not read ahead.")
        }
    }
}

/// A bundle whose files are the same, and that takes itself for stale.
fn unused(verification: &BundleVerification, program: &str, style: &Style) -> String {
    let files = count(verification.files as u64);
    let same = match verification.check {
        Some(BundleCheck::Sealed) => String::new(),
        _ => format!("; the content of all {files} files is the same"),
    };
    format!(
        "run starts the original {program}{}: {}{same}{}",
        instead(verification, style),
        reason(verification, style),
        checked(verification)
    )
}

/// Why the original is started, as the start tells it.
fn reason(verification: &BundleVerification, style: &Style) -> String {
    style.terminal(verification.reason.as_deref().unwrap_or_default())
}

/// What a start looks at, to be put behind a sentence.
fn checked(verification: &BundleVerification) -> String {
    verification.check.map_or(String::new(), |check| format!(" (check: {})", check.word()))
}

/// What is in the original's place, to follow its path.
fn instead(verification: &BundleVerification, style: &Style) -> String {
    let text = verification.instead.as_deref();
    text.map_or(String::new(), |text| format!(", {}", style.terminal(text)))
}
