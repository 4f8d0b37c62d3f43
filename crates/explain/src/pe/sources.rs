//! Where the figures of an explanation come from, and what each source cannot see.

use super::inputs::PeInputs;
use super::timeline::Timeline;
use model::figures::{count, duration};
use model::{Reading, Source};

/// One source per group of figures.
pub(super) fn sources(inputs: &PeInputs, timeline: Option<&Timeline>) -> Vec<Source> {
    let Some(timeline) = timeline else {
        let missing = match &inputs.debugged {
            Reading::Unavailable { reason, remedy } if remedy.is_empty() => reason.clone(),
            Reading::Unavailable { reason, remedy } => format!("{reason}; {remedy}"),
            Reading::Value(_) => "no launch was debugged".to_owned(),
        };
        return ["phases", "modules"].map(|figures| source(figures, "none", &missing)).into();
    };
    vec![
        source("phases", DEBUG_API, &phases(timeline)),
        source("modules", DEBUG_API, &modules(inputs)),
        source("others", "none", OTHERS),
    ]
}

/// The mechanism.
pub(crate) const DEBUG_API: &str = "debug API";

/// What is not asked of Windows.
const OTHERS: &str = "headstart for Windows does not record page faults, files that are looked up, CPUID \
                      instructions, waits and functions";

fn source(figures: &str, mechanism: &str, caveat: &str) -> Source {
    let [figures, mechanism, caveat] = [figures, mechanism, caveat].map(str::to_owned);
    Source { figures, mechanism, caveat }
}

fn phases(timeline: &Timeline) -> String {
    let stops = count(timeline.launch.stops.len() as u64);
    let held: f64 = timeline.launch.stops.iter().map(|stop| stop.held_us).sum();
    format!(
        "the times of a debugged launch of {} brought to the median launch without a debugger: taken out \
         are {} in which headstart held the program, and {} for each of {stops} stops: what is shorter may \
         read as 0. The entry point ends the initializers, and with them what the program initializes \
         before it (TLS callbacks)",
        duration(timeline.launch.total_us),
        duration(held),
        duration(timeline.clock.stop_us),
    )
}

fn modules(inputs: &PeInputs) -> String {
    let whose = match &inputs.wine {
        Some(version) => format!("Wine {version}'s loader, not that of Windows. "),
        None => String::new(),
    };
    format!(
        "{whose}The time of a DLL is that since the one before it was mapped, in which the loader also \
         relocates and binds others; an initializer's time lasts until the next one is called, and holds \
         those of DLLs that it loads. From the program's entry point on initializers are not seen"
    )
}
