//! Hints, binding and ordinals on every real PE file at hand: each folder of a package is a set,
//! with the package's other folders to look into.

use crate::report::Row;
use crate::subjects::pe_files::{self, Set as Package};
use anyhow::Result;
use dlls::elsewhere::Exclusions;
use dlls::{MemberId, OpenFiles, Refusal, Set, bind, hints, ordinal, tables};
use image::pe::edit::{KeepChecksum, PeDraft};
use image::pe::{Pe, PeFile};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What came of some files.
#[derive(Clone, Debug, Default)]
struct Counts {
    checked: u64,
    wrong: u64,
    still_wrong: u64,
    bound: u64,
    addresses: u64,
    converted: u64,
    /// Rewritings that went wrong.
    failures: Vec<String>,
    /// OpenFiles that are left, by the reason.
    declined: BTreeMap<String, u64>,
}

impl Counts {
    fn add(mut self, other: Counts) -> Counts {
        self.checked += other.checked;
        self.wrong += other.wrong;
        self.still_wrong += other.still_wrong;
        self.bound += other.bound;
        self.addresses += other.addresses;
        self.converted += other.converted;
        self.failures.extend(other.failures);
        for (reason, count) in other.declined {
            *self.declined.entry(reason).or_default() += count;
        }
        self
    }

    fn decline(&mut self, path: &str, declined: &Refusal) {
        let text = declined.to_string();
        let reason = text.strip_prefix(path).unwrap_or(&text).trim_start_matches(": ");
        // Numbers differ from file to file; what is wrong does not.
        let reason: String = reason.chars().filter(|c| !c.is_ascii_digit()).collect();
        *self.declined.entry(reason).or_default() += 1;
    }
}

/// Rows for each package, and one for what was declined.
pub fn rows() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut all = Counts::default();
    for package in pe_files::all()? {
        let counts = package_counts(&package)?;
        let value = format!(
            "{} of {} hints wrong, 0 wanted: {} left; {} files bound, {} addresses; {} by ordinal",
            counts.wrong,
            counts.checked,
            counts.still_wrong,
            counts.bound,
            counts.addresses,
            counts.converted
        );
        let good = counts.still_wrong == 0 && counts.failures.is_empty();
        let figure = format!("{}, {} files", package.name, package.files.len());
        rows.push(Row::bar(figure, value, "0 left, 0 failures", good));
        all = all.add(counts);
    }
    let failures = all.failures.len();
    let first = all.failures.first().cloned().unwrap_or_default();
    let value = format!("{failures} {first}").trim_end().to_owned();
    rows.push(Row::bar(
        "unbound = original, ordinals lead where names led",
        value,
        "0 failures",
        failures == 0,
    ));
    for (reason, count) in &all.declined {
        rows.push(Row::shown(format!("declined, {count} files"), reason.clone()));
    }
    Ok(rows)
}

fn package_counts(package: &Package) -> Result<Counts> {
    let mut folders: BTreeMap<&Path, Vec<PathBuf>> = BTreeMap::new();
    for file in &package.files {
        let folder = file.parent().unwrap_or(Path::new("."));
        // Programs for DOS begin in the same way.
        if PeFile::open(file).is_ok() {
            folders.entry(folder).or_default().push(file.clone());
        }
    }
    let search: Vec<PathBuf> = folders.keys().map(|&folder| folder.to_owned()).collect();
    let mut all = Counts::default();
    for paths in folders.values() {
        let files = OpenFiles::open(paths, &search)?;
        let set = files.set();
        set.unambiguous()?;
        let each = set.named().collect::<Vec<_>>().into_par_iter().map(|id| one(&set, id));
        all = all.add(each.reduce(Counts::default, Counts::add));
    }
    Ok(all)
}

fn one(set: &Set<'_>, id: MemberId) -> Counts {
    let mut counts = Counts::default();
    let member = set.member(id);
    let (path, file) = (member.name(), member.pe());
    match rewritten(set.draft(id), hints::repair) {
        Ok((_, done)) => {
            counts.wrong = done.repaired + done.shared + done.beyond;
            counts.checked = counts.wrong + done.right_before;
            counts.still_wrong = done.shared + done.beyond;
        }
        Err(declined) => counts.decline(&path, &declined),
    }
    match rewritten(set.draft(id), bind::bind) {
        Ok((new, done)) if !done.dlls.is_empty() => {
            counts.bound = 1;
            counts.addresses = done.dlls.iter().map(|dll| dll.imports).sum();
            let undone = Pe::parse(&path, &new).ok().and_then(|bound| {
                rewritten(PeDraft::of(&bound), |draft| bind::unbind(draft, &path)).ok()
            });
            if !done.was_bound && undone.is_none_or(|(bytes, _)| bytes != file.bytes()) {
                counts.failures.push(format!("{path}: unbound it is not the original"));
            }
        }
        Ok(_) => {}
        Err(declined) => counts.decline(&path, &declined),
    }
    match rewritten(set.draft(id), |draft| ordinal::convert(draft, &Exclusions::none())) {
        Ok((new, done)) => {
            counts.converted = done.functions.len() as u64;
            if leads(set, id, file)
                != Pe::parse(&path, &new).ok().and_then(|new| leads(set, id, &new))
            {
                counts.failures.push(format!("{path}: an ordinal leads elsewhere"));
            }
        }
        Err(declined) => counts.decline(&path, &declined),
    }
    counts
}

fn rewritten<D: Into<PeDraft>, T>(
    mut draft: D,
    rewrite: impl FnOnce(&mut D) -> Result<T, Refusal>,
) -> Result<(Vec<u8>, T), Refusal> {
    let done = rewrite(&mut draft)?;
    Ok((draft.into().finish(KeepChecksum::AsItWas), done))
}

/// Where all imports of an image lead that lead somewhere: DLL and address.
fn leads(
    set: &Set<'_>,
    importer: MemberId,
    file: &Pe<'_>,
) -> Option<Vec<Option<(MemberId, model::Rva)>>> {
    let tables = tables::read("", file).ok()?;
    let imports = tables.iter().flat_map(|from| {
        let to = |by| set.resolve(importer, from.from.name, by).ok().map(|to| (to.dll, to.rva));
        from.imports.iter().map(move |import| to(import.by))
    });
    Some(imports.collect())
}
