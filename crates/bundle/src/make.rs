//! Making a bundle.

mod described;
mod job;
mod with_plugins;

use crate::carry::{self, Carry, Learnt, Placed};
use crate::choose::by_handle::{self, BundleWarning};
use crate::choose::members::{self, Membership};
use crate::choose::refuse;
use crate::error::BundleError;
use crate::plan;
use crate::plan::bases;
use crate::plugins::Refused;
use crate::prove::simulation::{self, Before};
use crate::prove::sources;
use crate::read_ahead::PagesAhead;
use crate::recorded;
use crate::tables;
use crate::toolchain;
use crate::warm;
use crate::write::content::{self, Content};
use crate::write::debugger::{self, SYMBOLS};
use crate::write::manifest::{self, PENDING};
use crate::write::output;
use crate::write::ownership::Owned;
use crate::write::product;
use crate::write::publish;
use crate::write::spare;
use crate::write::workplace::Workplace;
use described::{figures, with_more, with_recorded};
use files::Draft;
use job::Job;
use loader::{Environment, Graph, Relocated};
use model::Disk;
use model::bundle::{BundleCheck, BundleFigures, BundleManifest, BundlePopulate, CarriedFile};
use model::toolchain::ToolPart;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use with_plugins::Opened;

/// Name of the bundle's file in its folder.
pub const RUN: &str = "run";

/// How a bundle is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleOptions {
    /// At fixed addresses, chosen by chance once: faster, but without address-space layout
    /// randomization.
    pub fixed: bool,
    /// Constants are mapped together with the code next to them: faster, but they are executable then.
    pub join: bool,
    /// Libraries to leave outside: names (`libfoo`), paths, or folders.
    pub outside: Vec<String>,
    /// What the bundle reads ahead where it is not in memory.
    pub read_ahead: Option<PagesAhead>,
    /// What it will be read from then; otherwise as the recording shows it.
    pub disk: Option<Disk>,
    /// What it maps at once at every start.
    pub populate: Option<BundlePopulate>,
    /// Sentences about the launches that were recorded for that.
    pub of_launches: Vec<String>,
    /// What the environment will tell the loader at a start; otherwise as now.
    pub environment: Option<Box<Environment>>,
    /// What it looks at when it is started.
    pub check: BundleCheck,
    /// Folders whose files never change under a name, besides those of Nix and Guix; for
    /// [`BundleCheck::Immutable`].
    pub immutable: Vec<PathBuf>,
    /// Path that the process is told to be, where the program that is merged stands elsewhere: the bundle
    /// is to stand in the program's place, and what is merged is kept under another name.
    pub told: Option<PathBuf>,
    /// Name by which it is started, where that is not [`RUN`]. A process that was started by it is told
    /// the path instead.
    pub own_name: Option<OsString>,
    /// Libraries to carry beside it, for [`BundleCheck::Sealed`]; plug-ins to merge, for [`BundleCheck::Host`].
    pub include: BTreeSet<PathBuf>,
    /// What a launch has opened, whose libraries are carried or merged, too.
    pub learnt: Option<Learnt>,
    /// What it is to a toolchain.
    pub tool: Option<ToolPart>,
}

/// What was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// What to start.
    pub run: PathBuf,
    /// What it was made of.
    pub manifest: BundleManifest,
    /// Those of the manifest, with what helps.
    pub warnings: Vec<BundleWarning>,
    /// What it takes, and what is left to the loader.
    pub figures: BundleFigures,
}

/// Makes a bundle of `program` in `folder`, which exists. A bundle that is there is replaced;
/// nothing else is.
///
/// # Errors
/// It is declined, with the reason, a file in the folder is in the way, or one cannot be read or
/// written; what was there can still be started then, or the new bundle can.
pub fn make(program: &Path, folder: &Path, options: &BundleOptions) -> Result<Made, BundleError> {
    let workplace = Workplace::enter(folder);
    let owned = Owned::of(folder, Some(program))?;
    if options.tool.is_none() {
        owned.is_no_tool()?;
    }
    recorded::remove_left(folder);
    make_at((&workplace, &owned), program, folder, options)
}

