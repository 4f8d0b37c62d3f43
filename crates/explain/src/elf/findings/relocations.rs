//! The finding on relocations: the loader writes addresses into the modules and looks symbols up.

use super::libraries::is_loader;
use super::{Context, Scope, sum, top, total};
use crate::advice::ExplainAdvice;
use crate::names::base_name;
use model::figures::{bytes, count, duration, plural};
use model::{ElfFacts, Finding, ImageKind, ModuleReport, Phase, Reading};
use std::collections::BTreeSet;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let cost = *context.shares.wholes.get(&Phase::Relocate)?;
    let modules = &context.modules_at_start();
    let measured = sum(modules, |module| module.relocate_us.get());
    Some(Finding {
        id: "relocations".to_owned(),
        cause: cause(context, modules, cost),
        evidence: evidence(context, modules).into_iter().chain(unknown(context, modules)).collect(),
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Relocate),
        part_of: None,
        remedy: bundle(context, modules).unwrap_or_else(|| remedy(modules, measured.is_some())),
    })
}

/// The program needs libraries, but no record names them.
fn unknown(context: &Context, modules: &[&ModuleReport]) -> Option<String> {
    let needs = |m: &&ModuleReport| m.facts.value().is_some_and(|facts| !facts.needed.is_empty());
    let program = modules.iter().find(|module| module.path == module.program)?;
    let named = modules.iter().any(|m| m.path != m.program && !is_loader(m));
    let why = match &context.inputs.loader_logs {
        Reading::Unavailable { .. } => "the source line on modules says why",
        Reading::Value(_) => "it wrote no loader log, and its page faults could not be followed",
    };
    (needs(program) && !named)
        .then(|| format!("its libraries are not counted, as no record names them: {why}"))
}

/// Look-ups that happen while loading: all of them with BIND_NOW, otherwise not those that the
/// first call through the procedure linkage table makes.
fn eager(facts: &ElfFacts) -> u64 {
    let lazy = if facts.bind_now { 0 } else { facts.plt_relocations };
    facts.symbolic_relocations.saturating_sub(lazy)
}

fn cause(context: &Context, modules: &[&ModuleReport], cost: f64) -> String {
    let loaded = modules.iter().filter(|m| m.path != m.program && m.merged_in.is_none());
    let loaded: BTreeSet<&str> = loaded.map(|module| module.path.as_str()).collect();
    let files = plural(loaded.len() as u64, "library", "libraries");
    let (symbols, relative) = (total(modules, eager), relative(context, modules));
    let programs = match context.scope {
        Scope::Program => "the program",
        _ => "these programs",
    };
    let place = match loaded.len() {
        0 => programs.to_owned(),
        _ => format!("{programs} and {files}"),
    };
    let work = if symbols + relative == 0 {
        format!("the loader relocates {place}")
    } else {
        let symbols = plural(symbols, "symbol reference", "symbol references");
        let relative = plural(relative, "address", "addresses");
        match modules.iter().any(|module| !module.merged.is_empty()) {
            // The loader or the bundle itself.
            true => format!("{symbols} bound and {relative} adjusted in {place}"),
            false => format!("the loader binds {symbols} and adjusts {relative} in {place}"),
        }
    };
    format!("{}: {work}", context.of_launch(cost))
}

fn evidence(context: &Context, modules: &[&ModuleReport]) -> Vec<String> {
    let mut lines: Vec<String> = top(modules, 3, |module| module.relocate_us.get())
        .into_iter()
        .map(|(module, us)| {
            let name = context.name(&module.path);
            match module.facts.value() {
                Some(facts) => format!(
                    "{name}: {}; {}, {}, {}",
                    duration(us),
                    plural(eager(facts), "symbol", "symbols"),
                    plural(relative(context, &[module]), "address", "addresses"),
                    plural(written(context, &[module]), "page", "pages"),
                ),
                None => format!("{name}: {}", duration(us)),
            }
        })
        .collect();
    lines.extend(merged(modules));
    let pages = written(context, modules);
    if pages > 0 {
        let size = bytes(pages * 4096);
        let pages = plural(pages, "page", "pages");
        lines.push(format!("written to {pages} ({size}), which are then private to each process"));
    }
    if modules.iter().any(|module| module.relocate_us.get().is_some()) {
        lines.extend(bind_now(modules));
    }
    lines
}

/// Addresses that are adjusted, by the loader or by a bundle itself.
fn relative(context: &Context, modules: &[&ModuleReport]) -> u64 {
    modules.iter().filter_map(|module| adjusted(context, module)).sum()
}

