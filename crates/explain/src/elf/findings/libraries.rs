//! The finding on a loader that finds, opens and maps many libraries.

use super::{Context, top};
use crate::names::base_name;
use model::figures::{duration, plural};
use model::{Finding, ImageKind, ModuleReport, Phase, Reading};

pub(super) fn find(context: &Context) -> Option<Finding> {
    let cost = *context.shares.wholes.get(&Phase::Map)?;
    let mut mapped = context.modules_at_start();
    let own = |module: &ModuleReport| module.path == module.program || module.merged_in.is_some();
    mapped.retain(|module| !own(module) && !is_loader(module));
    let loads = mapped.len() as u64;
    let mut evidence = vec![format!("{} each on average", duration(cost / loads as f64))];
    let costly = top(&mapped, 3, |module| module.map_us.get());
    evidence.extend(costly.into_iter().map(|(module, us)| {
        let (name, time) = (base_name(&module.path), duration(us));
        format!("{name}: {time}")
    }));
    let loaders = context.modules().into_iter().filter(|module| is_loader(module));
    let start: f64 = loaders.filter_map(|module| module.map_us.get()).sum();
    if start > 0.0 {
        evidence.push(format!("not included: the loader's own start, {}", duration(start)));
    }
    let libraries = plural(loads, "library is", "libraries are");
    Some(Finding {
        id: "libraries".to_owned(),
        cause: format!("{}: {libraries} found, opened and mapped", context.of_launch(cost)),
        evidence,
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Map),
        part_of: None,
        remedy: "Link fewer libraries: -Wl,--as-needed drops unused ones; link your own \
             statically, or as one library instead of many; load what is seldom needed with \
             dlopen at first use."
            .to_owned(),
    })
}

pub(super) fn is_loader(module: &ModuleReport) -> bool {
    let kind = module.facts.value().map(|facts| facts.kind);
    kind == Some(ImageKind::Loader) || is_loader_name(base_name(&module.path))
}

/// Whether a file of this name is a dynamic loader.
pub(super) fn is_loader_name(name: &str) -> bool {
    name.starts_with("ld-") || name.starts_with("ld.so") || name.starts_with("ld64.so")
}
