//! From a recorded launch to what it calls of each module, and what an order would change of that.

use crate::plan::forecaster;
use crate::predict::module_scatter;
use crate::record;
use crate::subject::Subject;
use crate::{CalledFunctions, Movability};
use model::{
    CalledCode, CalledModule, Command, FunctionId, FunctionTrace, ModuleCalls, OrderForecast, Rva,
    text,
};
use os::trace::RecordedFunctions;
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use std::path::Path;

/// Where an order could save fewer pages than these, what it would change is not predicted: that
/// takes a look at all functions of a module.
const PREDICTED_PAGES: u64 = 16;
/// An order that saves so many pages of a module is worth a new link.
const MANY_PAGES: u64 = 100;
/// So is one that saves this share of all pages that a launch touches, in percent,
const LARGE_PERCENT: u64 = 20;
/// if it saves a cold launch so many reads.
const MANY_READS: u64 = 16;

/// What the recorded launch of `command` calls, all its processes together: they read each page
/// of a file once.
pub fn called_code(recorded: RecordedFunctions, command: &Command) -> CalledCode {
    let trace = record::trace(recorded, command);
    let modules = record::modules(&trace);
    let watched = record::watched(&modules);
    let modules = modules.into_par_iter().filter(|module| module.called > 0);
    let modules = modules.map(|calls| CalledModule { ordered: forecast(&calls, &trace), calls });
    CalledCode { watched, modules: modules.collect(), notes: trace.notes.clone() }
}

/// The modules whose functions are scattered so much that an order is worth a new link, those with
/// the most saved pages first.
pub fn worth_an_order(code: &CalledCode) -> Vec<&CalledModule> {
    let all = code.touched_pages();
    let worth = |module: &&CalledModule| {
        let saved = module.saved_pages();
        let large = saved * 100 >= all * LARGE_PERCENT && module.saved_reads() >= MANY_READS;
        (saved >= MANY_PAGES || large) && !is_always_in_memory(&module.calls.path)
    };
    let mut found: Vec<&CalledModule> = code.modules.iter().filter(worth).collect();
    found.sort_by_key(|module| std::cmp::Reverse(module.saved_pages()));
    found
}

/// Whether a module is the loader or a part of the C library: every program uses these, so there
/// is no launch for which they are read.
fn is_always_in_memory(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let loader = name.starts_with("ld-") || name.starts_with("ld.so") || name == "ld64.so.2";
    loader || ["libc.so", "libc-", "libc.musl"].iter().any(|start| name.starts_with(start))
}

/// What an order would change of a module; `None` where it could save next to nothing, or where the
/// file is another one by now.
fn forecast(calls: &ModuleCalls, trace: &FunctionTrace) -> Option<OrderForecast> {
    if calls.touched_pages < calls.floor_pages + PREDICTED_PAGES {
        return None;
    }
    let mut subject = Subject::open(Path::new(&text::name(&calls.path))).ok()?;
    let of_module =
        |path: &str, build_id: &Option<String>| path == calls.path && *build_id == subject.build_id;
    let modules: Vec<bool> =
        trace.modules.iter().map(|module| of_module(&module.path, &module.build_id)).collect();
    let called = trace.calls.iter().filter(|call| modules[call.module.index()]);
    let mut seen = FxHashSet::default();
    let first_calls: Vec<FunctionId> = called
        .filter_map(|call| starting_at(&subject, call.rva))
        .filter(|function| seen.insert(*function))
        .collect();
    if first_calls.is_empty() {
        return None;
    }
    // Who links the module again has the names that this file may lack.
    let nameless = subject.functions.iter_mut();
    nameless.filter(|function| function.movability == Movability::InLinkOrder).for_each(
        |function| {
            function.movability = Movability::Free;
        },
    );
    let run = CalledFunctions { weight: 1.0, first_calls, counts: Vec::new() };
    let scatter = module_scatter(&forecaster(&subject), &[run]);
    let count = |mean: f64| mean.round() as u64;
    Some(OrderForecast {
        pages: count(scatter.ordered.pages),
        reads_now: count(scatter.now.reads),
        reads: count(scatter.ordered.reads),
    })
}

fn starting_at(subject: &Subject, rva: Rva) -> Option<FunctionId> {
    let found = subject.functions.binary_search_by_key(&rva, |function| function.rva);
    found.ok().map(FunctionId::at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(path: &str, touched_pages: u64, pages: u64, reads: [u64; 2]) -> CalledModule {
        let path = path.to_owned();
        let calls = ModuleCalls {
            path,
            watched: None,
            called: 1,
            called_bytes: 1,
            touched_pages,
            floor_pages: pages,
        };
        let ordered = Some(OrderForecast { pages, reads_now: reads[0], reads: reads[1] });
        CalledModule { calls, ordered }
    }

    fn worth(modules: Vec<CalledModule>) -> Vec<String> {
        let code = CalledCode { watched: 1, modules, notes: Vec::new() };
        worth_an_order(&code).into_iter().map(|module| module.calls.path.clone()).collect()
    }

    #[test]
    fn many_pages_or_a_large_part_with_many_reads_are_worth_an_order() {
        assert_eq!(worth(vec![module("/a", 300, 200, [9, 8])]), ["/a"]);
        assert!(worth(vec![module("/a", 299, 200, [9, 8])]).is_empty());
        assert_eq!(worth(vec![module("/a", 100, 80, [20, 4])]), ["/a"]);
        assert!(worth(vec![module("/a", 100, 80, [20, 5])]).is_empty());
        assert!(worth(vec![module("/a", 100, 81, [20, 4])]).is_empty());
        // A part of the launch, not of the module.
        let modules = vec![module("/a", 60, 40, [20, 4]), module("/b", 60, 60, [20, 20])];
        assert!(worth(modules).is_empty());
        let modules = vec![module("/a", 300, 200, [9, 8]), module("/b", 400, 200, [9, 8])];
        assert_eq!(worth(modules), ["/b", "/a"]);
    }

    #[test]
    fn what_every_program_uses_is_never_read() {
        for path in
            ["/lib64/ld-linux-x86-64.so.2", "/usr/lib/libc.so.6", "/lib/ld-musl-x86_64.so.1"]
        {
            assert!(worth(vec![module(path, 900, 100, [90, 10])]).is_empty(), "{path}");
        }
        let cpp = "/usr/lib/libclang-cpp.so.19.1";
        assert_eq!(worth(vec![module(cpp, 900, 100, [90, 10])]), [cpp]);
    }

    #[test]
    fn without_a_prediction_nothing_is_worth_it() {
        let unknown = CalledModule { ordered: None, ..module("/a", 900, 100, [90, 10]) };
        assert_eq!((unknown.saved_pages(), unknown.saved_reads()), (0, 0));
        assert!(worth(vec![unknown]).is_empty());
    }
}
