//! A bundle with files of merged plug-ins beside it. A plug-in of which none can be made stays as it is.

use super::{Attempt, Job, Proved, Written, proved as proved_once};
use crate::carry::{self, Carry};
use crate::choose::by_handle::BundleWarning;
use crate::choose::members::Membership;
use crate::error::BundleError;
use crate::plan::Plan;
use crate::plugins::{
    self, Chosen, Finished, Made, Named, PluginTables, Purpose, Refused, Wanted, What,
};
use crate::prove::sources;
use loader::{Graph, Relocated};
use model::ModuleId;
use model::bundle::{BundleCheck, BundledModule};
use model::text::text;
use startup::WrappedFunction;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What of plug-ins is there while a bundle is made.
pub(super) struct Opened<'a> {
    none: &'a PluginTables,
    made: Option<(&'a Chosen, &'a Made<'a>)>,
    refused: &'a [(PathBuf, String)],
}

/// A bundle, with as many plug-ins as can be.
pub(super) fn proved(job: &Job<'_>, memberships: &[Membership]) -> Result<Proved, BundleError> {
    let relocated = loader::bindings(job.graph, true);
    let (none, carry) = (PluginTables::default(), Carry::default());
    let given = given(job.graph, &relocated, memberships);
    let mut chosen = chosen(job, &given)?;
    // Each turn that fails has one plug-in less, or tries one in another way.
    loop {
        let Some(chosen) = chosen.as_mut() else {
            let opened = Opened { none: &none, made: None, refused: &[] };
            return once(job, memberships, (&relocated, &opened));
        };
        if chosen.roots.is_empty() {
            let opened = Opened { none: &none, made: None, refused: &chosen.refused };
            return once(job, memberships, (&relocated, &opened));
        }
        let purpose =
            Purpose { given: &given, check: job.options.check, carry: &carry, none: &none };
        let refused = match attempt(job, memberships, &relocated, (chosen, purpose))? {
            Ok(proved) => return Ok(proved),
            Err(refused) => refused,
        };
        remove(job.folder);
        match refused.what {
            What::Group(group) => chosen.refuse_group(group, &refused.reason),
            What::Plugin(root) => chosen.retry(root, &refused.reason, &refused.order),
        }
        chosen.group();
    }
}

