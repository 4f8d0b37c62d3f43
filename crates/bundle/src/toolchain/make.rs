//! Making a toolchain: first the bundles, then their names, then what is no longer needed goes.

use super::links::{self, Links};
use super::tool::{Tool, Tools};
use super::{BUNDLES, TOOLCHAIN, clang, find, gcc, is_toolchain, prove, read, remove, rustc};
use crate::error::BundleError;
use crate::make::{BundleOptions, Made, RUN, make};
use crate::plan::freshness::is_base;
use crate::started::is_safe_to_start;
use crate::write::manifest::{MANIFEST, PENDING};
use crate::write::ownership::{OF_OTHERS, lstat, taken};
use crate::write::publish;
use crate::write::workplace::Workplace;
use loader::Environment;
use model::text::{name, text};
use model::toolchain::{
    TOOLCHAIN_SCHEMA, Toolchain, ToolchainManifest, ToolchainOriginal, ToolchainTool,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Which toolchain is made, and how.
#[derive(Clone, Debug)]
pub struct ToolchainRequest {
    /// The toolchain.
    pub toolchain: Toolchain,
    /// Its compiler, if not the first of its name along PATH: an absolute path, or a name.
    pub program: Option<PathBuf>,
    /// Options of all its bundles.
    pub options: BundleOptions,
}

/// What was made.
#[derive(Clone, Debug)]
pub struct MadeToolchain {
    /// Its bundles, and what is no bundle.
    pub manifest: ToolchainManifest,
    /// Warnings of the bundles, behind the path of each program.
    pub warnings: Vec<String>,
}

/// Makes the toolchain in `folder`, which exists. `observe` is told of each program whose bundle is made. One
/// that is there is replaced: its bundles one by one, then the names.
///
/// # Errors
/// The compiler is no bundle, a file in the folder is in the way, or one cannot be written. The names that
/// were there lead to what they led to, or to new bundles of the same programs.
pub fn make_toolchain(
    request: &ToolchainRequest,
    folder: &Path,
    observe: &mut dyn FnMut(&Path),
) -> Result<MadeToolchain, BundleError> {
    let path = find::search_path(folder);
    let named = request.program.as_deref();
    let tools = match request.toolchain {
        Toolchain::Clang => clang::tools(named, &path)?,
        Toolchain::Gcc => gcc::tools(named, &path)?,
        Toolchain::Rustc => rustc::tools(named, &path)?,
    };
    let _workplace = Workplace::enter(folder);
    let before = before(folder, request.toolchain)?;
    for driver in tools.tools.iter().filter(|tool| tool.is_driver) {
        prove::is_compiler(request.toolchain, driver, &path)?;
    }
    let links = Links::new(folder, before.as_ref());
    for tool in &tools.tools {
        check(tool, folder, &links)?;
    }
    let (path, tools) = (&path[..], &tools);
    let mut work = Work { folder, request, tools, path, bundles: Vec::new(), fresh: Vec::new() };
    let mut made = Vec::new();
    let mut originals = Vec::new();
    for tool in &tools.tools {
        match work.bundle_of(tool, observe) {
            Ok(Ok(bundle)) => made.push((tool, bundle)),
            Ok(Err(reason)) => {
                work.bundles.push(None);
                originals.push(ToolchainOriginal { program: text(&tool.program), reason });
            }
            Err(error) => {
                work.withdraw();
                return Err(error);
            }
        }
    }
    let warnings = made.iter().flat_map(|(tool, made)| {
        let warnings = made.manifest.warnings.iter();
        warnings.map(|warning| format!("{}: {warning}", tool.program.display()))
    });
    let warnings = warnings.collect();
    let manifest = named_now(tools, &made, originals, (folder, &links))?;
    Ok(MadeToolchain { manifest, warnings })
}

/// The manifest of the toolchain that is there.
///
/// # Errors
/// Something else is there.
fn before(folder: &Path, toolchain: Toolchain) -> Result<Option<ToolchainManifest>, BundleError> {
    if folder.canonicalize().is_ok_and(|folder| folder.parent().is_none()) {
        return Err(taken(folder, "is the root folder, and a toolchain needs its own"));
    }
    let of_bundle = [RUN, MANIFEST, PENDING].map(|name| (name, "a bundle"));
    let others = OF_OTHERS.into_iter().filter(|(name, _)| *name != TOOLCHAIN);
    for (name, of) in others.chain(of_bundle) {
        let path = folder.join(name);
        if lstat(&path)?.is_some() {
            return Err(taken(&path, &format!("is there: this is the folder of {of}")));
        }
    }
    let bundles = folder.join(BUNDLES);
    if lstat(&bundles)?.is_some_and(|data| !data.is_dir()) {
        return Err(taken(&bundles, "is no folder, and the bundles go there"));
    }
    let path = folder.join(TOOLCHAIN);
    if lstat(&path)?.is_some_and(|data| !data.is_file()) {
        return Err(taken(&path, "is no regular file"));
    }
    if !is_toolchain(folder) {
        return Ok(None);
    }
    let manifest = read(folder).map_err(|error| match error {
        BundleError::NotABundle { found, .. } => {
            taken(folder, &format!("has a manifest that is not of a toolchain ({found})"))
        }
        error => error,
    })?;
    if manifest.toolchain != toolchain {
        let found = format!("has the toolchain {}", manifest.toolchain.word());
        return Err(taken(folder, &found));
    }
    Ok(Some(manifest))
}

/// Refuses what is in the way of a tool before anything is made.
fn check(tool: &Tool, folder: &Path, links: &Links<'_>) -> Result<(), BundleError> {
    tool.names.keys().try_for_each(|name| links.check(name))?;
    let bundle = folder.join(tool.folder());
    if lstat(&bundle)?.is_some_and(|data| !data.is_dir()) {
        return Err(taken(&bundle, "is no folder, and a bundle goes there"));
    }
    links::check_entry(&bundle, Path::new(tool.file_name()), &tool.program)
}

/// Bundles that are being made.
struct Work<'a> {
    folder: &'a Path,
    request: &'a ToolchainRequest,
    tools: &'a Tools,
    /// Where the programs are looked for.
    path: &'a [PathBuf],
    /// Those of the tools so far, from the toolchain's folder.
    bundles: Vec<Option<PathBuf>>,
    /// Folders that were not there before.
    fresh: Vec<PathBuf>,
}

