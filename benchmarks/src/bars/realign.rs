//! Every real PE file laid out anew: the same facts and memory, valid checksums stay valid, and
//! the former layout gives the former bytes.

use crate::context::Context;
use crate::report::{Report, Row};
use crate::subjects::pe_files;
use anyhow::Result;
use dlls::realign::{RealignOptions, realign};
use dlls::signature;
use image::pe::edit::{KeepChecksum, PeDraft};
use image::pe::{Pe, facts_of};
use model::PeFacts;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// Refusals that users are told of in docs/optimizations/realign.md, by words of theirs.
const DOCUMENTED: [&str; 3] = ["were appended to it", "less than a page", "FORCE_INTEGRITY"];
/// OpenFiles that must get every byte back, of those that were laid out anew.
const LEAST_RESTORED: f64 = 0.99;

/// What became of one file.
enum Outcome {
    /// It was laid out anew; whether the way back gave every byte.
    Done { restored: bool },
    /// A sentence.
    Refused(String),
    /// What is wrong.
    Failed(String),
}

/// A row for each set of files.
///
/// # Errors
/// A package cannot be downloaded.
pub fn check(_context: &Context) -> Result<Report> {
    let mut rows = Vec::new();
    let (mut done, mut exact) = (0_usize, 0_usize);
    for set in pe_files::all()? {
        let outcomes: Vec<Outcome> = set.files.par_iter().map(|file| outcome(file)).collect();
        let (mut refused, mut failed) = (BTreeMap::new(), Vec::new());
        for outcome in &outcomes {
            match outcome {
                Outcome::Done { restored } => {
                    done += 1;
                    exact += usize::from(*restored);
                }
                Outcome::Refused(reason) => *refused.entry(reason.as_str()).or_insert(0) += 1,
                Outcome::Failed(reason) => failed.push(reason.as_str()),
            }
        }
        let known = |reason: &&str| DOCUMENTED.iter().any(|words| reason.contains(words));
        let good = failed.is_empty() && refused.keys().all(known);
        let mut value = format!("{} files, {} failed", outcomes.len(), failed.len());
        refused.iter().for_each(|(reason, count)| value += &format!("; {count}: {reason}"));
        failed.iter().take(3).for_each(|reason| value += &format!("; {reason}"));
        rows.push(Row::bar(set.name, value, "0 failed", good));
    }
    let share = exact as f64 / done.max(1) as f64;
    let value = format!("{exact} of {done}");
    rows.push(Row::bar("every byte back", value, "≥ 99 %", share >= LEAST_RESTORED));
    Ok(Report { rows })
}

fn outcome(file: &Path) -> Outcome {
    let failed = |reason: String| Outcome::Failed(format!("{}: {reason}", file.display()));
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) => return failed(error.to_string()),
    };
    let image = match Pe::parse("it", &bytes) {
        Ok(image) => image,
        Err(error) => return failed(error.to_string()),
    };
    let mut draft = PeDraft::of(&image);
    if let Err(no) = signature::settle(&mut draft, "it", true) {
        return Outcome::Refused(no.to_string());
    }
    let old = draft.finish(KeepChecksum::AsItWas);
    let own = image.headers().file_alignment;
    let other = if own == 4096 { 512 } else { 4096 };
    let new = match laid_out(&old, other) {
        Ok(new) => new,
        Err(reason) => return Outcome::Refused(reason),
    };
    match (facts(&old), facts(&new), laid_out(&new, own)) {
        (Ok(before), Ok(after), Ok(back)) if before == after => {
            Outcome::Done { restored: back == old }
        }
        (Ok(_), Ok(_), Ok(_)) => failed("other facts".to_owned()),
        (before, after, back) => {
            let errors = [before.err(), after.err(), back.err()];
            failed(errors.into_iter().flatten().collect::<Vec<_>>().join(", "))
        }
    }
}

fn laid_out(bytes: &[u8], file_alignment: u32) -> Result<Vec<u8>, String> {
    let mut draft = PeDraft::read("it", bytes.to_vec()).map_err(|error| error.to_string())?;
    let options = RealignOptions { file_alignment, keep_overlay: false };
    realign(&mut draft, "it", &options).map_err(|no| no.to_string())?;
    Ok(draft.finish(KeepChecksum::AsItWas))
}

/// All facts but those of the layout; of the checksum, whether it is right.
fn facts(bytes: &[u8]) -> Result<PeFacts, String> {
    let mut facts = facts_of("it", bytes).map_err(|error| error.to_string())?;
    facts.file_bytes = 0;
    facts.file_alignment = 0;
    let right = facts.checksum.stored == facts.checksum.computed;
    facts.checksum.stored = u32::from(right);
    facts.checksum.computed = 0;
    for section in &mut facts.sections {
        section.offset = model::FileOffset(0);
        section.file_bytes = 0;
    }
    Ok(facts)
}
