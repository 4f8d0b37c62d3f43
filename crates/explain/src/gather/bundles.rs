//! Bundles among the files of a launch: what is in them, and whether they would run now.

use crate::inputs::Inputs;
use image::elf::records::ProgramHeader;
use image::elf::{Loadable, relr};
use model::{
    BundleContents, BundleDifference, BundlePart, BundleStart, Command, FileOffset, PartWork, Va,
    text,
};
use startup::{Checks, Difference, PreambleOutline};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;

/// What stands beside a bundle in its folder.
const MANIFEST: &str = "headstart.json";
/// Bytes of an address.
const WORD: u64 = 8;
/// More functions than any real program has: a damaged count must end.
const MOST_FUNCTIONS: u64 = 1 << 20;

/// Finds the bundles among the launched program and the images that traces show.
pub(super) fn find(inputs: &mut Inputs) {
    let traces = inputs.phase_traces.value().into_iter().flatten();
    let images = traces.flat_map(|trace| &trace.processes).flat_map(|process| &process.images);
    let mut paths: BTreeSet<String> = images.map(|image| image.path.clone()).collect();
    paths.insert(text::text(&inputs.command.program));
    let real = |path: &str| std::fs::canonicalize(text::name(path)).ok().map(text::text);
    for path in paths.iter().filter_map(|path| real(path)) {
        let Some(contents) = contents(&path, &inputs.command) else { continue };
        for library in &contents.libraries {
            if let Some(file) = real(&library.path) {
                inputs.real_paths.insert(library.path.clone(), file);
            }
        }
        inputs.contents.insert(path, contents);
    }
}

/// What is in the bundle at `path`, and whether it would run as `command` now; `None` for any
/// other file.
pub(super) fn contents(path: &str, command: &Command) -> Option<BundleContents> {
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
    let libraries: Vec<(String, Range<Va>)> = libraries.collect();
    let functions = functions(&image, at(outline.initializers.offset), outline.initializers.count);
    let within = |function: &Va| libraries.iter().position(|(_, range)| range.contains(function));
    let initializers: Vec<Option<usize>> = functions.iter().map(within).collect();
    let packed = packed(&image, at(outline.packed.offset), outline.packed.count);
    let mut contents = BundleContents {
        original: Some(text::text(&outline.original)),
        libraries: parts(&image, libraries, &packed),
        finalizers: outline.finalizers.count,
        start: Some(BundleStart {
            path: path.to_owned(),
            check: at(outline.check),
            read_ahead: outline.read_ahead.map(at),
            initialized: at(outline.initialized),
        }),
        difference: difference(bytes, command),
        folder: folder(path),
        initializers,
    };
    for library in contents.initializers.iter().flatten() {
        if let Some(part) = contents.libraries.get_mut(*library) {
            part.work.initializers += 1;
        }
    }
    Some(contents)
}

/// What the check at a start would find now. It is asked here and nowhere else.
fn difference(preamble: &[u8], command: &Command) -> Option<BundleDifference> {
    let value = |name: &std::ffi::OsStr| -> Option<OsString> {
        let mut given = command.environment.iter().rev();
        match given.find(|(given, _)| name == given.as_str()) {
            Some((_, value)) => value.clone(),
            None => std::env::var_os(name),
        }
    };
    Some(match Checks::read(preamble)?.difference(value)? {
        Difference::Variable(name) => BundleDifference::Variable(text::text(name)),
        Difference::Path(path) => BundleDifference::Path(text::text(path)),
    })
}

/// The folder of a bundle, where its manifest is there.
fn folder(path: &str) -> Option<String> {
    let folder = Path::new(path).parent()?;
    folder.join(MANIFEST).exists().then(|| text::text(folder))
}

/// What the names of the sections tell of a bundle that another version of headstart has made.
fn by_sections(image: &Loadable, path: &str) -> BundleContents {
    let libraries = parts(image, image::elf::merged_at(image), &[]);
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

/// The libraries at these addresses, with what is in the file of each and what is done for it.
fn parts(image: &Loadable, libraries: Vec<(String, Range<Va>)>, own: &[Va]) -> Vec<BundlePart> {
    let mut libraries = libraries;
    libraries.sort_by_key(|(_, range)| range.start);
    let mut work = vec![(PartWork::default(), BTreeSet::new()); libraries.len()];
    let mut count = |address: Va, symbolic: bool| {
        let next = libraries.partition_point(|(_, range)| range.start <= address);
        let Some(index) = next.checked_sub(1) else { return };
        if libraries.get(index).is_some_and(|(_, range)| range.contains(&address))
            && let Some((work, pages)) = work.get_mut(index)
        {
            work.relocations += 1;
            work.symbolic_relocations += u64::from(symbolic);
            pages.insert(address.0 >> 12);
        }
    };
    image.relocations().for_each(|one| count(one.offset, one.symbol.is_some()));
    image.packed_addresses().for_each(|address| count(address, false));
    own.iter().for_each(|address| count(*address, false));
    let loaded: Vec<&ProgramHeader> = image.segments().iter().filter(|one| one.loads()).collect();
    let part =
        |((path, range), (work, pages)): ((String, Range<Va>), (PartWork, BTreeSet<u64>))| {
            let places = loaded.iter().filter_map(|segment| place(segment, &range)).collect();
            let relocated_pages = pages.len() as u64;
            BundlePart { path, places, work: PartWork { relocated_pages, ..work } }
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
