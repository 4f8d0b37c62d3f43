//! The imports of a whole set converted, and the record of it written.

use super::beside;
use super::convert::{ConvertedImports, convert};
use super::record::{RECORD, Record};
use super::verify::verify;
use crate::elsewhere::Exclusions;
use crate::error::FoundRecord;
use crate::rewrite::{
    Attempt, MemberDraft, RewriteRequest, RewrittenFile, SetRewrite, Watcher, all_or_none, settled,
};
use crate::{RewriteError, Set, names, tables};
use files::folder_of;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A set whose imports from each other are by ordinal.
#[derive(Debug)]
pub struct ConvertedSet {
    /// What became of the files.
    pub files: Vec<RewrittenFile<ConvertedImports>>,
    /// The record of what the ordinals mean; `None` where none was written.
    pub record: Option<PathBuf>,
    /// Patterns of names that fit no DLL that is imported from.
    pub without_match: Vec<String>,
}

/// Converts the imports of every file, except those from DLLs that fit one of `exclude`.
///
/// # Errors
/// There is a record already, a file is refused, or cannot be read or written. Nothing is written
/// then.
pub fn convert_set(
    request: &RewriteRequest,
    exclude: &[String],
    watcher: &dyn Watcher,
) -> Result<ConvertedSet, RewriteError> {
    let path = record_path(request)?;
    if !request.is_dry_run() && path.symlink_metadata().is_ok() {
        let found = found_record(&path);
        return Err(RewriteError::RecordExists { path, found });
    }
    let exclusions = Exclusions::new(exclude).map_err(RewriteError::Pattern)?;
    let change = |member: &mut MemberDraft<'_, '_>| convert(member, &exclusions);
    let rewrite = SetRewrite { change, search: Some(&[]), accept: all_or_none };
    let (mut record, mut without_match) = (None, Vec::new());
    // The record comes first: files without it are what nobody could check.
    let files = rewrite.run(request, watcher, |set, files, batch| {
        without_match = exclusions.without_match(&imported(set));
        let kept = new_record(set, files, &request.files)?;
        if let Some(kept) = kept.filter(|_| !request.is_dry_run()) {
            let text = kept.to_json();
            batch.write_first(&path, text.as_bytes(), 0o644)?;
            record = Some(path.clone());
        }
        Ok(())
    })?;
    Ok(ConvertedSet { files: settled(files)?, record, without_match })
}

/// Where the record is: beside the results, which have to be in one folder.
fn record_path(request: &RewriteRequest) -> Result<PathBuf, RewriteError> {
    if let Some(folder) = request.folder() {
        return Ok(folder.join(RECORD));
    }
    let first = request.files.first().map_or(Path::new("."), |file| folder_of(file));
    if !request.is_dry_run() && request.files.iter().any(|file| folder_of(file) != first) {
        return Err(RewriteError::SeveralFolders);
    }
    Ok(first.join(RECORD))
}

fn found_record(path: &Path) -> FoundRecord {
    match verify(folder_of(path)) {
        Err(_) => FoundRecord::Unreadable,
        Ok(found) if found.functions == 0 && found.mismatches.is_empty() => FoundRecord::Spent,
        Ok(_) => FoundRecord::InUse,
    }
}

/// The DLLs that images of a set import from.
fn imported(set: &Set<'_>) -> BTreeSet<Vec<u8>> {
    let named = set.named().map(|id| set.member(id));
    let tables = named.filter_map(|member| tables::read(&member.name(), member.pe()).ok());
    tables.flatten().map(|from| names::key(from.from.name)).collect()
}

/// The record of a set, if there is anything to be kept.
fn new_record(
    set: &Set<'_>,
    files: &[Attempt<ConvertedImports>],
    named: &[PathBuf],
) -> Result<Option<Record>, RewriteError> {
    let converted: Vec<(crate::MemberId, &ConvertedImports)> = set
        .named()
        .zip(files)
        .filter_map(|(id, file)| Some((id, file.done.as_ref().ok()?)))
        .collect();
    let before = beside::records(named)?;
    let any = converted.iter().any(|(_, converted)| !converted.functions.is_empty());
    if !any && Record::carried(&before, named).is_none() {
        return Ok(None);
    }
    let record = Record::of(set, &converted, &before)?;
    Ok((!record.importers.is_empty()).then_some(record))
}
