//! What a launch does that the order may not know: predicted from the real addresses of both
//! builds, as such a launch is not read cold.

use super::builds::ModulePair;
use super::subject;
use crate::CalledFunctions;
use crate::plan::forecaster;
use crate::predict::TextPlacement;
use image::ImageError;
use model::{FunctionId, LayoutFigures};

/// The figures of one build, of all its modules that were linked again.
pub fn figures(pairs: &[ModulePair], side: usize) -> Result<LayoutFigures, ImageError> {
    let mut sum = LayoutFigures::default();
    for pair in pairs {
        let subject = subject(pair, side)?;
        let at = |rva| subject.functions.binary_search_by_key(&rva, |function| function.rva);
        let calls = pair.sides[side].order.iter().filter_map(|&rva| at(rva).ok());
        let first_calls = calls.map(FunctionId::at).collect();
        let run = CalledFunctions { weight: 1.0, first_calls, counts: Vec::new() };
        let placement = TextPlacement::present(&subject.functions);
        let means = forecaster(&subject).layout(&placement, &[run]).means();
        let figures = LayoutFigures::from(means);
        sum = LayoutFigures {
            pages: sum.pages + figures.pages,
            windows: sum.windows + figures.windows,
            floor: sum.floor + figures.floor,
            reads: sum.reads + figures.reads,
            bytes: sum.bytes + figures.bytes,
            distance: sum.distance + figures.distance,
            major_faults: sum.major_faults + figures.major_faults,
        };
    }
    Ok(sum)
}
