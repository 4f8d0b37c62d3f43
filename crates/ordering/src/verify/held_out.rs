//! What launches do that the order may not know: predicted from the real addresses of both builds,
//! as such a launch is not read cold.

use super::builds::ModulePair;
use super::repeated::Repeated;
use super::subject;
use crate::CalledFunctions;
use crate::plan::forecaster;
use crate::predict::TextPlacement;
use crate::subject::Subject;
use image::ImageError;
use model::{FunctionId, LayoutFigures};

/// The figures of each launch of one build, of all its relinked modules.
pub fn figures(pairs: &[ModulePair], side: usize) -> Result<Vec<LayoutFigures>, ImageError> {
    let mut sums: Vec<LayoutFigures> = Vec::new();
    for pair in pairs {
        let subject = subject(pair, side)?;
        for (launch, called) in pair.sides[side].launches.iter().enumerate() {
            let figures = predicted(&subject, &called.order);
            match sums.get_mut(launch) {
                Some(sum) => *sum = added(sum, &figures),
                None => sums.push(figures),
            }
        }
    }
    Ok(sums)
}

fn predicted(subject: &Subject, order: &[model::Rva]) -> LayoutFigures {
    let at = |rva| subject.functions.binary_search_by_key(&rva, |function| function.rva);
    let calls = order.iter().filter_map(|&rva| at(rva).ok());
    let first_calls = calls.map(FunctionId::at).collect();
    let run = CalledFunctions { weight: 1.0, first_calls, counts: Vec::new() };
    let placement = TextPlacement::present(&subject.functions);
    forecaster(subject).layout(&placement, &[run]).means().into()
}

fn added(one: &LayoutFigures, other: &LayoutFigures) -> LayoutFigures {
    LayoutFigures {
        pages: one.pages + other.pages,
        windows: one.windows + other.windows,
        floor: one.floor + other.floor,
        reads: one.reads + other.reads,
        bytes: one.bytes + other.bytes,
        distance: one.distance + other.distance,
        major_faults: one.major_faults + other.major_faults,
    }
}

/// Those of the launch with the median of the pages.
pub fn median(launches: &[LayoutFigures]) -> LayoutFigures {
    let pages = Repeated::of(launches.iter().map(|launch| launch.pages)).median();
    launches.iter().find(|launch| launch.pages == pages).copied().unwrap_or_default()
}