pub(crate) fn make_at(
    (_, owned): (&Workplace, &Owned),
    program: &Path,
    folder: &Path,
    options: &BundleOptions,
) -> Result<Made, BundleError> {
    let set = options.environment.as_deref().cloned();
    let environment = set.unwrap_or_else(Environment::own);
    let told = options.told.as_deref().unwrap_or(program);
    let graph = loader::load_at(program, told, &environment).map_err(|error| {
        let reason = refuse::of_another_machine(program);
        reason.map_or(error.into(), |reason| BundleError::declined(program, reason))
    })?;
    // Where a file was changed, what went wrong then is no reason.
    let error_of = |error| sources::unchanged(&graph.modules).err().unwrap_or(error);
    let memberships = memberships(&graph, &environment, program, options).map_err(error_of)?;
    let carry = carried(&graph, &memberships, options).map_err(error_of)?;
    let mut placed = carry::placed(&carry, folder)?;
    let job =
        Job { graph: &graph, environment: &environment, program, folder, options, carry: &carry };
    let proved = with_plugins::proved(&job, &memberships).map_err(error_of);
    let named = proved.and_then(|proved| {
        if !proved.plugins.files.is_empty() {
            let Written { files, folder: own } = &proved.plugins;
            placed = carry::named(files.clone(), own, folder)?;
        }
        name(proved, &placed, folder, owned)
    });
    let (commands, made) = match named {
        Ok(named) => named,
        Err(error) => {
            placed.withdraw(folder);
            return Err(error);
        }
    };
    // From here on `run` is the new one, which needs what was placed, whatever happens.
    publish::write_whole(folder, SYMBOLS, commands.as_bytes())?;
    let manifest = publish::finish(folder, made.manifest)?;
    carry::remove_old(folder, owned.manifest.as_ref(), &manifest.carried);
    toolchain::name_again(folder, &manifest);
    warm::after_writing(&made.run);
    Ok(Made { manifest, ..made })
}

/// Gives `run` its name. After an error the former one is there, or none.
fn name(
    proved: Proved,
    placed: &Placed,
    folder: &Path,
    owned: &Owned,
) -> Result<(String, Made), BundleError> {
    let Proved { draft, commands, made, .. } = proved;
    let manifest = BundleManifest { carried: placed.files.clone(), ..made.manifest };
    publish::settle(owned, folder)?;
    publish::write_manifest(&manifest, folder, PENDING)?;
    // It has other stamps, if nothing else; the next base is not to bring those back.
    spare::remove(folder, owned).map_err(|error| BundleError::write(folder, error))?;
    publish::give_name(draft, &made.run, owned)
        .inspect_err(|_| publish::withdraw_manifest(folder))?;
    Ok((commands, Made { manifest, ..made }))
}

/// Which modules are merged, if any bundle is made.
fn memberships(
    graph: &Graph,
    environment: &Environment,
    program: &Path,
    options: &BundleOptions,
) -> Result<Vec<Membership>, BundleError> {
    if let Some(reason) = refuse::reason(graph, environment, options) {
        return Err(BundleError::declined(program, reason));
    }
    Ok(members::choose(graph, &options.outside, options.check))
}

/// What is carried beside the bundle; nothing where its originals are there.
fn carried(
    graph: &Graph,
    memberships: &[Membership],
    options: &BundleOptions,
) -> Result<Carry, BundleError> {
    if options.check != BundleCheck::Sealed {
        return Ok(Carry::default());
    }
    let learnt = options.learnt.as_ref().map(|learnt| &learnt.libraries);
    carry::choose(graph, memberships, &options.include, learnt.unwrap_or(&BTreeSet::new()))
}

/// A bundle that is on the disk without its name.
struct Proved {
    draft: Draft,
    /// For a debugger.
    commands: String,
    made: Made,
    plugins: Written,
}

/// Files of plug-ins that have no names yet.
#[derive(Default)]
struct Written {
    files: Vec<CarriedFile>,
    /// The folder that they will be in.
    folder: String,
}

