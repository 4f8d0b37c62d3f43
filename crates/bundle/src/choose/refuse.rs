//! Why a program is not bundled.

use crate::choose::{by_processor, members, unsuitable};
use crate::error::{BundleAdvice, DeclineReason};
use crate::make::BundleOptions;
use crate::verify;
use files::{Privilege, privilege};
use image::elf::Loadable;
use loader::{Environment, Graph};
use model::bundle::BundleCheck;
use std::path::Path;

const MACHINE: &str = "x86_64";

fn other_machine(program: &Loadable) -> String {
    format!("it is for {}, and bundles are made for {MACHINE}", program.machine)
}

/// That a program is for another machine, whose libraries would not be found either.
pub(crate) fn of_another_machine(program: &Path) -> Option<String> {
    let program = Loadable::open(program).ok()?;
    (program.machine != MACHINE).then(|| other_machine(&program))
}

/// Why this program is not bundled.
pub(crate) fn reason(
    graph: &Graph,
    environment: &Environment,
    options: &BundleOptions,
) -> Option<DeclineReason> {
    let program = &graph.program();
    if program.image.machine != MACHINE {
        return Some(other_machine(&program.image).into());
    }
    if let Some(reason) = verify::is_already(&program.image) {
        return Some(reason.into());
    }
    if environment.preload.is_some() {
        return Some("LD_PRELOAD is set, which a bundle could not follow; unset it".into());
    }
    if program.image.fixed && !options.fixed {
        return Some(
            DeclineReason::from("its own addresses are fixed (ET_EXEC), so it cannot move")
                .with(BundleAdvice::MakeFixed),
        );
    }
    if let Some(privilege) = privilege(&program.path).map(Privilege::name) {
        let reason = format!(
            "it is {privilege}, and a copy would not have its privileges; leave it as it is"
        );
        return Some(reason.into());
    }
    if options.check != BundleCheck::Host
        && let Some(reason) = by_processor::of_program(&program.image)
    {
        return Some(reason.into());
    }
    unsuitable::watched(graph)
        .or_else(|| unsuitable::payload(&program.image))
        .or_else(|| members::cannot_be_merged(&program.image))
        .map(DeclineReason::from)
}