/// The same of one module; `None` without facts. Those that a bundle adjusts itself are among the facts as long as it
/// has its table of sections.
fn adjusted(context: &Context, module: &ModuleReport) -> Option<u64> {
    let facts = module.facts.value()?;
    let contents = context.inputs.contents.get(&module.path);
    let by_itself = contents.map_or(0, |contents| contents.adjusts_itself);
    Some(facts.relative_relocations.max(by_itself))
}

/// Pages that relocations write to, whoever applies them.
pub(super) fn written(context: &Context, modules: &[&ModuleReport]) -> u64 {
    let pages = |module: &&ModuleReport| {
        let bundle = context.inputs.contents.get(&module.path).and_then(|contents| contents.work);
        let own = bundle.map(|work| work.relocated_pages);
        own.or_else(|| Some(module.facts.value()?.relocated_pages)).unwrap_or(0)
    };
    let with_facts = modules.iter().filter(|module| module.facts.value().is_some());
    with_facts.map(pages).sum()
}

/// Which merged libraries the relocations of a bundle are for.
fn merged(modules: &[&ModuleReport]) -> Option<String> {
    let merged: Vec<&ModuleReport> =
        modules.iter().copied().filter(|module| module.merged_in.is_some()).collect();
    let most = top(&merged, 3, |module| Some(module.work?.relocations as f64));
    let line = |(module, n): (&ModuleReport, f64)| {
        format!("{} {}", base_name(&module.path), count(n as u64))
    };
    let lines: Vec<String> = most.into_iter().map(line).collect();
    (!lines.is_empty()).then(|| format!("of merged libraries: {}", lines.join(", ")))
}

/// A bundle whose addresses are fixed needs none adjusted.
fn bundle(context: &Context, modules: &[&ModuleReport]) -> Option<String> {
    let module = modules.iter().find(|module| !module.merged.is_empty())?;
    let facts = module.facts.value()?;
    let contents = context.inputs.contents.get(&module.path)?;
    let own = adjusted(context, module)?;
    let most = own > facts.symbolic_relocations && own * 2 > relative(context, modules);
    if facts.kind != ImageKind::PositionIndependentExecutable || !most {
        return None;
    }
    let (folder, program) = (contents.folder.clone()?, contents.original.clone()?);
    let told = context.explanation.bundles.iter();
    let told = told.filter(|bundle| bundle.path == module.path).any(|it| it.remains.is_some());
    let again = ExplainAdvice::RenewBundle { folder, program, fixed: true };
    let again = if told { String::new() } else { format!(": {}", (context.words)(again)) };
    Some(format!(
        "At fixed addresses, no address of the bundle has to be adjusted, but ASLR is lost{again}."
    ))
}

/// What BIND_NOW adds: at most, because copying pages is part of the measured time too.
fn bind_now(modules: &[&ModuleReport]) -> Option<String> {
    let (mut jump_slots, mut us, mut bound) = (0, 0.0, 0_u64);
    for module in modules {
        let Some(facts) = module.facts.value().filter(|f| f.bind_now && f.plt_relocations > 0)
        else {
            continue;
        };
        jump_slots += facts.plt_relocations;
        bound += 1;
        let share = facts.plt_relocations as f64 / facts.symbolic_relocations.max(1) as f64;
        us += module.relocate_us.get().unwrap_or(0.0) * share.min(1.0);
    }
    let modules = plural(bound, "module", "modules");
    let slots = plural(jump_slots, "function", "functions");
    let at_most = if us > 0.0 { format!(", at most {}", duration(us)) } else { String::new() };
    (jump_slots > 0).then(|| format!("BIND_NOW in {modules}: {slots} bound before main{at_most}"))
}

/// `lazy` says that the loader can bind at the first call; musl's cannot.
fn remedy(modules: &[&ModuleReport], lazy: bool) -> String {
    let (symbols, relative) = (total(modules, eager), total(modules, |f| f.relative_relocations));
    let mut parts = vec![
        "In libraries you build: export less (-fvisibility=hidden, a version script) and bind \
         internally (-Wl,-Bsymbolic-functions, -fno-semantic-interposition); link fewer \
         libraries, or merge those that are always loaded together."
            .to_owned(),
    ];
    let late = total(modules, |facts| if facts.bind_now { facts.plt_relocations } else { 0 });
    if lazy && late * 10 > symbols {
        parts.push(
            "-Wl,-z,lazy binds functions at their first call instead, but gives up full RELRO."
                .to_owned(),
        );
    }
    let unpacked = |facts: &ElfFacts| if facts.relr { 0 } else { facts.relocation_table_bytes };
    let table = total(modules, unpacked);
    if relative > symbols && table > 1 << 20 {
        parts.push(format!(
            "-Wl,-z,pack-relative-relocs shrinks the {} of relocation tables that a cold launch \
             reads; a warm launch hardly benefits.",
            bytes(table)
        ));
    }
    parts.join(" ")
}
