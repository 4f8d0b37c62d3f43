use super::{Context, top, total};
use crate::names::base_name;
use model::figures::{count, plural};
use model::{Finding, Reading};

/// Pages that the kernel maps at first touch.
pub(super) fn find(context: &Context) -> Option<Finding> {
    let minor = context.explanation.faults.minor.get()?;
    let each = context.inputs.minor_fault_us.get()?;
    let cost = minor as f64 * each;
    if !context.worth(cost) {
        return None;
    }
    let modules = context.modules();
    let mut evidence = vec![format!("{} × {each:.2} µs, measured on this machine", count(minor))];
    if let Some(anonymous) = context.explanation.faults.anonymous.get() {
        evidence.push(format!("{} on memory of no file (stack, heap)", count(anonymous)));
    }
    let busiest = top(modules, 3, |module| module.minor_faults.get().map(|n| n as f64));
    evidence.extend(busiest.into_iter().map(|(module, n)| {
        let name = base_name(&module.path);
        format!("{name}: {}", count(n as u64))
    }));
    let files = context.other_faults.iter().take(3).filter(|(_, n)| n * 20 >= minor);
    evidence.extend(files.map(|(path, n)| format!("{path}: {}", count(*n))));
    let pages = total(modules, |facts| facts.relocated_pages);
    if pages > 0 {
        let pages = plural(pages, "page", "pages");
        evidence.push(format!("relocations write to {pages}, which copies each"));
    }
    Some(Finding {
        id: "page-faults".to_owned(),
        cause: format!(
            "{}, part of the phases: the kernel serves {} without reading",
            context.of_launch(cost),
            plural(minor, "page fault", "page faults")
        ),
        evidence,
        cost_us: Reading::Value(cost),
        remedy: "Touch fewer pages: fewer relocations in data, less memory allocated and \
                 initialised before it is needed."
            .to_owned(),
    })
}