/// With all that are left.
fn attempt(
    job: &Job<'_>,
    memberships: &[Membership],
    relocated: &[Relocated],
    (chosen, purpose): (&Chosen, Purpose<'_>),
) -> Result<Attempt, BundleError> {
    let named = match Named::new(chosen) {
        Ok(named) => named,
        Err(refused) => return Ok(Err(refused)),
    };
    let made = plugins::make(chosen, &named, purpose, job.folder);
    let made = match made.inspect_err(|_| remove(job.folder))? {
        Ok(made) => made,
        Err(refused) => return Ok(Err(refused)),
    };
    let refused = &chosen.refused;
    let opened = Opened { none: purpose.none, made: Some((chosen, &made)), refused };
    let proved = proved_once(job, memberships, (relocated, &opened));
    proved.inspect_err(|_| remove(job.folder))
}

/// Without plug-ins none is in the way.
fn once(
    job: &Job<'_>,
    memberships: &[Membership],
    opened: (&[Relocated], &Opened<'_>),
) -> Result<Proved, BundleError> {
    proved_once(job, memberships, opened)?
        .map_err(|refused| BundleError::declined(job.program, refused.reason))
}

/// Of what was written nothing is used.
fn remove(folder: &Path) {
    let _ = carry::clear(folder);
}

/// Which plug-ins are merged; none where nobody wants any.
fn chosen(job: &Job<'_>, given: &BTreeSet<WrappedFunction>) -> Result<Option<Chosen>, BundleError> {
    let options = job.options;
    let learnt = options.learnt.iter();
    let learnt = learnt.flat_map(|learnt| learnt.libraries.difference(&learnt.of_others));
    let learnt: BTreeSet<PathBuf> = learnt.cloned().collect();
    let is_wanted = !options.include.is_empty() || !learnt.is_empty();
    if options.check != BundleCheck::Host || !is_wanted {
        return Ok(None);
    }
    let wanted = Wanted {
        program: job.program,
        told: options.told.as_deref().unwrap_or(job.program),
        environment: job.environment,
        named: &options.include,
        learnt: &learnt,
        outside: &options.outside,
        opens: given.contains(&WrappedFunction::Dlopen),
    };
    Ok(Some(Chosen::new(&wanted)?))
}

/// Functions of the loader that merged code calls: the bundle has its own for them.
fn given(
    graph: &Graph,
    relocated: &[Relocated],
    memberships: &[Membership],
) -> BTreeSet<WrappedFunction> {
    let is_merged = |id: ModuleId| memberships.get(id.index()).is_some_and(Membership::is_merged);
    let merged = relocated.iter().zip(memberships).filter(|(_, it)| it.is_merged());
    let bindings = merged.flat_map(|(relocated, _)| &relocated.bindings);
    let outside = bindings.filter_map(|binding| binding.to).filter(|to| !is_merged(to.module));
    let names: BTreeSet<&[u8]> =
        outside.filter_map(|to| Some(graph[to.module].image.symbol(to.symbol)?.name)).collect();
    let asks = |one: &WrappedFunction| one.asks_loader() && names.contains(one.name().as_bytes());
    WrappedFunction::ALL.into_iter().filter(asks).collect()
}

impl Opened<'_> {
    pub(super) fn tables(&self) -> &PluginTables {
        self.made.map_or(self.none, |(_, made)| &made.tables)
    }

    pub(super) fn prove(&self, run: &Path, plan: &Plan<'_>, job: &Job<'_>) -> Result<(), Refused> {
        let Some((chosen, made)) = self.made else { return Ok(()) };
        let (graph, environment) = (job.graph, job.environment);
        plugins::prove(&Finished { run, plan, graph, environment }, chosen, made)
    }

    pub(super) fn written(&self) -> Written {
        self.made.map_or_else(Written::default, |(_, made)| Written {
            files: made.files.clone(),
            folder: made.folder.clone(),
        })
    }

    /// What stays as it is, and why.
    pub(super) fn refused(&self) -> impl Iterator<Item = BundleWarning> {
        self.refused.iter().map(|(path, reason)| {
            let path = path.display();
            BundleWarning::of(format!("{path} is not merged, and is opened as before: {reason}."))
        })
    }

    /// Modules that are loaded with plug-ins and not with the program.
    fn ids(&self) -> BTreeSet<ModuleId> {
        let Some((chosen, _)) = self.made else { return BTreeSet::new() };
        let closures = chosen.roots.iter().flat_map(|root| root.closure.iter().copied());
        closures.filter(|id| id.index() >= chosen.of_program).collect()
    }

    pub(super) fn described(&self) -> Result<Vec<BundledModule>, BundleError> {
        let Some((chosen, _)) = self.made else { return Ok(Vec::new()) };
        let graph = chosen.graph();
        let described = self.ids().into_iter().map(|id| sources::one(id.index(), &graph[id]));
        described.collect()
    }

    /// Nobody has changed them meanwhile.
    pub(super) fn unchanged(&self) -> Result<(), BundleError> {
        let Some((chosen, _)) = self.made else { return Ok(()) };
        self.ids()
            .into_iter()
            .try_for_each(|id| sources::unchanged(std::slice::from_ref(&chosen.graph()[id])))
    }

    /// Plug-ins by which the bundle can be made again.
    pub(super) fn included(&self, named: &BTreeSet<PathBuf>) -> Vec<String> {
        let merged = self.made.iter().flat_map(|(chosen, _)| &chosen.roots);
        let all: BTreeSet<&PathBuf> = merged.map(|root| &root.path).chain(named).collect();
        all.into_iter().map(text).collect()
    }
}
