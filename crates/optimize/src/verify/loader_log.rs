//! What the real loader binds, by its own account (`LD_DEBUG=bindings`), against the simulated
//! one. Only then says a simulation something of the variant.

use super::references::version_of;
use super::{Flaw, wrong};
use loader::Graph;
use loader::log::{LoggedBinding, bound};
use model::Command;
use model::SymbolRef;
use os::attend::AttendOptions;
use std::collections::BTreeSet;

/// The loader looks these up for itself, in the program's name: its own allocator's replacement.
const FOR_ITSELF: [&str; 4] = ["malloc", "free", "calloc", "realloc"];

/// Whether both bind alike at a start with everything bound.
pub(super) fn agrees(
    graph: &Graph,
    command: &Command,
    options: &AttendOptions,
) -> Result<(), Flaw> {
    let mut command = command.clone();
    command.environment.push(("LD_BIND_NOW".to_owned(), Some("1".into())));
    let log = os::loader_log::record(&command, "bindings,files", options)?;
    let own = log.lines.iter().filter(|line| line.pid == log.pid);
    // What comes later binds what the program opens itself.
    let before = own.take_while(|line| !line.text.starts_with("calling init: "));
    let real: BTreeSet<LoggedBinding> = before.filter_map(|line| bound(&line.text)).collect();
    if real.is_empty() {
        return Err(wrong("the loader wrote no log of it (LD_DEBUG)"));
    }
    let simulated = simulated(graph);
    let program = graph.modules.first().map(|module| model::text::text(&module.path));
    let for_itself = |line: &&LoggedBinding| {
        Some(&line.object) == program.as_ref() && FOR_ITSELF.contains(&line.symbol.as_str())
    };
    if let Some(line) = real.difference(&simulated).find(|line| !for_itself(line)) {
        return Err(wrong(format!(
            "the loader binds {}, which the simulation does not",
            words(line)
        )));
    }
    match simulated.difference(&real).next() {
        Some(line) => {
            Err(wrong(format!("the loader does not bind {}, as the simulation does", words(line))))
        }
        None => Ok(()),
    }
}

fn words(line: &LoggedBinding) -> String {
    let LoggedBinding { object, definer, symbol, .. } = line;
    format!("{symbol} of {object} to {definer}")
}

fn simulated(graph: &Graph) -> BTreeSet<LoggedBinding> {
    let path = |at: SymbolRef| model::text::text(&graph[at.module].path);
    let relocated = loader::bindings(graph, true);
    let all = relocated.iter().flat_map(|module| &module.bindings);
    let lines = all.filter_map(|binding| {
        let from = binding.from;
        let symbol = graph[from.module].image.symbol(from.symbol)?;
        Some(LoggedBinding {
            object: path(from),
            definer: path(binding.to?),
            symbol: String::from_utf8_lossy(symbol.name).into_owned(),
            version: version_of(graph, from),
        })
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The simulation of one program is not that of another.
    #[test]
    fn what_is_not_foreseen_is_found() {
        let Some(cc) = testkit::tool("cc") else { return };
        let folder = tempfile::tempdir().unwrap();
        let made = |name: &str, function: &str| {
            let source =
                format!("int {function}(void); int main(void) {{ return !{function}(); }}");
            testkit::compile(
                &cc,
                folder.path(),
                name,
                &source,
                &["-Wno-builtin-declaration-mismatch"],
            )
        };
        let (one, other) = (made("one", "getpid"), made("other", "getppid"));
        let graph = |path| loader::load(path, &loader::Environment::default()).unwrap();
        let command = os::program::resolve(&[&one]).unwrap();
        let said = |graph: &Graph| match agrees(graph, &command, &AttendOptions::default()) {
            Ok(()) => String::new(),
            Err(Flaw::Wrong(reason) | Flaw::Unknown(reason)) => reason.to_string(),
            Err(Flaw::Stop(error)) => panic!("{error}"),
        };
        assert_eq!(said(&graph(&one)), "");
        // By its name alone: the tables are those of the other.
        let mut wrong = graph(&other);
        wrong.modules[0].path = one.clone();
        let reason = said(&wrong);
        assert!(
            reason.contains("the loader binds getpid of ") && reason.contains("libc.so.6"),
            "{reason}"
        );
    }
}