impl Work<'_> {
    /// The bundle of a tool, or why it has none.
    fn bundle_of(
        &mut self,
        tool: &Tool,
        observe: &mut dyn FnMut(&Path),
    ) -> Result<Result<Made, String>, BundleError> {
        let part = tool.part(self.tools, &self.bundles);
        let starts_none = part.companions.is_empty() && !tool.is_driver;
        if starts_none && gains_nothing(&tool.program) {
            return Ok(Err("it has no libraries that could be merged".to_owned()));
        }
        observe(&tool.program);
        let (relative, path) = (tool.folder(), self.folder.join(tool.folder()));
        if lstat(&path)?.is_none() {
            let made = std::fs::create_dir_all(&path);
            made.map_err(|error| BundleError::write(&path, error))?;
            self.fresh.push(path.clone());
        }
        if tool.is_driver {
            is_safe_to_start(&path)?;
        }
        let options = self.request.options.clone();
        let environment = Some(Box::new(Environment::default()));
        let options = BundleOptions { tool: Some(part), environment, ..options };
        match make(&tool.program, &path, &options) {
            Ok(made) => {
                if tool.is_driver {
                    self.prove(tool, &made, &path)?;
                }
                self.bundles.push(Some(relative));
                Ok(Ok(made))
            }
            Err(error) if !tool.is_driver && is_reason(&error) => {
                if self.fresh.last() == Some(&path) {
                    // Nothing was made there.
                    drop(std::fs::remove_dir(&path));
                }
                Ok(Err(reason_of(&error)))
            }
            Err(error) => Err(error),
        }
    }

    /// Makes sure that the compiler finds its files; a bundle with which it does not goes again.
    fn prove(&self, tool: &Tool, made: &Made, bundle: &Path) -> Result<(), BundleError> {
        let of = (&*made.run, &made.manifest);
        let proved = prove::same_answers(self.tools.toolchain, tool, of, self.path);
        proved.inspect_err(|_| drop(remove::bundle_at(bundle)))
    }

    /// Removes what was made in vain.
    fn withdraw(&self) {
        for bundle in &self.fresh {
            if remove::bundle_at(bundle).is_err() {
                drop(std::fs::remove_dir(bundle));
            }
        }
        drop(std::fs::remove_dir(self.folder.join(BUNDLES)));
    }
}

/// Whether a program has no libraries besides those that stay outside anyway.
fn gains_nothing(program: &Path) -> bool {
    let graph = loader::load(program, &Environment::own());
    graph.is_ok_and(|graph| graph.modules.iter().skip(1).all(|module| is_base(&graph, module)))
}

/// Whether a program is no bundle for a reason of its own.
fn is_reason(error: &BundleError) -> bool {
    use BundleError as Error;
    matches!(
        error,
        Error::Declined { .. } | Error::Closure(_) | Error::Unresolved { .. } | Error::Image(_)
    )
}

fn reason_of(error: &BundleError) -> String {
    match error {
        BundleError::Declined { reason, .. } => reason.to_string(),
        error => error.to_string(),
    }
}

/// Switches the names to the bundles, writes the manifest, and removes what is no longer needed.
fn named_now(
    tools: &Tools,
    made: &[(&Tool, Made)],
    originals: Vec<ToolchainOriginal>,
    (folder, links): (&Path, &Links<'_>),
) -> Result<ToolchainManifest, BundleError> {
    let mut of_tools = Vec::new();
    let mut all = BTreeMap::new();
    for (tool, made) in made {
        let relative = tool.folder();
        let file = links::second_name(&folder.join(&relative), Path::new(tool.file_name()));
        let target = relative.join(file);
        for name in tool.names.keys() {
            links.switch(name, &target)?;
            all.insert(name.clone(), target.clone());
        }
        let names = tool.names.keys().map(|name| (text(name), text(&target)));
        of_tools.push(ToolchainTool {
            program: text(&tool.program),
            folder: text(&relative),
            bytes: made.figures.bytes,
            links: names.collect(),
        });
    }
    let manifest = ToolchainManifest {
        schema: TOOLCHAIN_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        toolchain: tools.toolchain,
        program: text(&tools.driver),
        tools: of_tools,
        originals,
        left: Vec::new(),
    };
    let path = folder.join(TOOLCHAIN);
    let json = |manifest: &ToolchainManifest| {
        let json = serde_json::to_vec_pretty(manifest);
        json.map_err(|error| BundleError::io(&path, error.into()))
    };
    publish::write_whole(folder, TOOLCHAIN, &[json(&manifest)?, b"\n".to_vec()].concat())?;
    links.remove_others(&all);
    let stay: BTreeSet<OsString> = manifest.tools.iter().filter_map(folder_name).collect();
    let left = remove::others(folder, &stay);
    Ok(ToolchainManifest { left, ..manifest })
}

fn folder_name(tool: &ToolchainTool) -> Option<OsString> {
    Some(Path::new(&name(&tool.folder)).file_name()?.to_owned())
}
