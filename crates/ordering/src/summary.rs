//! A plan in figures, for people and scripts.

use crate::maps::LinkerMap;
use crate::plan::{FunctionOrderPlan, forecaster};
use crate::predict::{Device, DistanceRise, ForecastMeans, LayoutForecast, PAGE_BYTES};
use crate::subject::Subject;
use crate::write::{InputSections, OrderFile, OrderedFunction};
use model::{
    DeviceCosts, FunctionId, LayoutFigures, LeftOutGroup, ORDER_REPORT_SCHEMA, OrderReport,
    RiseReport,
};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// Functions that are named as the farthest of a run.
const FAR: usize = 3;

impl From<ForecastMeans> for LayoutFigures {
    fn from(means: ForecastMeans) -> LayoutFigures {
        LayoutFigures {
            pages: means.pages,
            windows: means.windows,
            floor: means.function_floor,
            reads: means.reads,
            bytes: means.bytes,
            distance: means.distance,
            major_faults: means.major_faults,
        }
    }
}

/// The functions of an order with their names.
pub fn ordered_functions<'a>(
    subject: &'a Subject,
    order: &[FunctionId],
) -> Vec<OrderedFunction<'a>> {
    let names = |function: &FunctionId| &subject.names[function.index()];
    order.iter().map(|function| OrderedFunction { names: names(function) }).collect()
}

/// In which sections the functions of the image are: those of the linker's map, or the usual ones.
pub fn input_sections(subject: &Subject, map: Option<&LinkerMap>) -> InputSections {
    let names = subject.names.iter().flatten().map(String::as_str);
    let usual = InputSections::usual(names);
    match map {
        Some(map) => usual.with_map(map),
        None => usual,
    }
}

/// The report of a plan and the order file that was made of it, but for its [`assumption`].
pub fn report(subject: &Subject, plan: &FunctionOrderPlan, file: &OrderFile) -> OrderReport {
    let count = |number: usize| number as u64;
    let matched = &plan.matched;
    OrderReport {
        schema: ORDER_REPORT_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        image: subject.path.clone(),
        functions: count(subject.functions.len()),
        runs: count(matched.runs.len()),
        matched_by_address: count(matched.by_address),
        matched_by_name: count(matched.by_name),
        unmatched: count(matched.unmatched.len()),
        ordered: count(file.functions),
        names: count(file.names),
        left_out: left_out(file),
        now: plan.now.means().into(),
        predicted: plan.ordered.means().into(),
        held_out: None,
        devices: devices(&plan.now, &plan.ordered),
        read_ahead_bytes: u64::from(forecaster(subject).read_ahead.pages) * PAGE_BYTES,
        rises: rises(subject, plan),
        notes: notes(subject, plan),
        file: None,
    }
}

fn left_out(file: &OrderFile) -> Vec<LeftOutGroup> {
    let mut groups: BTreeMap<_, LeftOutGroup> = BTreeMap::new();
    for left in &file.left_out {
        let group = groups.entry(left.reason).or_insert_with(|| LeftOutGroup {
            reason: left.reason.words(1),
            functions: 0,
            example: None,
        });
        group.functions += 1;
        group.reason = left.reason.words(group.functions);
        if group.example.is_none() && !left.name.is_empty() {
            group.example = Some(left.name.clone());
        }
    }
    groups.into_values().collect()
}

fn devices(now: &LayoutForecast, ordered: &LayoutForecast) -> Vec<DeviceCosts> {
    let us = |cost: Option<Duration>| cost.map_or(0.0, |cost| cost.as_secs_f64() * 1e6);
    let costs = |device: Device| DeviceCosts {
        device: device.name().to_owned(),
        now_us: us(now.cost(&device.profile())),
        predicted_us: us(ordered.cost(&device.profile())),
    };
    Device::ALL.map(costs).into()
}

fn rises(subject: &Subject, plan: &FunctionOrderPlan) -> Vec<RiseReport> {
    let numbered = plan.rises.iter().enumerate();
    let risen = numbered.filter_map(|(run, rise)| Some((run, rise.as_ref()?)));
    risen.map(|(run, rise)| rise_report(subject, run, rise)).collect()
}

fn rise_report(subject: &Subject, run: usize, rise: &DistanceRise) -> RiseReport {
    let far = rise.far.iter().take(FAR);
    let name = |function: FunctionId| {
        let rva = subject.functions.get(function.index()).map(|function| function.rva);
        let name = subject.names.get(function.index()).and_then(|names| names.first());
        name.cloned().unwrap_or_else(|| rva.map_or(String::new(), |rva| rva.to_string()))
    };
    RiseReport {
        run: run as u64,
        before: rise.before,
        after: rise.after,
        crossings: rise.crossings,
        far: far.map(|far| name(far.function)).collect(),
    }
}

fn notes(subject: &Subject, plan: &FunctionOrderPlan) -> Vec<String> {
    let mut notes = Vec::new();
    if plan.matched.runs.is_empty() {
        let path = &subject.path;
        notes.push(format!("no trace has a call into '{path}'; trace a launch that uses it"));
    }
    let unnamed = plan.matched.runs.iter().flat_map(|run| &run.first_calls);
    let immovable = |function: &&FunctionId| {
        subject.functions.get(function.index()).is_some_and(|function| !function.is_free())
    };
    let mut left: Vec<FunctionId> = unnamed.filter(immovable).copied().collect();
    left.sort_unstable();
    left.dedup();
    if !left.is_empty() {
        let count = left.len();
        notes.push(format!("the linker cannot move {count} of the called functions"));
    }
    if forecaster(subject).mapping.pages == 0 {
        notes.push("the image has no code, so nothing can be predicted".to_owned());
    }
    notes
}

/// What the predictions of a plan take for granted.
pub fn assumption(subject: &Subject, plan: &FunctionOrderPlan) -> Option<Assumption> {
    match (subject.has_sections, subject.has_alignments) {
        _ if plan.order.is_empty() => None,
        (true, true) => None,
        (true, false) => Some(Assumption::Alignments(subject.usual_alignment)),
        (false, _) => Some(Assumption::Sections(subject.usual_alignment)),
    }
}

/// What predictions take for granted where no map of the linker tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// That input sections are aligned to so many bytes.
    Alignments(u32),
    /// That each function has an input section of its own, aligned so.
    Sections(u32),
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, bytes) = match self {
            Assumption::Alignments(bytes) => (
                "the map does not tell how input sections are aligned; the predictions assume that \
                 each is",
                bytes,
            ),
            Assumption::Sections(bytes) => (
                "the predictions assume that each function has an input section of its own,",
                bytes,
            ),
        };
        write!(f, "{what} aligned to {bytes} bytes, or to what its address allows if that is less")
    }
}
