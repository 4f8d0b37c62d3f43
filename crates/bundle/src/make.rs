//! Making a bundle.

use crate::content::{self, Content};
use crate::debugger::{self, SYMBOLS};
use crate::error::BundleError;
use crate::layout::{Bases, PAGE, up};
use crate::manifest::{self, MANIFEST, PENDING};
use crate::members::{self, Place};
use crate::output;
use crate::ownership::Owned;
use crate::plan::{self, Wanted};
use crate::product;
use crate::proof::{self, Before};
use crate::spare;
use crate::unsuitable;
use crate::verify;
use crate::workplace::{Workplace, temporary};
use image::Stamp;
use image::apply::{Privilege, privilege};
use image::elf::Loadable;
use image::elf::loadable::Segment;
use loader::{Environment, Graph, Module};
use model::bundle::BundleManifest;
use rand::RngExt;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread::Builder;
use std::time::SystemTime;
use tempfile::NamedTempFile;

/// Name of the bundle's file in its folder.
pub const RUN: &str = "run";

/// How a bundle is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// At fixed addresses, chosen by chance once: faster, but without address-space layout
    /// randomization.
    pub fixed: bool,
    /// Libraries to leave outside: names (`libfoo`), paths, or folders.
    pub outside: Vec<String>,
}

/// What was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// What to start.
    pub run: PathBuf,
    /// What it was made of.
    pub manifest: BundleManifest,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// References that were bound now.
    pub bound: u64,
    /// Symbols that the loader still looks up.
    pub left: usize,
    /// Addresses that move with the bundle at each launch.
    pub moving: usize,
    /// Modules whose constants were put together with their code, as there are more parts than
    /// one file can have.
    pub joined: usize,
}

/// Makes a bundle of `program` in `folder`, which exists. A bundle that is there is replaced;
/// nothing else is.
///
/// # Errors
/// It is declined, with the reason, a file in the folder is in the way, or one cannot be read or
/// written; what was there can still be started then, or the new bundle can.
pub fn make(program: &Path, folder: &Path, options: &Options) -> Result<Made, BundleError> {
    let workplace = Workplace::enter(folder);
    let owned = Owned::of(folder, Some(program))?;
    make_at((&workplace, &owned), program, folder, options)
}

pub(crate) fn make_at(
    (_, owned): (&Workplace, &Owned),
    program: &Path,
    folder: &Path,
    options: &Options,
) -> Result<Made, BundleError> {
    let environment = Environment::own();
    let declined =
        |reason: String| BundleError::Declined { program: program.display().to_string(), reason };
    let graph = loader::load(program, &environment)
        .map_err(|error| of_another_machine(program).map_or(error.into(), declined))?;
    refuse(&graph, &environment, options).map_or(Ok(()), |reason| Err(declined(reason)))?;
    let relocated = loader::bindings(&graph, true);
    let places = members::choose(&graph, &options.outside);
    let bases = bases(&graph, &places, options).map_err(declined)?;
    let fixed = options.fixed;
    let wanted = Wanted { program, own_name: OsStr::new(RUN), bases, fixed };
    let (plan, contents) = rayon::join(
        || plan::plan(&graph, &relocated, &places, &wanted),
        || Content::of_modules(&graph),
    );
    let (mut plan, contents) = (plan?, contents?);
    plan.set_build_id(content::build_id(&graph, &contents, fixed));
    let run = folder.join(RUN);
    let file = temporary(folder)?;
    // Where a file was changed, what went wrong then is no reason.
    let reason = |error: BundleError| unchanged(&graph).err().unwrap_or(error);
    let bytes = output::write(&plan, &graph, file.as_file(), &run).map_err(reason)?;
    let before = Before { graph: &graph, relocated: &relocated, environment: &environment };
    proof::prove(file.path(), &plan, &before).map_err(|found| reason(declined(found)))?;
    let mode = std::fs::metadata(program).map_or(0o755, |data| data.permissions().mode() & 0o777);
    let permissions = std::fs::Permissions::from_mode(mode);
    file.as_file().set_permissions(permissions).map_err(|e| BundleError::write(&run, e))?;
    let commands = debugger::commands(&graph, &plan.layout);
    let symbols = content::hash(commands.as_bytes());
    let described = || {
        rayon::join(
            || product::of(file.path()).map_err(|error| BundleError::io(&run, error)),
            || manifest::of(program, &graph, &places, contents, &plan.layout, options, symbols),
        )
    };
    let (product, manifest) = synced_meanwhile(file.as_file(), &run, described)?;
    let manifest = BundleManifest { product: Some(product?), ..manifest };
    unchanged(&graph)?;
    settle(owned, folder)?;
    write_manifest(&manifest, folder, PENDING)?;
    // It has other stamps, if nothing else; the next base is not to bring those back.
    spare::remove(folder, owned).map_err(|error| BundleError::write(folder, error))?;
    publish(file, &run, owned).inspect_err(|_| withdraw_manifest(folder))?;
    write_whole(folder, SYMBOLS, commands.as_bytes())?;
    finish(folder)?;
    let bound = relocated.iter().map(|module| module.work.references).sum();
    Ok(Made {
        run,
        manifest,
        bytes,
        bound,
        left: plan.fixups.left.references.len(),
        moving: if fixed { 0 } else { plan.relocations.moving.len() },
        joined: plan.layout.joined,
    })
}

