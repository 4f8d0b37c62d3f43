use super::{Context, top};
use crate::names::base_name;
use model::figures::{duration, plural};
use model::{Finding, ImageKind, ModuleReport, Phase, Reading};
use std::collections::BTreeSet;

/// The loader finds, opens and maps many libraries.
pub(super) fn find(context: &Context) -> Option<Finding> {
    let late: BTreeSet<(&str, &str)> =
        context.late.iter().map(|((program, path), _)| (program.as_str(), path.as_str())).collect();
    let mapped: Vec<ModuleReport> = context
        .modules()
        .iter()
        .filter(|m| m.path != m.program && !is_loader(m))
        .filter(|m| !late.contains(&(m.program.as_str(), m.path.as_str())))
        .cloned()
        .collect();
    let timed = super::sum(&mapped, |module| module.map_us.get());
    let cost = timed.unwrap_or_else(|| context.phase(Phase::Map));
    if mapped.is_empty() || !context.worth(cost) {
        return None;
    }
    let loads = mapped.len() as u64;
    let mut evidence = vec![format!("{} each on average", duration(cost / loads as f64))];
    let costly = top(&mapped, 3, |module| module.map_us.get());
    evidence.extend(costly.into_iter().map(|(module, us)| {
        let (name, time) = (base_name(&module.path), duration(us));
        format!("{name}: {time}")
    }));
    let start = context.modules().iter().filter(|m| is_loader(m)).filter_map(|m| m.map_us.get());
    let start: f64 = start.sum();
    if start > 0.0 {
        evidence.push(format!("not in it: the loader's own start, {}", duration(start)));
    }
    let libraries = plural(loads, "library is", "libraries are");
    Some(Finding {
        id: "libraries".to_owned(),
        cause: format!("{}: {libraries} found, opened and mapped", context.of_launch(cost)),
        evidence,
        cost_us: Reading::Value(cost),
        remedy: "Link fewer libraries: -Wl,--as-needed drops those without a used symbol; static \
                 archives, or one library instead of many, for your own; dlopen at first use for \
                 what a launch seldom needs."
            .to_owned(),
    })
}

fn is_loader(module: &ModuleReport) -> bool {
    let kind = module.facts.value().map(|facts| facts.kind);
    kind == Some(ImageKind::Loader) || base_name(&module.path).starts_with("ld-")
}
