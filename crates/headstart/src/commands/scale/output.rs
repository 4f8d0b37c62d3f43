//! What a sweep prints.

use crate::output;
use anyhow::{Context, Result};
use lab::sweep::Swept;
use model::growth::Scale;
use report::chart::{Chart, svg};
use serde::Serialize;
use std::path::Path;

/// Draws every chart into a folder; those of the creation of processes under names of their own.
pub fn draw(scale: &Scale, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let created = scale.of_creation();
    let created = created.iter().map(|created| ("created-", created));
    for (prefix, scale) in std::iter::once(("", scale)).chain(created) {
        for chart in Chart::ALL {
            let file = folder.join(format!("{prefix}{}.svg", chart.name()));
            output::write_file(&file, &svg(scale, &[chart]))?;
        }
    }
    Ok(())
}

/// Keeps the result in the run folder and prints it.
pub fn print(swept: &Swept, json: bool) -> Result<()> {
    keep(swept)?;
    output::print_either(json, &printed(swept), |style| report::scale::view(&swept.scale, style))
}

/// Keeps the result in the run folder, if there is one.
pub fn keep(swept: &Swept) -> Result<()> {
    if let Some(folder) = &swept.folder {
        folder.write_json("scale.json", &swept.scale)?;
    }
    Ok(())
}

/// What `--json` prints.
pub fn printed(swept: &Swept) -> Printed<'_> {
    let run = swept.folder.as_ref().map(|folder| folder.path().display().to_string());
    Printed { scale: &swept.scale, run }
}

/// `scale.json` of the run folder, and where that is.
#[derive(Serialize)]
pub struct Printed<'a> {
    #[serde(flatten)]
    scale: &'a Scale,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
}
