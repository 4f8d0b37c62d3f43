//! The finding on constructors that run before `main`.

use super::{Context, sum, top};
use model::figures::{duration, plural};
use model::{Finding, Phase, Reading};

pub(super) fn find(context: &Context) -> Option<Finding> {
    let cost = *context.shares.wholes.get(&Phase::Initialize)?;
    let modules = &context.modules_at_start();
    let measured = sum(modules, |module| module.init_us.get());
    let functions: u64 = modules.iter().map(|module| module.initializers()).sum();
    // Without times by module the phase is all there is, start-up code of the C library included.
    let also = if measured.is_none() { "start-up code of the C library and " } else { "" };
    let what = match functions {
        0 => format!("{also}initializers run before main"),
        n => format!("{also}{} before main", plural(n, "initializer runs", "initializers run")),
    };
    let evidence =
        top(modules, 3, |module| Some(module.init_us.get()? - check_us(context, &module.path)))
            .into_iter()
            .map(|(module, us)| {
                let name = context.name(&module.path);
                match module.initializers() {
                    n if n > 0 => {
                        format!(
                            "{name}: {}, {}",
                            duration(us),
                            plural(n, "initializer", "initializers")
                        )
                    }
                    _ => format!("{name}: {}", duration(us)),
                }
            });
    Some(Finding {
        id: "initialisers".to_owned(),
        cause: format!("{}: {what}", context.of_launch(cost)),
        evidence: evidence.chain(checks(context)).collect(),
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Initialize),
        part_of: None,
        remedy: "Make static objects constant (constexpr, constinit) or construct them at first \
             use; drop libraries whose initializers are costly, or load them later."
            .to_owned(),
    })
}

/// What bundles do before their initializers, which is no initializer's time.
fn checks(context: &Context) -> Option<String> {
    let bundles = context.explanation.bundles.iter();
    let bundles = bundles.filter(|bundle| context.counts(&bundle.path));
    let us: f64 = bundles.filter_map(|bundle| bundle.check_us.get()).sum();
    (us > 0.0).then(|| format!("the bundle's check of what it was made from: {}", duration(us)))
}

/// What the check of the bundle at this path takes of its time before main.
fn check_us(context: &Context, path: &str) -> f64 {
    let bundle = context.explanation.bundles.iter().find(|bundle| bundle.path == path);
    bundle.and_then(|bundle| bundle.check_us.get()).unwrap_or(0.0)
}
