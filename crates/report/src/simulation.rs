//! Views of a simulated launch.

use crate::figure::{count, plural};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::text::base_name;
use model::simulation::{RelocationWork, SimulatedModule, Simulation};

/// Modules that are shown; the rest is one line.
const ROWS: usize = 15;

/// The terminal view: the sum in a sentence, and the modules with the most probes.
pub fn view(simulation: &Simulation, style: &Style) -> String {
    let total = &simulation.total;
    let mut view =
        style.paint(Tint::Name, &style.shorten(&simulation.program, style.width)) + "\n\n";
    let each = total.probes as f64 / total.lookups.max(1) as f64;
    let sentence = format!(
        "{} mapped by {}, after {} to open a file; {} adjusted; {} with {} ({each:.1} each); {} \
         waiting for the first call.",
        plural(simulation.modules.len() as u64, "module", "modules"),
        simulation.interpreter,
        plural(simulation.search.missed, "failed attempt", "failed attempts"),
        plural(total.relative, "address", "addresses"),
        plural(total.lookups, "symbol look-up", "symbol look-ups"),
        plural(total.probes, "probe", "probes"),
        plural(total.waiting, "reference", "references"),
    );
    view += &(style.wrap(&sentence, 0) + "\n\n");
    view + &table(simulation).render(style)
}

fn table(simulation: &Simulation) -> Table {
    let mut table = Table::new(vec![
        Column::left("module"),
        Column::right("relative").or_drop(2),
        Column::right("look-ups"),
        Column::right("probes"),
        Column::right("waiting").or_drop(3),
        Column::right("definitions").or_drop(1),
    ]);
    let mut modules: Vec<&SimulatedModule> = simulation.modules.iter().collect();
    modules.sort_by_key(|module| u64::MAX - module.work.probes);
    // One hidden row would take the line that says so.
    let shown = if modules.len() <= ROWS + 1 { modules.len() } else { ROWS };
    let (shown, hidden) = modules.split_at(shown);
    for module in shown {
        let name = base_name(&module.path);
        table.row(row(Tint::Name, name, &module.work, module.definitions));
    }
    if !hidden.is_empty() {
        let work = hidden.iter().map(|module| module.work).sum();
        let definitions = hidden.iter().map(|module| module.definitions).sum();
        table.row(row(Tint::Faint, &format!("{} more", hidden.len()), &work, definitions));
    }
    let definitions = simulation.modules.iter().map(|module| module.definitions).sum();
    let all = format!("all {}", simulation.modules.len());
    table.row(row(Tint::Strong, &all, &simulation.total, definitions));
    table
}

fn row(tint: Tint, name: &str, work: &RelocationWork, definitions: u64) -> Vec<Cell> {
    let figures = [work.relative, work.lookups, work.probes, work.waiting, definitions];
    let figures = figures.map(|figure| Cell::new(Tint::Plain, count(figure)));
    [Cell::new(tint, name)].into_iter().chain(figures).collect()
}

/// A line for each binding: `object symbol@version → definer`.
pub fn bindings(simulation: &Simulation) -> String {
    let mut text = String::new();
    for bound in &simulation.bindings {
        let version = bound.version.as_ref().map_or(String::new(), |version| format!("@{version}"));
        let definer = bound.definer.as_deref().unwrap_or("nothing");
        text += &format!("{} {}{version} → {definer}\n", bound.object, bound.symbol);
    }
    text
}
