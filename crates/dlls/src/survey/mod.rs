//! What can be said of images only beside each other: hints, bindings, bases, time stamps.

mod collisions;
mod findings;
mod names;
mod references;
mod remedy;
mod twins;

pub use references::look_up;

use model::{PE_SET_SCHEMA, PeFacts, PeSet};

/// Looks at images that are loaded together. Their facts should have been completed by
/// [`look_up`].
pub fn survey(files: Vec<PeFacts>) -> PeSet {
    let collisions = collisions::find(&files);
    let twins = twins::find(&files);
    let findings = findings::all(&files, &collisions, &twins);
    PeSet { schema: PE_SET_SCHEMA, files, collisions, twins, findings }
}

#[cfg(test)]
mod tests;
