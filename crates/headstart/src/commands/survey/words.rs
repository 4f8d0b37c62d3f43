//! A survey in words: causes, evidence, and what to do.

use super::remedy::remedy;
use dlls::survey::{FindingKind, Survey};
use model::figures::{bytes, count, plural};
use model::{GuardFacts, PE_SET_SCHEMA, PeKind, PeSet, SetFinding};

/// The survey, with its findings in words.
pub(super) fn in_words(survey: Survey) -> PeSet {
    let findings = survey.findings.iter().map(|finding| SetFinding {
        id: finding.kind.id().to_owned(),
        cause: cause(&survey, &finding.kind, finding.files.len()),
        evidence: evidence(&survey, &finding.kind),
        files: finding.files.clone(),
        remedy: remedy(&survey, &finding.kind, &finding.changeable),
    });
    let findings = findings.collect();
    let Survey { files, collisions, twins, .. } = survey;
    PeSet { schema: PE_SET_SCHEMA, files, collisions, twins, findings }
}

/// What is the matter with so many images.
fn cause(survey: &Survey, kind: &FindingKind, number: usize) -> String {
    match kind {
        FindingKind::Problems => format!("{} malformed", are(number)),
        FindingKind::Immovable => {
            format!("{} cannot be loaded with the others", images(number))
        }
        FindingKind::Guard { .. } => {
            format!("{} a very large Control Flow Guard table", have(number))
        }
        FindingKind::Collisions { .. } => {
            let all = images(survey.files.len());
            format!("{} of {all} collide with others", count(number as u64))
        }
        FindingKind::WrongHints { wrong, checked } => {
            format!("{} of {} import hints are wrong", count(*wrong), count(*checked))
        }
        FindingKind::FileAlignment { .. } => {
            format!("{} sections that Wine cannot map", have(number))
        }
        FindingKind::SameStamps { .. } => {
            format!("{} share TimeDateStamp and CheckSum with others", images(number))
        }
        FindingKind::StaleBindings { .. } => {
            format!("{} bound to DLLs that have changed or that ASLR moves", are(number))
        }
        FindingKind::RunFromSwap => {
            format!("{} copied completely when started from other media (SWAPRUN)", are(number))
        }
        FindingKind::Checksums => {
            let made = if number == 1 { "its checksum was" } else { "their checksums were" };
            format!("{} changed after {made} made", images(number))
        }
    }
}

/// What was found, a sentence each.
fn evidence(survey: &Survey, kind: &FindingKind) -> Vec<String> {
    match kind {
        FindingKind::Problems => Vec::new(),
        FindingKind::Immovable => vec![
            "their preferred base is taken, and without relocations they cannot be moved"
                .to_owned(),
        ],
        FindingKind::Guard { path, kind, guard } => guard_tables(path, *kind, guard),
        FindingKind::Collisions { dynamic_base, .. } => moved(survey, *dynamic_base),
        FindingKind::WrongHints { .. } => {
            vec!["for each of these, the loader searches all names that the DLL exports".to_owned()]
        }
        FindingKind::FileAlignment { bytes: total } => vec![format!(
            "Wine reads {} of sections into the memory of each process instead of mapping them; \
             Windows maps them anyway",
            bytes(*total)
        )],
        FindingKind::SameStamps { largest, system_calls } => vec![
            format!(
                "the largest group: {} with time stamp {:#x} and checksum {:#x}",
                images(largest.files.len()),
                largest.time_stamp,
                largest.checksum
            ),
            format!(
                "Wine compares each pair that is loaded: {} system calls if all are",
                count(*system_calls)
            ),
        ],
        FindingKind::StaleBindings { dlls, .. } => {
            vec![format!(
                "loaders look up the imports from {} as if they were not bound",
                plural(*dlls as u64, "DLL", "DLLs")
            )]
        }
        FindingKind::RunFromSwap => vec![
            "from the network or removable media, Windows reads the whole file before it starts it"
                .to_owned(),
        ],
        FindingKind::Checksums => vec![
            "Windows refuses such files as drivers and as DLLs that are loaded at boot".to_owned(),
        ],
    }
}

fn guard_tables(path: &str, kind: PeKind, guard: &GuardFacts) -> Vec<String> {
    let kind = if kind == PeKind::Program { "a program" } else { "a DLL" };
    vec![
        format!(
            "{path} is {kind} with {} entries: at each start, Windows 10 before 1903 does about \
             {:.1} times the work of {} entries, because it grows with the square (an estimate)",
            count(guard.functions),
            guard.quadratic_cost(),
            count(GuardFacts::MANY)
        ),
        "this affects programs, at each start; newer versions of Windows, and Wine, are not \
         affected"
            .to_owned(),
    ]
}

fn moved(survey: &Survey, dynamic_base: usize) -> Vec<String> {
    let moving = format!(
        "moving them applies {} relocations on {}, which are then private to each process",
        count(survey.collisions.relocations),
        plural(survey.collisions.pages, "page", "pages")
    );
    let aslr = (dynamic_base > 0).then(|| {
        format!(
            "{} DYNAMICBASE: Windows moves these once per boot, for all processes; Wine and \
             Cygwin's fork use the preferred base",
            have(dynamic_base)
        )
    });
    [moving].into_iter().chain(aslr).collect()
}

fn images(number: usize) -> String {
    plural(number as u64, "image", "images")
}

fn are(number: usize) -> String {
    plural(number as u64, "image is", "images are")
}

fn have(number: usize) -> String {
    plural(number as u64, "image has", "images have")
}
