use anyhow::Result;
use workload::{Files, Pietrek, Workload};

/// A form of the workload: what one row of the table launches.
pub struct Form {
    /// Name of the row.
    pub name: &'static str,
    /// Folder of its files; forms that share one have the same files.
    pub folder: String,
    pub about: String,
    /// What the column calls that which it corresponds to.
    pub counterpart: Option<&'static str>,
    pub environment: Vec<(String, Option<String>)>,
    pub files: Files,
}

/// The forms of ELF; the first is what the others are compared with.
///
/// # Errors
/// The format has no room for the workload.
pub fn all(base: &Pietrek) -> Result<Vec<Form>> {
    let imports = u64::from(base.dlls) * u64::from(base.functions);
    let relocations = imports * u64::from(base.globals);
    let form = |name, counterpart, about: String, workload: Pietrek| -> Result<Form> {
        let files = workload::generate(&Workload::Pietrek(workload))?;
        let environment = Vec::new();
        Ok(Form { name, folder: name.replace(' ', "-"), about, counterpart, environment, files })
    };
    let plain = || base.clone();
    let bare = Pietrek { globals: 0, ..plain() };
    let functions = u32::try_from(imports).unwrap_or(u32::MAX);
    let lazy = form(
        "lazy",
        Some("bound"),
        "imports are bound at their first call, of which there is none".to_owned(),
        Pietrek { lazy: true, ..plain() },
    )?;
    let eager = Form {
        name: "lazy, bound eagerly",
        folder: lazy.folder.clone(),
        about: "the same program with LD_BIND_NOW=1: as default, if the form does not matter"
            .to_owned(),
        counterpart: None,
        environment: vec![("LD_BIND_NOW".to_owned(), Some("1".to_owned()))],
        files: workload::generate(&Workload::Pietrek(Pietrek { lazy: true, ..plain() }))?,
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
            Some("based and bound"),
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

/// What is launched, in words.
pub fn words(base: &Pietrek) -> String {
    use model::figures::plural;
    let libraries = plural(base.dlls.into(), "library", "libraries");
    let functions = plural(base.functions.into(), "function", "functions");
    let globals = plural(base.globals.into(), "global", "globals");
    format!("{libraries} of {functions} with {globals} each")
}
