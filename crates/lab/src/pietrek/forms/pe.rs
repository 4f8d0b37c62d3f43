//! The forms of the workload as PE images.

use super::{Form, Size, form};
use workload::{Bases, By, Hints, PeOptions, Pietrek, WorkloadError};

/// Bytes of a page: sections of files with this alignment can be mapped as they are.
const PAGE: u32 = 4096;

/// The forms of PE; the first is what the others are compared with.
///
/// Hints are right in every row but one, as the linker of the column wrote them.
///
/// # Errors
/// The format has no room for the workload.
pub fn forms(base: &Pietrek) -> Result<Vec<Form>, WorkloadError> {
    let imports = Size::new(base).imports;
    let moved = Pietrek { dlls: base.dlls.saturating_sub(1), ..base.clone() };
    let relocations = Size::new(&moved).relocations;
    let default = || Pietrek {
        pe: PeOptions { bases: Bases::Default, hints: Hints::Right, ..base.pe },
        ..base.clone()
    };
    let with = |pe: PeOptions| Pietrek { pe, ..default() };
    let based = PeOptions { bases: Bases::Chosen, ..default().pe };
    let by_ordinal = |form: Pietrek| Pietrek { by: By::Ordinal, ..form };
    Ok(vec![
        form(
            "default",
            Some("default"),
            format!(
                "all libraries at one base, so all but the first are moved: {relocations} \
                 relocations; {imports} imports by name, with right hints"
            ),
            default(),
        )?,
        form("based", Some("based"), "chosen bases: nothing is relocated".to_owned(), with(based))?,
        form(
            "default, by ordinal",
            Some("default, by ordinal"),
            "as default, imports by ordinal".to_owned(),
            by_ordinal(default()),
        )?,
        form(
            "based, by ordinal",
            Some("based, by ordinal"),
            "chosen bases, imports by ordinal".to_owned(),
            by_ordinal(with(based)),
        )?,
        form(
            "based, zero hints",
            None,
            "as based, by name, hints all zero as lld writes them: names are searched for"
                .to_owned(),
            with(PeOptions { hints: Hints::Zero, ..based }),
        )?,
        form(
            "based, page-aligned",
            None,
            "as based, FileAlignment 4096 instead of 512: Wine maps sections instead of reading \
             them"
                .to_owned(),
            with(PeOptions { file_alignment: PAGE, ..based }),
        )?,
        form(
            "no libraries",
            None,
            "Wine alone: no form can be faster".to_owned(),
            Pietrek { dlls: 0, ..default() },
        )?,
    ])
}