/// What comes of a bundle: a plug-in can be in the way, which then stays as it is.
type Attempt = Result<Proved, Refused>;

fn proved(
    job: &Job<'_>,
    memberships: &[Membership],
    (relocated, plugins): (&[Relocated], &Opened<'_>),
) -> Result<Attempt, BundleError> {
    let Job { graph, environment, program, folder, options, .. } = *job;
    let declined = |reason| BundleError::declined(program, reason);
    let bases = bases::choose(graph, memberships, options).map_err(declined)?;
    let read_ahead = options.read_ahead.clone().map(|ahead| ahead.for_disk(options.disk));
    let read_ahead = read_ahead.as_ref();
    let spec = job.spec(bases, read_ahead, plugins);
    let (planned, contents) = rayon::join(
        || {
            let plan = plan::plan(graph, relocated, memberships, spec)?;
            tables::of(&plan).map(|tables| (plan, tables))
        },
        || Content::of_modules(&graph.modules),
    );
    let ((plan, mut tables), contents) = (planned?, contents?);
    tables.set_build_id(content::build_id(graph, &contents, options.fixed));
    let run = folder.join(RUN);
    let draft = Draft::create(&run);
    let draft = draft.map_err(|error| BundleError::write(folder, error.into()))?;
    let path = draft.path();
    let bytes = output::write(&plan, &tables, draft.file(), &run)?;
    let before = Before { graph, relocated, environment };
    let proof = simulation::prove(&path, &plan, &before);
    proof.map_err(declined)?;
    if let Err(refused) = plugins.prove(&path, &plan, job) {
        return Ok(Err(refused));
    }
    permitted_as(program, &draft).map_err(|error| BundleError::write(&run, error))?;
    let commands = debugger::commands(&plan.layout);
    let symbols = content::hash(commands.as_bytes());
    let described = || {
        rayon::join(
            || product::of(&path).map_err(|error| BundleError::io(&run, error)),
            || {
                let found = sources::found_again(graph, options.told.as_deref(), environment);
                let layout = &plan.layout;
                let of = (options, environment);
                let manifest = found.map(|()| {
                    manifest::of(program, graph, memberships, contents, layout, of, symbols)
                });
                (manifest, by_handle::warnings(layout))
            },
        )
    };
    let (product, (manifest, warnings)) = publish::synced_meanwhile(draft.file(), &run, described)?;
    sources::unchanged(&graph.modules)?;
    plugins.unchanged()?;
    let warnings = with_more(warnings, job, read_ahead);
    let warnings: Vec<BundleWarning> = warnings.into_iter().chain(plugins.refused()).collect();
    let texts = warnings.iter().map(|warning| warning.text.clone()).collect();
    let made = Made {
        run,
        manifest: BundleManifest {
            product: Some(product?),
            warnings: texts,
            include: included(job, plugins),
            plugins: plugins.described()?,
            ..with_recorded(manifest?, &tables)
        },
        warnings,
        figures: figures(&plan, &tables, relocated, bytes),
    };
    Ok(Ok(Proved { draft, commands, made, plugins: plugins.written() }))
}

/// Libraries that are carried, by the paths by which they were asked for or opened.
fn included(job: &Job<'_>, plugins: &Opened<'_>) -> Vec<String> {
    if job.options.check != BundleCheck::Sealed {
        return plugins.included(&job.options.include);
    }
    let learnt = job.options.learnt.iter().flat_map(|learnt| &learnt.libraries);
    let asked: BTreeSet<&PathBuf> = job.options.include.iter().chain(learnt).collect();
    let is_carried = |path: &&&PathBuf| job.carry.files.iter().any(|it| it.paths.contains(**path));
    asked.iter().filter(is_carried).map(model::text::text).collect()
}

/// Who may start the program may start the bundle.
fn permitted_as(program: &Path, draft: &Draft) -> std::io::Result<()> {
    let mode = std::fs::metadata(program).map_or(0o755, |data| data.permissions().mode() & 0o777);
    draft.file().set_permissions(std::fs::Permissions::from_mode(mode))
}
