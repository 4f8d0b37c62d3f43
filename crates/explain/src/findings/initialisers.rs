use super::{Context, sum, top, total};
use crate::names::base_name;
use model::figures::{duration, plural};
use model::{Finding, Phase, Reading};

/// Constructors run before main.
pub(super) fn find(context: &Context) -> Option<Finding> {
    let modules = context.modules();
    let measured = sum(modules, |module| module.init_us.get());
    let cost = measured.unwrap_or_else(|| context.phase(Phase::Initialise));
    let share = context.share(cost);
    if share < 0.05 && (cost < 500.0 || share < 0.01) {
        return None;
    }
    let functions = total(modules, |facts| facts.initialisers);
    // Without times by module the phase is all there is, start-up code of the C library included.
    let also = if measured.is_none() { "start-up code of the C library and " } else { "" };
    let what = match functions {
        0 => format!("{also}initialisers run before main"),
        n => format!("{also}{} before main", plural(n, "initialiser run", "initialisers run")),
    };
    let evidence =
        top(modules, 3, |module| module.init_us.get()).into_iter().map(|(module, us)| {
            let name = base_name(&module.path);
            match module.facts.value().map(|facts| facts.initialisers) {
                Some(n) if n > 0 => {
                    format!(
                        "{name}: {}, {}",
                        duration(us),
                        plural(n, "initialiser", "initialisers")
                    )
                }
                _ => format!("{name}: {}", duration(us)),
            }
        });
    let asked = context.explanation.cpuid.value().filter(|_| measured.is_none());
    let asked = asked.filter(|tax| tax.by_image.iter().any(|(path, _)| is_program(context, path)));
    let asked =
        asked.map(|tax| format!("of it for CPUID: {}", duration(tax.count as f64 * tax.each_us)));
    Some(Finding {
        id: "initialisers".to_owned(),
        cause: format!("{}: {what}", context.of_launch(cost)),
        evidence: evidence.chain(asked).collect(),
        cost_us: Reading::Value(cost),
        remedy: "Make static objects constant (constexpr, constinit) or build them at first use; \
                 drop or delay libraries whose initialisers are costly."
            .to_owned(),
    })
}

/// Whether `path` was executed rather than loaded.
fn is_program(context: &Context, path: &str) -> bool {
    context.explanation.processes.iter().any(|process| process.path == path)
}
