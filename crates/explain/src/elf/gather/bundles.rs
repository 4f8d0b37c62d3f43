//! Bundles among the files of a launch: what is in them, and whether they would run now.

use super::bundle_work::BundleWork;
use crate::elf::inputs::Inputs;
use image::elf::records::ProgramHeader;
use image::elf::{Loadable, relr};
use model::{
    BundleContents, BundleDifference, BundleFinish, BundlePart, BundleStart, Command, FileOffset,
    MarkKind, PartWork, Va, text,
};
use startup::{
    Answer, Functions, LOADER_VARIABLES, PreambleOutline, TRACE_ANSWERS, TRACE_VARIABLE,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// What stands beside a bundle in its folder.
const MANIFEST: &str = "headstart.json";
/// Bytes of an address.
const WORD: u64 = 8;
/// More functions than any real program has: a damaged count must end.
const MOST_FUNCTIONS: u64 = 1 << 20;

/// Longer than a file takes that has to be read from a slow disk.
const PATIENCE: Duration = Duration::from_secs(60);

/// Finds the bundles among the launched program and the images that traces show.
pub(super) fn find(inputs: &mut Inputs) {
    let traces = inputs.phase_traces.value().into_iter().flatten();
    let images = traces.flat_map(|trace| &trace.processes).flat_map(|process| &process.images);
    // By whether it came to its entry point, as far as it was traced.
    let mut paths: BTreeMap<String, bool> = BTreeMap::new();
    for image in images {
        let entered = image.marks.iter().any(|mark| mark.kind >= MarkKind::Entry);
        *paths.entry(image.path.clone()).or_insert(true) &= entered;
    }
    paths.entry(text::text(&inputs.command.program)).or_insert(false);
    let real = |path: &str| std::fs::canonicalize(text::name(path)).ok().map(text::text);
    for (path, entered) in paths {
        let Some(path) = real(&path).filter(|path| !inputs.contents.contains_key(path)) else {
            continue;
        };
        let Some(mut contents) = contents(&path) else { continue };
        if !entered && contents.start.is_some() {
            contents.difference = difference(&path, &inputs.command);
        }
        for library in &contents.libraries {
            if let Some(file) = real(&library.path) {
                inputs.real_paths.insert(library.path.clone(), file);
            }
        }
        inputs.contents.insert(path, contents);
    }
}

/// What is in the bundle at `path`; `None` for any other file.
fn contents(path: &str) -> Option<BundleContents> {
    let image = Loadable::open(Path::new(&text::name(path))).ok()?;
    let (address, bytes) = image::elf::preamble(&image)?;
    let Some(outline) = PreambleOutline::read(bytes) else {
        return Some(by_sections(&image, path));
    };
    let at = |offset: i64| Va(address.0.wrapping_add_signed(offset));
    let libraries = outline.modules.iter().filter_map(|module| {
        let path = text::text(module.path.as_ref()?);
        Some((path, at(module.start)..at(module.end)))
    });
    let mut libraries: Vec<(String, Range<Va>)> = libraries.collect();
    libraries.sort_by_key(|(_, range)| range.start);
    let of_libraries = |array: Functions| -> Vec<Option<usize>> {
        let functions = functions(&image, at(array.offset), array.count);
        let within = |function: &Va| libraries.iter().position(|(_, at)| at.contains(function));
        functions.iter().map(within).collect()
    };
    let initializers = of_libraries(outline.initializers);
    let mut finalized = of_libraries(outline.finalizers);
    finalized.reverse();
    let packed = packed(&image, at(outline.packed.offset), outline.packed.count);
    let work = BundleWork::of(&image, &libraries, &packed, &initializers);
    Some(BundleContents {
        original: Some(text::text(&outline.original)),
        instead: outline.instead.as_ref().map(text::text),
        libraries: parts(&image, libraries, &work.libraries),
        finalizers: outline.finalizers.count,
        finalized,
        work: Some(work.all),
        own_work: work.own,
        adjusts_itself: packed.len() as u64,
        found_functions: outline.filled,
        start: Some(BundleStart {
            path: path.to_owned(),
            check: at(outline.check),
            read_ahead: outline.read_ahead.map(at),
            initialized: at(outline.initialized),
            finish: outline.finish.map(|finish| BundleFinish {
                begin: at(finish.begin),
                finalized: at(finish.finalized),
                next: at(finish.next),
            }),
        }),
        difference: None,
        folder: folder(path),
        initializers,
    })
}

/// What the check at a start finds now: the bundle itself is asked, here and nowhere else. None where
/// it would be used, or does not answer.
fn difference(path: &str, command: &Command) -> Option<BundleDifference> {
    let file = text::name(path);
    let launched = std::fs::canonicalize(&command.program).is_ok_and(|program| *program == *file);
    let mut asking = match launched {
        true => command.clone(),
        false => Command { argv: vec![file.clone()], program: file.into(), ..command.clone() },
    };
    let value = Some(OsString::from(TRACE_ANSWERS));
    asking.environment.push((TRACE_VARIABLE.to_owned(), value));
    let asked = os::asked::ask(&asking, PATIENCE).ok()?;
    let Answer::Stale { subject, cause } = Answer::read(&asked.stdout)? else { return None };
    let subject = text::text(subject);
    let variable = LOADER_VARIABLES.contains(&subject.as_str());
    Some(BundleDifference { reason: format!("{subject}{cause}"), subject, variable })
}

/// The folder of a bundle, where its manifest is there.
fn folder(path: &str) -> Option<String> {
    let folder = Path::new(path).parent()?;
    folder.join(MANIFEST).exists().then(|| text::text(folder))
}

/// What the names of the sections tell of a bundle that another version of headstart has made.
fn by_sections(image: &Loadable, path: &str) -> BundleContents {
    let mut libraries = image::elf::merged_at(image);
    libraries.sort_by_key(|(_, range)| range.start);
    let work = BundleWork::of(image, &libraries, &[], &[]);
    let libraries = parts(image, libraries, &work.libraries);
    BundleContents { libraries, folder: folder(path), ..BundleContents::default() }
}

/// The addresses in an array of functions, before the bundle is moved.
fn functions(image: &Loadable, array: Va, count: u64) -> Vec<Va> {
    let end = array.saturating_add(count.min(MOST_FUNCTIONS) * WORD);
    let relocated = image.relocations().filter(|one| (array..end).contains(&one.offset));
    let addends: BTreeMap<Va, u64> = relocated.map(|one| (one.offset, one.addend as u64)).collect();
    let slots = (array.0..end.0).step_by(WORD as usize).map(Va);
    let value = |slot: Va| addends.get(&slot).copied().or_else(|| image.word(slot)).map(Va);
    slots.map_while(value).collect()
}

/// Packed relocations that the bundle applies itself.
fn packed(image: &Loadable, table: Va, count: u64) -> Vec<Va> {
    let bytes = if count == 0 { &[] } else { image.at(table).unwrap_or(&[]) };
    let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
    relr::decode(words.take(usize::try_from(count).unwrap_or(usize::MAX))).collect()
}

/// The libraries at these addresses, with where each is in the file and what is done for it.
fn parts(
    image: &Loadable,
    libraries: Vec<(String, Range<Va>)>,
    work: &[PartWork],
) -> Vec<BundlePart> {
    let loaded: Vec<&ProgramHeader> = image.segments().iter().filter(|one| one.loads()).collect();
    let part = |((path, range), work): ((String, Range<Va>), &PartWork)| {
        let places = loaded.iter().filter_map(|segment| place(segment, &range)).collect();
        BundlePart { path, places, work: *work }
    };
    libraries.into_iter().zip(work).map(part).collect()
}

/// Where in the file a segment has what is at these addresses.
fn place(segment: &ProgramHeader, range: &Range<Va>) -> Option<Range<FileOffset>> {
    let start = segment.address.max(range.start);
    let end = segment.address.saturating_add(segment.file_size).min(range.end);
    let offset = |address: Va| segment.offset.checked_add(address.since(segment.address)?);
    if start < end { Some(offset(start)?..offset(end)?) } else { None }
}