/// Makes sure that every file is what was read of it: the bundle would be a mixture of two versions,
/// or be taken for one of the newer version.
fn unchanged(graph: &Graph) -> Result<(), BundleError> {
    let as_it_was = |module: &&Module| module.image.stamp() == Stamp::now(&module.path);
    match graph.modules.iter().find(|module| !as_it_was(module)) {
        Some(module) => Err(BundleError::ChangedMeanwhile(module.path.clone())),
        None => Ok(()),
    }
}

/// Does `work` while the file, which will be at `path`, goes to the disk.
pub(crate) fn synced_meanwhile<T>(
    file: &File,
    path: &Path,
    work: impl FnOnce() -> T,
) -> Result<T, BundleError> {
    std::thread::scope(|scope| {
        let synced = Builder::new().spawn_scoped(scope, || file.sync_all());
        let done = work();
        // Without a thread it goes there now.
        let synced = synced.map_or_else(|_| Ok(file.sync_all()), |thread| thread.join());
        let synced = synced.unwrap_or_else(|_| file.sync_all());
        synced.map(|()| done).map_err(|error| BundleError::write(path, error))
    })
}

/// Gives the file its name, if what had it is still what it was.
fn publish(file: NamedTempFile, run: &Path, owned: &Owned) -> Result<(), BundleError> {
    let replaces = owned.still()?;
    let named = if replaces { file.persist(run) } else { file.persist_noclobber(run) };
    named.map(drop).map_err(|error| BundleError::write(run, error.error))
}

/// What does not get its place has no manifest.
pub(crate) fn withdraw_manifest(folder: &Path) {
    // What went wrong before is what matters.
    let _ = std::fs::remove_file(folder.join(PENDING));
}

/// Ends what an earlier headstart did not finish.
pub(crate) fn settle(owned: &Owned, folder: &Path) -> Result<(), BundleError> {
    owned.settle().map_err(|error| BundleError::write(&folder.join(MANIFEST), error))
}

/// The next manifest is that of `run` now. Its time says when the folder was as it tells.
pub(crate) fn finish(folder: &Path) -> Result<(), BundleError> {
    let path = folder.join(MANIFEST);
    let finished = || {
        std::fs::rename(folder.join(PENDING), &path)?;
        File::options().write(true).open(&path)?.set_modified(SystemTime::now())?;
        File::open(folder)?.sync_all()
    };
    finished().map_err(|error| BundleError::write(&path, error))
}

/// Writes a manifest, which is on the disk then.
pub(crate) fn write_manifest(
    manifest: &BundleManifest,
    folder: &Path,
    name: &str,
) -> Result<(), BundleError> {
    let text = serde_json::to_vec_pretty(manifest);
    let mut text = text.map_err(|error| BundleError::io(&folder.join(name), error.into()))?;
    text.push(b'\n');
    write_whole(folder, name, &text)?;
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| BundleError::write(folder, error))
}

