//! What the real loader binds, by its own account (`LD_DEBUG=bindings`), against the simulated
//! one. Only then says a simulation something of the variant.

use super::references::version_of;
use super::{Flaw, wrong};
use loader::Graph;
use model::Command;
use os::attend::Options;
use std::collections::BTreeSet;

/// A reference and its definition as the loader names them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    object: String,
    definer: String,
    symbol: String,
    version: String,
}

/// The loader looks these up for itself, in the program's name: its own allocator's replacement.
const FOR_ITSELF: [&str; 4] = ["malloc", "free", "calloc", "realloc"];

/// Whether both bind alike at a start with everything bound.
pub(super) fn agrees(graph: &Graph, command: &Command, options: &Options) -> Result<(), Flaw> {
    let mut command = command.clone();
    command.environment.push(("LD_BIND_NOW".to_owned(), Some("1".to_owned())));
    let log = os::loader_log::record(&command, "bindings,files", options)?;
    let own = log.lines.iter().filter(|line| line.pid == log.pid);
    // What comes later binds what the program opens itself.
    let before = own.take_while(|line| !line.text.starts_with("calling init: "));
    let real: BTreeSet<Line> = before.filter_map(|line| parse(&line.text)).collect();
    if real.is_empty() {
        return Err(wrong("the loader gave no account of it (LD_DEBUG)"));
    }
    let simulated = simulated(graph);
    let program = graph.modules.first().map(|module| module.path.display().to_string());
    let for_itself = |line: &&Line| {
        Some(&line.object) == program.as_ref() && FOR_ITSELF.contains(&line.symbol.as_str())
    };
    if let Some(line) = real.difference(&simulated).find(|line| !for_itself(line)) {
        return Err(wrong(format!("the loader binds {}, not foreseen", words(line))));
    }
    match simulated.difference(&real).next() {
        Some(line) => Err(wrong(format!("the loader does not bind {}, foreseen", words(line)))),
        None => Ok(()),
    }
}

fn words(line: &Line) -> String {
    let Line { object, definer, symbol, .. } = line;
    format!("{symbol} of {object} to {definer}")
}

fn simulated(graph: &Graph) -> BTreeSet<Line> {
    let path = |index: usize| Some(graph.modules.get(index)?.path.display().to_string());
    let relocated = loader::bindings(graph, true);
    let all = relocated.iter().flat_map(|module| &module.bindings);
    let lines = all.filter_map(|binding| {
        let (definer, _) = binding.to?;
        let symbol = graph.modules.get(binding.from)?.image.symbol(binding.symbol)?;
        Some(Line {
            object: path(binding.from)?,
            definer: path(definer)?,
            symbol: String::from_utf8_lossy(symbol.name).into_owned(),
            version: version_of(graph, binding.from, binding.symbol),
        })
    });
    lines.collect()
}

/// ``binding file A [0] to B [0]: normal symbol `s' [V]``; the kernel's own library aside, in
/// which the loader looks for itself.
fn parse(text: &str) -> Option<Line> {
    let rest = text.strip_prefix("binding file ")?;
    let (object, rest) = rest.split_once(" [0] to ")?;
    let (definer, rest) = rest.split_once(" [0]: ")?;
    let (_, rest) = rest.split_once('`')?;
    let (symbol, rest) = rest.split_once('\'')?;
    let version = rest.trim().trim_start_matches('[').trim_end_matches(']');
    let [object, definer, symbol, version] = [object, definer, symbol, version].map(str::to_owned);
    (!object.contains("linux-vdso")).then_some(Line { object, definer, symbol, version })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_log_are_read() {
        let line = "binding file ./p [0] to /l ib/c.so [0]: normal symbol `puts' [GLIBC_2.2.5]";
        let found = parse(line).unwrap();
        assert_eq!((found.object.as_str(), found.definer.as_str()), ("./p", "/l ib/c.so"));
        assert_eq!((found.symbol.as_str(), found.version.as_str()), ("puts", "GLIBC_2.2.5"));
        let line = "binding file a [0] to b [0]: protected symbol `f'";
        assert_eq!(parse(line).unwrap().version, "");
        let line = "binding file linux-vdso.so.1 [0] to linux-vdso.so.1 [0]: normal symbol `t' [V]";
        assert_eq!(parse(line), None);
        assert_eq!(parse("calling init: /lib/libc.so.6"), None);
    }

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
        let command = os::program::resolve(&[one.display().to_string()]).unwrap();
        let said = |graph: &Graph| match agrees(graph, &command, &Options::default()) {
            Ok(()) => String::new(),
            Err(Flaw::Wrong(reason)) => reason,
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
