//! What the preamble fills the table with, where nothing but the C library and the loader is loaded beside the
//! bundle: their functions' addresses, which a look-up would find.

use super::{Outside, Target};
use crate::plan::freshness;
use crate::plan::layout::Layout;
use crate::plan::references::References;
use image::elf::loadable::SymbolKind;
use loader::Graph;
use model::ModuleId;
use startup::{Fill, FillLibrary, LoadedBuild};

/// Entries, and the libraries that have the functions.
#[derive(Default)]
pub(crate) struct Filled {
    pub(crate) fills: Vec<Fill>,
    pub(crate) libraries: Vec<LoadedBuild>,
}

impl Filled {
    /// Nothing where another library is outside, or one of them could not be told from another build.
    pub(crate) fn of(
        graph: &Graph,
        layout: &Layout<'_>,
        outside: &Outside<'_>,
        references: &References<'_>,
    ) -> Filled {
        let modules = graph.numbered().filter(|(id, _)| !layout.is_merged(*id));
        let (ids, modules): (Vec<ModuleId>, Vec<_>) = modules.unzip();
        let all_known = modules.iter().all(|module| freshness::is_base(graph, module));
        let libraries: Option<Vec<LoadedBuild>> =
            modules.iter().map(|module| freshness::build(module)).collect();
        let fill = |target: &Target| {
            let Target::Function(reference) = target else { return None };
            let at = references.definition(*reference)?;
            let symbol = graph[at.module].image.symbol(at.symbol)?;
            let library = match ids.iter().position(|id| *id == at.module)? {
                0 => FillLibrary::First,
                1 => FillLibrary::Second,
                _ => return None,
            };
            let selects = symbol.kind == SymbolKind::IndirectFunction;
            (!symbol.absolute).then_some(Fill { library, address: symbol.value.0, selects })
        };
        let functions = outside.stubs.iter().map(|stub| &stub.target);
        let functions = functions.take_while(|target| matches!(target, Target::Function(_)));
        let fills: Option<Vec<Fill>> = functions.map(fill).collect();
        match (libraries, fills) {
            (Some(libraries), Some(fills)) if all_known => Filled { fills, libraries },
            _ => Filled::default(),
        }
    }
}
