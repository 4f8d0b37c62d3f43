//! Files that the output of a launched program does not replace.

use crate::{LabError, StreamKind};
use files::Stamp;
use model::{FileKind, OutputTo, Streams, Variant};
use std::io;
use std::path::Path;

/// Checks that what a program writes goes to none of the files that the launches need: programs, their
/// input, and files that their arguments name. They would be emptied.
///
/// # Errors
/// It is one of these, by whatever name.
pub fn check(streams: &Streams, variants: &[Variant]) -> Result<(), LabError> {
    let OutputTo::File(path) = &streams.output else { return Ok(()) };
    // Devices take output and stay.
    let Some(there) = Stamp::now(path).filter(|_| path.is_file()) else { return Ok(()) };
    let is_it = |other: &Path| {
        let other = Stamp::now(other);
        other.is_some_and(|other| other.identity == there.identity)
    };
    let needs = |variant: &Variant| {
        let command = &variant.command;
        let words = command.argv.iter().map(Path::new);
        let input = variant.streams.input.iter().map(|input| input.as_path());
        words.chain(input).chain([command.program.as_path()]).any(is_it)
    };
    let found = if variants.iter().any(needs) {
        "the launches need this file, which the output would replace"
    } else if is_image(path) {
        "it is a program or a library, which the output would replace"
    } else {
        return Ok(());
    };
    let source = io::Error::other(found);
    Err(LabError::Stream { stream: StreamKind::Output, path: path.clone(), source })
}

fn is_image(path: &Path) -> bool {
    let identity = image::identify::identify(path);
    identity.is_ok_and(|identity| matches!(identity.kind, FileKind::Elf | FileKind::Pe))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Command;

    #[test]
    fn what_launches_need_is_no_output() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["program", "input", "argument", "other"] {
            std::fs::write(at(name), name).unwrap();
        }
        std::fs::hard_link(at("program"), at("second name")).unwrap();
        let command = Command {
            argv: vec![at("program").into(), at("argument").into()],
            program: at("program"),
            directory: None,
            environment: Vec::new(),
        };
        let mut variant = Variant::new("a".to_owned(), command);
        variant.streams.input = Some(at("input"));
        let to = |name: &str| {
            let output = OutputTo::File(at(name));
            check(&Streams { output, ..Streams::default() }, std::slice::from_ref(&variant))
        };
        for name in ["program", "second name", "input", "argument"] {
            assert!(matches!(to(name), Err(LabError::Stream { .. })), "{name}");
        }
        std::fs::copy(std::env::current_exe().unwrap(), at("image")).unwrap();
        assert!(to("image").is_err(), "another program");
        assert!(to("other").is_ok() && to("new").is_ok());
    }
}
