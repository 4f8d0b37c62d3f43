//! The list of files, and the pages of each: metrics, names, trace chains.

use super::fields::{PfBudget, PfFields};
use super::version::{HEADER, PfLayout};
use super::volumes::reference;
use model::PfListedFile;

/// Pairs of offset and count in the header.
const ENTRIES: usize = HEADER;
const CHAINS: usize = HEADER + 8;
const NAMES: usize = HEADER + 16;
/// Where an entry of trace chains has its place in the file: behind the number of the next entry,
/// which later versions leave out.
const CHAIN_ENTRY_WITHOUT_NEXT: usize = 8;

/// The parts that an entry leads to.
struct Parts<'a> {
    names: PfFields<'a>,
    chains: PfFields<'a>,
}

/// The listed files that can be read. What cannot be is a problem.
pub(super) fn read(
    fields: PfFields,
    layout: &PfLayout,
    budget: &mut PfBudget,
    problems: &mut Vec<String>,
) -> Vec<PfListedFile> {
    let none = PfFields(&[]);
    let entries = table(fields, ENTRIES, layout.file_entry);
    let chains = table(fields, CHAINS, layout.chain_entry);
    let names = table(fields, NAMES, 1);
    for (part, what) in
        [(&entries, "list of files"), (&chains, "trace chains"), (&names, "names of files")]
    {
        if part.is_none() {
            problems.push(format!("its {what} is not within the file").replace("s is", "s are"));
        }
    }
    let parts = Parts { names: names.unwrap_or(none), chains: chains.unwrap_or(none) };
    let mut files = Vec::new();
    let mut odd = 0;
    for entry in entries.unwrap_or(none).0.chunks_exact(layout.file_entry) {
        match file(PfFields(entry), layout, &parts, budget) {
            Some(file) => files.push(file),
            None => odd += 1,
        }
    }
    if odd > 0 {
        problems.push(format!("{odd} of its listed files have names or pages outside of it"));
    }
    files
}

/// The table whose offset and number of entries are at a place of the header.
fn table<'a>(fields: PfFields<'a>, place: usize, entry: usize) -> Option<PfFields<'a>> {
    let (at, count) = (fields.size(place)?, fields.size(place + 4)?);
    if count == 0 {
        return Some(PfFields(&[]));
    }
    fields.part(at, count.checked_mul(entry)?)
}

fn file(
    entry: PfFields,
    layout: &PfLayout,
    parts: &Parts,
    budget: &mut PfBudget,
) -> Option<PfListedFile> {
    let is_short = layout.file_entry == 20;
    let name = if is_short { 8 } else { 12 };
    let (at, characters) = (entry.size(name)?, entry.size(name + 4)?);
    budget.take(characters.checked_mul(2)?)?;
    let path = parts.names.text(at, characters)?;
    let (first, count) = (entry.size(0)?, entry.size(4)?);
    budget.take(count.checked_mul(layout.chain_entry)?)?;
    let from = first.checked_mul(layout.chain_entry)?;
    let chain = parts.chains.part(from, count.checked_mul(layout.chain_entry)?)?;
    let place = if layout.chain_entry == CHAIN_ENTRY_WITHOUT_NEXT { 0 } else { 4 };
    let places = chain.0.chunks_exact(layout.chain_entry).filter_map(|of| PfFields(of).u32(place));
    Some(PfListedFile {
        path,
        reference: if is_short { None } else { reference(entry.u64(24)?) },
        pages: places.map(|place| u64::from(place) * layout.place_bytes).collect(),
    })
}
