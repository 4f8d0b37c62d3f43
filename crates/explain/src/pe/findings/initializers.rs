//! The finding on initializers, which run before the program's entry point is reached.

use super::{Context, top};
use model::figures::{duration, plural};
use model::{Finding, Phase, Reading};

pub(super) fn find(context: &Context) -> Option<Finding> {
    let cost = context.phase(Phase::Initialize);
    if !context.worth(cost) {
        return None;
    }
    let timed =
        context.own_modules().filter_map(|(module, _)| Some((module, module.init_us.get()?)));
    let timed: Vec<_> = timed.collect();
    let dlls = plural(timed.len() as u64, "DLL is", "DLLs are");
    let told: f64 = timed.iter().map(|(_, us)| us).sum();
    let mut evidence = top(timed.into_iter());
    if context.worth(cost - told) {
        evidence.push(format!(
            "{} outside of them: TLS callbacks of the program and of DLLs, DLLs that are loaded \
             meanwhile, and the loader's own work",
            duration(cost - told)
        ));
    }
    Some(Finding {
        id: "initialisers".to_owned(),
        cause: format!("{}: {dlls} initialized before the program begins", context.of_launch(cost)),
        evidence,
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Initialize),
        part_of: None,
        remedy: "Do less in DllMain and in the constructors of global objects: initialize at first use. \
                 System DLLs are initialized because something imports from them: delay-load what is seldom \
                 needed (/DELAYLOAD)."
            .to_owned(),
    })
}
