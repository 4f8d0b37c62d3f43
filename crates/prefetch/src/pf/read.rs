//! Reads a prefetch file: the header, and from there its parts.

use super::fields::{PfBudget, PfFields};
use super::problem::{PfError, PfProblem};
use super::version::{HEADER, PfLayout, layout};
use super::{files, mam, program, time, volumes};
use model::{PfFacts, PfFormat};
use std::fs::File;
use std::io::Read;
use std::path::Path;

const SIGNATURE: &[u8] = b"SCCA";
const SIGNATURE_AT: usize = 4;
/// Where the header has the name of the program; 30 characters with the NUL at its end.
const EXECUTABLE: (usize, usize) = (16, 30);
const FILE_SIZE: usize = 12;
const HASH: usize = 76;
const FLAGS: usize = 80;
const IS_BOOT: u32 = 1;
/// The largest file that is read. The largest that Windows writes have some 100 KiB.
pub const MOST_FILE_BYTES: u64 = 16 << 20;

/// What the prefetch file at `path` says.
///
/// # Errors
/// It cannot be read, or is none.
pub fn read(path: &Path) -> Result<PfFacts, PfError> {
    let io = |source| PfError::Io { path: path.to_owned(), source };
    let content = |source| PfError::Content { path: path.to_owned(), source };
    let size = std::fs::metadata(path).map_err(io)?.len();
    if size > MOST_FILE_BYTES {
        return Err(content(PfProblem::TooLarge(size)));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(io)?;
    file.take(MOST_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
    read_bytes(&path.to_string_lossy(), &bytes).map_err(content)
}

/// What a file of these bytes says.
///
/// # Errors
/// They are no prefetch file.
pub fn read_bytes(path: &str, bytes: &[u8]) -> Result<PfFacts, PfProblem> {
    if bytes.len() as u64 > MOST_FILE_BYTES {
        return Err(PfProblem::TooLarge(bytes.len() as u64));
    }
    let mut facts = match mam::begins(bytes) {
        false => scca(PfFields(bytes), PfProblem::OtherFile)?,
        true => {
            let (content, sound) = mam::content(bytes, usize::MAX)?;
            let mut facts = scca(PfFields(&content), PfProblem::OtherContent)?;
            facts.content_bytes = Some(content.len() as u64);
            if !sound {
                facts.problems.push("its checksum is wrong".to_owned());
            }
            facts
        }
    };
    path.clone_into(&mut facts.path);
    facts.file_bytes = bytes.len() as u64;
    Ok(facts)
}

/// Whether bytes begin as a prefetch file, compressed or not.
pub fn begins_as_one(bytes: &[u8]) -> bool {
    let signature = SIGNATURE_AT + SIGNATURE.len();
    match mam::begins(bytes) {
        false => is_scca(bytes),
        true => mam::content(bytes, signature).is_ok_and(|(content, _)| is_scca(&content)),
    }
}

fn is_scca(bytes: &[u8]) -> bool {
    bytes.get(SIGNATURE_AT..).is_some_and(|rest| rest.starts_with(SIGNATURE))
}

/// Reads what is not compressed; `other` where it is something else.
fn scca(fields: PfFields, other: PfProblem) -> Result<PfFacts, PfProblem> {
    if !is_scca(fields.0) {
        return Err(other);
    }
    let version = fields.u32(0).ok_or(PfProblem::CutShort)?;
    let layout = layout(version, fields).ok_or(PfProblem::Version(version))?;
    let mut facts = header(fields, version, &layout).ok_or(PfProblem::CutShort)?;
    if fields.size(FILE_SIZE) != Some(fields.0.len()) {
        let problem = "its size is not that which its header says: it is cut short or damaged";
        facts.problems.push(problem.to_owned());
    }
    // What a valid file has at one place belongs to one thing only; twice is generous.
    let mut budget = PfBudget(fields.0.len().saturating_mul(2));
    facts.files = files::read(fields, &layout, &mut budget, &mut facts.problems);
    facts.volumes = volumes::read(fields, &layout, &mut budget, &mut facts.problems);
    if let Some(place) = layout.text {
        match text(fields, place, &mut budget) {
            Some(text) => facts.text = text,
            None => facts.problems.push("its further text is not within the file".to_owned()),
        }
    }
    facts.hashed_path = program::hashed_path(&facts);
    Ok(facts)
}

fn header(fields: PfFields, version: u32, layout: &PfLayout) -> Option<PfFacts> {
    let (first, count) = layout.last_runs;
    let mut last_runs = Vec::new();
    for place in 0..count {
        last_runs.extend(time::utc(fields.u64(first + 8 * place)?));
    }
    // The last part of the longest header that is read.
    fields.part(HEADER, layout.text.map_or(layout.run_count + 4, |text| text + 8) - HEADER)?;
    Some(PfFacts {
        path: String::new(),
        format: PfFormat::Prefetch,
        version,
        windows: layout.windows.to_owned(),
        file_bytes: 0,
        content_bytes: None,
        executable: fields.text(EXECUTABLE.0, EXECUTABLE.1)?,
        hash: format!("{:08X}", fields.u32(HASH)?),
        hashed_path: None,
        boot: fields.u32(FLAGS)? & IS_BOOT != 0,
        run_count: fields.u32(layout.run_count)?,
        last_runs,
        files: Vec::new(),
        volumes: Vec::new(),
        text: None,
        problems: Vec::new(),
    })
}

/// A text that ends at a NUL; what is behind that is left over from others.
fn text(fields: PfFields, place: usize, budget: &mut PfBudget) -> Option<Option<String>> {
    let (at, bytes) = (fields.size(place)?, fields.size(place + 4)?);
    if bytes == 0 {
        return Some(None);
    }
    budget.take(bytes)?;
    let text = fields.text(at, bytes / 2)?;
    Some((!text.is_empty()).then_some(text))
}
