//! Programs that work as they are only: with a sanitizer in them, or with data of their own in
//! the file.

use crate::choose::members;
use image::elf::{Loadable, sanitizer, trailing_data};
use loader::Graph;

/// A sanitizer looks at where everything is in memory, in which order libraries stand, and whose
/// functions are called.
pub(crate) fn watched(graph: &Graph) -> Option<String> {
    let mut found = graph.modules.iter().enumerate();
    let (index, module, sanitizer) =
        found.find_map(|(index, module)| Some((index, module, sanitizer(&module.image)?)))?;
    let by = if index == 0 {
        "its run-time library is linked into it".to_owned()
    } else {
        format!("it uses {}", members::file_name(&module.path))
    };
    Some(format!(
        "it is built with {sanitizer}: {by}, which must find the program and its libraries as \
         separate files, in their order and in their part of memory; bundle a build without it"
    ))
}

/// What it reads in its own file is not in a bundle.
pub(crate) fn payload(program: &Loadable) -> Option<String> {
    let payload = trailing_data(program)?;
    Some(format!(
        "it has {payload}, which it may read from its own file while it runs (as self-extracting \
         programs and AppImages do), and which a bundle would not have; leave it as it is"
    ))
}
