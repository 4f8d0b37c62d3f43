//! A script in the place of a program: which program to name instead.

use crate::exit::{self, WithCode};
use crate::programs::{install_words, not_replaced};
use anyhow::Result;
use model::{Command, quoted, quoted_path, text};
use optimize::Terms;
use std::path::Path;
use std::time::Duration;

/// A launch that takes longer is not followed to its end.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Why a script is not bundled, and which program takes the time: as read, or with `arguments` as a launch
/// shows it.
///
/// # Errors
/// Always.
pub fn refuse(script: &Path, command: &Command, folder: &Path) -> Result<()> {
    let text = match command.argv.len() {
        0 | 1 => read(script),
        _ => followed(script, command, folder)?,
    };
    let text = format!("{} is a script, which has no libraries. {text}", quoted(script));
    Err(WithCode { code: exit::NO, text }.into())
}

/// What can be read of it.
fn read(script: &Path) -> String {
    if let Some(program) = optimize::last_exec(script).filter(|one| !optimize::is_script(one)) {
        return format!(
            "Its last command executes {} by this path. {}",
            quoted(&program),
            faster(&program, None)
        );
    }
    match optimize::interpreter_of(script) {
        Some(interpreter) => {
            format!("{} reads it. {}", quoted(&interpreter), faster(&interpreter, None))
        }
        None => format!(
            "To see which of the programs that it starts takes the time, and what a bundle of that \
             program gains: headstart optimize -- {} ARGUMENTS",
            quoted_path(script)
        ),
    }
}

/// What a launch shows.
fn followed(script: &Path, command: &Command, folder: &Path) -> Result<String> {
    let terms = Terms { timeout: TIMEOUT, ignore_failure: true, cpu: None, check: None };
    let programs = optimize::programs_of(command, &terms)?;
    let Some(program) = programs.first().filter(|program| program.reason.is_none()) else {
        return Ok(
            "None of the programs that this launch starts would gain from a bundle.".to_owned()
        );
    };
    let set = program.environment.iter().find(|(name, _)| name == "LD_LIBRARY_PATH");
    Ok(format!(
        "In this launch, {} takes {} of the time, and loading it takes {}. {}. To see what the launch gains: \
         headstart optimize --only bundle --out {} -- {} {}",
        quoted(&program.path),
        percent(program.share),
        percent(program.loading_share),
        faster(Path::new(&text::name(&program.path)), set.map(|(_, value)| value.as_str())),
        quoted_path(folder),
        quoted_path(script),
        arguments(command)
    ))
}

/// What makes the starts of a program by its path faster.
fn faster(program: &Path, library_path: Option<&str>) -> String {
    let value = library_path.map(text::name);
    let path = quoted(program);
    match not_replaced(program, value.as_deref()) {
        None => {
            let set = library_path.map(|value| format!("--library-path {} ", quoted(value)));
            let install = install_words().install;
            format!("To make it start faster: {install} {}{path}", set.unwrap_or_default())
        }
        Some(reason) => format!(
            "Nothing can be installed in its place ({reason}); to make it start faster, start a bundle of it \
             instead: headstart bundle --out DIR {path}"
        ),
    }
}

fn percent(share: Option<f64>) -> String {
    format!("{:.0} %", share.unwrap_or(0.0) * 100.0)
}

fn arguments(command: &Command) -> String {
    let words: Vec<String> = command.argv.iter().skip(1).map(quoted).collect();
    words.join(" ")
}
