//! What can be said of images only beside each other: hints, bindings, bases, time stamps.

mod collisions;
mod findings;
mod names;
mod obstacle;
mod references;
mod twins;

pub use findings::{FindingKind, SurveyFinding};
pub use names::SameName;
pub use obstacle::{Changeable, Obstacle};
pub use references::look_up;

use model::{Collisions, PeFacts, StampTwins};

/// Images that are loaded together, and what stands in each other's way.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Facts of every image, in the order in which they were named.
    pub files: Vec<PeFacts>,
    /// Preferred bases that overlap.
    pub collisions: Collisions,
    /// DLLs that Wine takes for the same at first.
    pub twins: Vec<StampTwins>,
    /// What can be done better, what costs most first.
    pub findings: Vec<SurveyFinding>,
    /// Files of one name, which cannot be written to one folder.
    pub same_name: Option<SameName>,
}

/// Looks at images that are loaded together. Their facts should have been completed by
/// [`look_up`].
pub fn survey(files: Vec<PeFacts>) -> Survey {
    let collisions = collisions::find(&files);
    let twins = twins::find(&files);
    let findings = findings::all(&files, &collisions, &twins);
    let same_name = names::same(&files);
    Survey { files, collisions, twins, findings, same_name }
}

#[cfg(test)]
mod tests;
