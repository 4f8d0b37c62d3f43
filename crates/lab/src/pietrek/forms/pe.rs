//! The forms of the workload as PE images.

use super::{Form, Size, form};
use workload::{Bases, By, Hints, PeOptions, Pietrek, WorkloadError};

/// Bytes of a page: sections of files with this alignment can be mapped as they are.
const PAGE: u32 = 4096;

/// What is launched where nothing but the loader is left to measure.
const LOADER: &str = if cfg!(windows) { "the loader" } else { "Wine" };

/// The forms of PE; the first is what the others are compared with.
///
/// Hints are right in every row but one, as the linker of the column wrote them.
///
/// # Errors
/// The format has no room for the workload.
pub fn forms(base: &Pietrek, with_bound: bool) -> Result<Vec<Form>, WorkloadError> {
    let default = || Pietrek {
        pe: PeOptions { bases: Bases::Default, hints: Hints::Right, ..base.pe },
        ..base.clone()
    };
    let with = |pe: PeOptions| Pietrek { pe, ..default() };
    let based = PeOptions { bases: Bases::Chosen, ..default().pe };
    let mut forms = of_the_column(base, &default(), &with(based), with_bound)?;
    forms.extend([
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
            format!("{LOADER} alone: no form can be faster"),
            Pietrek { dlls: 0, ..default() },
        )?,
    ]);
    Ok(forms)
}

/// Those of the column: by name, then by ordinal.
fn of_the_column(
    base: &Pietrek,
    default: &Pietrek,
    based: &Pietrek,
    with_bound: bool,
) -> Result<Vec<Form>, WorkloadError> {
    let imports = Size::new(base).imports;
    let moved = Pietrek { dlls: base.dlls.saturating_sub(1), ..base.clone() };
    let relocations = Size::new(&moved).relocations;
    let by_ordinal = |form: &Pietrek| Pietrek { by: By::Ordinal, ..form.clone() };
    let all = [
        form(
            "default",
            Some("default"),
            format!(
                "all libraries at one base, so all but the first are moved: {relocations} \
                 relocations; {imports} imports by name, with right hints"
            ),
            default.clone(),
        )?,
        form(
            "based",
            Some("based"),
            "chosen bases: nothing is relocated".to_owned(),
            based.clone(),
        )?,
        Form {
            bound: true,
            ..form(
                "bound",
                Some("bound"),
                "as based, and the program holds the addresses of its imports from the libraries"
                    .to_owned(),
                based.clone(),
            )?
        },
        form(
            "default, by ordinal",
            Some("default, by ordinal"),
            "as default, imports by ordinal".to_owned(),
            by_ordinal(default),
        )?,
        form(
            "based, by ordinal",
            Some("based, by ordinal"),
            "chosen bases, imports by ordinal".to_owned(),
            by_ordinal(based),
        )?,
        Form {
            bound: true,
            ..form(
                "bound, by ordinal",
                Some("bound, by ordinal"),
                "as bound, imports by ordinal".to_owned(),
                by_ordinal(based),
            )?
        },
    ];
    Ok(all.into_iter().filter(|form| with_bound || !form.bound).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_forms_are_there_with_bound_ones_where_they_mean_something() {
        let base = Pietrek { format: workload::Format::Pe, ..Pietrek::default() };
        let names = |with_bound| -> Vec<&str> {
            forms(&base, with_bound).unwrap().iter().map(|form| form.name).collect()
        };
        let all = names(true);
        let column = ["default", "based", "bound"];
        assert_eq!(all[..3], column);
        assert_eq!(all[3..6], column.map(|name| format!("{name}, by ordinal")));
        let unbound: Vec<&str> =
            all.iter().filter(|name| !name.starts_with("bound")).copied().collect();
        assert_eq!(names(false), unbound);
    }
}
