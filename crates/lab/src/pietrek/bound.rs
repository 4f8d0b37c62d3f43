//! Forms whose program is bound to its libraries.

use super::forms::Form;
use super::{PietrekError, PietrekPath};
use crate::LabError;
use dlls::bind::bind_set;
use dlls::rewrite::{Destination, RewriteMode, RewriteRequest, Step, Watcher};
use std::path::{Path, PathBuf};

/// Nobody is told of the few files.
struct Unwatched;

impl Watcher for Unwatched {
    fn begins(&self, _step: Step, _files: usize) -> Box<dyn Fn() + Send + Sync> {
        Box::new(|| {})
    }

    fn waits(&self, _folder: &Path) {}
}

/// Writes the files of a form to `folder`, its program bound to the libraries beside it.
pub fn write(form: &Form, folder: &Path) -> Result<(), PietrekError> {
    let unbound = folder.with_extension("unbound");
    form.files.write_to(&unbound).map_err(LabError::from)?;
    let files: Vec<PathBuf> = form.files.names().map(|name| unbound.join(name)).collect();
    let mode = RewriteMode::Write(Destination::Folder(folder.to_owned()));
    let request = RewriteRequest { files, mode, strip_signature: false, checksum: false };
    let bound = bind_set(&request, &[], &Unwatched);
    bound.map_err(|error| PietrekError::Bind(Box::new(error)))?;
    let failed = |error| PietrekError::io(&unbound, PietrekPath::Workloads, error);
    std::fs::remove_dir_all(&unbound).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::pe::Pe;
    use workload::{Bases, By, Format, PeOptions, Pietrek, Workload};

    #[test]
    fn the_program_of_a_bound_form_is_bound_to_every_library() {
        let pe = PeOptions { bases: Bases::Chosen, ..PeOptions::default() };
        for by in [By::Name, By::Ordinal] {
            let small =
                Pietrek { dlls: 3, functions: 4, by, format: Format::Pe, pe, ..Pietrek::default() };
            let files = workload::generate(&Workload::Pietrek(small)).unwrap();
            let form = Form {
                name: "bound",
                folder: "bound".to_owned(),
                about: String::new(),
                counterpart: None,
                environment: Vec::new(),
                bound: true,
                files,
            };
            let place = tempfile::tempdir().unwrap();
            let folder = place.path().join("bound");
            write(&form, &folder).unwrap();
            let program = std::fs::read(folder.join(form.files.program())).unwrap();
            let program = Pe::parse("program", &program).unwrap();
            let bound = program.bound_imports().map(|bound| bound.unwrap().time_stamp);
            // KERNEL32, which is not at hand, and three libraries.
            assert_eq!(bound.map(|stamp| stamp > 0).collect::<Vec<_>>(), [false, true, true, true]);
            assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
        }
    }
}
