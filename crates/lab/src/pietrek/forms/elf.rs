//! The forms of the workload as ELF images.

use super::{Form, Size, form};
use workload::{Pietrek, WorkloadError};

/// The forms of ELF; the first is what the others are compared with.
///
/// # Errors
/// The format has no room for the workload.
pub fn forms(base: &Pietrek) -> Result<Vec<Form>, WorkloadError> {
    let Size { imports, relocations } = Size::new(base);
    let plain = || base.clone();
    let bare = Pietrek { globals: 0, ..plain() };
    let functions = u32::try_from(imports).unwrap_or(u32::MAX);
    let lazy = form(
        "lazy",
        None,
        "imports are bound at their first call, of which there is none".to_owned(),
        Pietrek { lazy: true, ..plain() },
    )?;
    let eager = Form {
        folder: lazy.folder.clone(),
        environment: vec![("LD_BIND_NOW".to_owned(), Some("1".into()))],
        ..form(
            "lazy, bound eagerly",
            None,
            "the same program with LD_BIND_NOW=1: as default, if the form does not matter"
                .to_owned(),
            Pietrek { lazy: true, ..plain() },
        )?
    };
    Ok(vec![
        form(
            "default",
            Some("default"),
            format!("{relocations} relocations, {imports} imports bound at start"),
            plain(),
        )?,
        form(
            "no relocations",
            Some("based"),
            "the globals hold no addresses: what a preferred base would save".to_owned(),
            bare.clone(),
        )?,
        lazy,
        eager,
        form(
            "neither",
            Some("bound"),
            "no relocations, nothing bound".to_owned(),
            Pietrek { lazy: true, ..bare },
        )?,
        form(
            "one library",
            None,
            format!("all {functions} functions in a single library"),
            Pietrek { dlls: 1, functions, ..plain() },
        )?,
        form(
            "no libraries",
            None,
            "the loader alone: no form can be faster".to_owned(),
            Pietrek { dlls: 0, ..plain() },
        )?,
    ])
}
