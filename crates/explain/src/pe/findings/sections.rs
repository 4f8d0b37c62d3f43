//! The finding on sections that Wine reads instead of mapping them.

use super::{Context, names};
use crate::advice::ExplainAdvice;
use model::Finding;
use model::figures::bytes;

/// From this on it is told.
const LEAST_BYTES: u64 = 64 * 1024;

pub(super) fn find(context: &Context) -> Option<Finding> {
    context.inputs.wine.as_ref()?;
    let read = context.own_dlls().filter_map(|(module, facts)| {
        let bytes: u64 =
            facts.unmapped_sections().map(|section| u64::from(section.file_bytes)).sum();
        (bytes > 0).then_some((module.path.as_str(), bytes))
    });
    let read: Vec<_> = read.collect();
    let total: u64 = read.iter().map(|(_, bytes)| bytes).sum();
    (total >= LEAST_BYTES).then(|| {
        context.part_of_loading(
            "file-alignment",
            format!("Wine reads {} of sections instead of mapping them", bytes(total)),
            vec![
                names(read.iter().map(|(path, _)| *path)),
                "their file offsets are not multiples of 4096; Windows maps such sections anyway"
                    .to_owned(),
            ],
            format!("Align them: {}.", (context.words)(ExplainAdvice::Realign)),
        )
    })
}
