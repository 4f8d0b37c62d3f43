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

/// What headstart does not ask Windows for.
const OTHERS: &str = "headstart for Windows does not record page faults, file look-ups, CPUID instructions, \
                      waits or functions";

fn source(figures: &str, mechanism: &str, caveat: &str) -> Source {
    let [figures, mechanism, caveat] = [figures, mechanism, caveat].map(str::to_owned);
    Source { figures, mechanism, caveat }
}

fn phases(timeline: &Timeline) -> String {
    let stops = count(timeline.launch.stops.len() as u64);
    let held: f64 = timeline.launch.stops.iter().map(|stop| stop.held_us).sum();
    format!(
        "{}, {} long. Taken out are {} for which headstart held the program, and {} for each of {stops} stops, \
         so that shorter times may read as 0; the rest is scaled to the median launch without a debugger. \
         The phase initialize ends at the program's entry point, so it includes the program's TLS callbacks",
        match timeline.launches {
            1 => "a debugged launch".to_owned(),
            more => format!("the middle of {more} debugged launches that went the same way"),
        },
        duration(timeline.launch.total_us),
        duration(held),
        duration(timeline.clock.stop_us),
    )
}

fn modules(inputs: &PeInputs) -> String {
    let whose = match &inputs.wine {
        Some(version) => {
            format!("the times are those of Wine {version}'s loader, not of the Windows loader. ")
        }
        None => String::new(),
    };
    format!(
        "{whose}A DLL's time runs from the mapping of the DLL before it to its own, and includes relocating \
         and binding other DLLs. An initializer's time is that of its DllMain, without others that run \
         meanwhile. From the program's entry point on, initializers are not seen"
    )
}