fn write_whole(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), BundleError> {
    let path = folder.join(name);
    let io = |error| BundleError::write(&path, error);
    let mut file = temporary(folder)?;
    file.write_all(bytes).map_err(io)?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(io)?;
    file.as_file().sync_all().map_err(io)?;
    file.persist(&path).map_err(|error| io(error.error))?;
    Ok(())
}

const MACHINE: &str = "x86_64";

fn other_machine(program: &Loadable) -> String {
    format!("it is for {}, and bundles are made for {MACHINE}", program.machine)
}

/// Its libraries would not be found either.
fn of_another_machine(program: &Path) -> Option<String> {
    let program = Loadable::open(program).ok()?;
    (program.machine != MACHINE).then(|| other_machine(&program))
}

/// Why this program is not bundled.
fn refuse(graph: &Graph, environment: &Environment, options: &Options) -> Option<String> {
    let program = graph.modules.first()?;
    if program.image.machine != MACHINE {
        return Some(other_machine(&program.image));
    }
    if let Some(reason) = verify::is_already(&program.image) {
        return Some(reason);
    }
    if environment.preload.is_some() {
        return Some("LD_PRELOAD is set, which a bundle could not follow; unset it".to_owned());
    }
    if program.image.fixed && !options.fixed {
        return Some(
            "its own addresses are fixed (ET_EXEC), so it cannot move; with --fixed its \
             libraries are merged at fixed addresses too"
                .to_owned(),
        );
    }
    if let Some(privilege) = privilege(&program.path).map(Privilege::name) {
        return Some(format!(
            "it is {privilege}, and a copy would not have its privileges; leave it as it is"
        ));
    }
    unsuitable::watched(graph)
        .or_else(|| unsuitable::payload(&program.image))
        .or_else(|| members::cannot_be_merged(&program.image))
}

/// Lowest and highest address of what is chosen by chance: above what fits 32 bits, below where
/// the kernel puts stacks and mappings.
const LOWEST: u64 = 0x1_0000_0000;
const HIGHEST: u64 = 0x5000_0000_0000;
/// Behind a program with fixed addresses its libraries must be near enough for tables of 32-bit
/// distances.
const REACH: u64 = 0x7f00_0000;

fn bases(graph: &Graph, places: &[Place], options: &Options) -> Result<Bases, String> {
    if !options.fixed {
        return Ok(Bases { program: None, libraries: None });
    }
    let Some(program) = graph.modules.first() else {
        return Ok(Bases { program: None, libraries: None });
    };
    if program.image.fixed {
        let merged = graph.modules.iter().zip(places).skip(1).filter(|(_, p)| p.is_merged());
        let sizes = merged.map(|(module, _)| span(&module.image) + module.image.alignment());
        let start = up(end(&program.image), PAGE) + MARGIN;
        let reached = low(&program.image).saturating_add(REACH);
        let last = reached.saturating_sub(sizes.sum::<u64>() + MARGIN);
        let free = start / PAGE..last / PAGE;
        if free.is_empty() {
            return Err(too_large());
        }
        let libraries = Some(rand::rng().random_range(free) * PAGE);
        return Ok(Bases { program: Some(0), libraries });
    }
    Ok(Bases { program: Some(chosen_base(&program.image)), libraries: None })
}

/// A base for an image that can be anywhere.
pub(crate) fn chosen_base(image: &Loadable) -> u64 {
    let chosen = rand::rng().random_range(LOWEST / PAGE..HIGHEST / PAGE) * PAGE;
    up(chosen, image.alignment())
}

/// Room for the bundle's own tables.
const MARGIN: u64 = 64 << 20;

fn too_large() -> String {
    "it spans more than 2 GiB, which tables for exceptions cannot reach; leave large libraries \
     out with --outside"
        .to_owned()
}

fn end(image: &Loadable) -> u64 {
    image.segments().iter().filter(|s| s.loads()).map(Segment::end).max().unwrap_or(0)
}

fn low(image: &Loadable) -> u64 {
    image.segments().iter().filter(|s| s.loads()).map(|s| s.address).min().unwrap_or(0)
}

fn span(image: &Loadable) -> u64 {
    up(end(image).saturating_sub(low(image)), PAGE)
}
