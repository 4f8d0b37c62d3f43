//! The manifest beside a bundle: every file that it was made of, and the files that were made.

use crate::carry;
use crate::choose::members::Membership;
use crate::error::BundleError;
use crate::make::BundleOptions;
use crate::plan::layout::Layout;
use crate::prove::sources;
use crate::write::content::Content;
use files::reasons;
use loader::{Environment, Graph};
use model::ModuleId;
use model::bundle::{BUNDLE_SCHEMA, BundleManifest, BundledModule};
use model::text::{name, text};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Name of the manifest in a bundle's folder.
pub const MANIFEST: &str = "headstart.json";
/// Name of the next one, until the file that it is of has its place.
pub(crate) const PENDING: &str = ".headstart.json.next";
/// A manifest of a thousand libraries takes about one MiB.
const LONGEST_BYTES: u64 = 64 << 20;

/// Everything about the files that it was made of, with their contents in the order of the modules;
/// nothing yet about the file that was made, nor warnings.
pub(crate) fn of(
    program: &Path,
    graph: &Graph,
    memberships: &[Membership],
    contents: Vec<Content>,
    layout: &Layout<'_>,
    (options, environment): (&BundleOptions, &Environment),
    symbols_sha256: String,
) -> BundleManifest {
    let modules = graph.modules.iter().zip(memberships).zip(contents).enumerate();
    let modules = modules.map(|(index, ((module, membership), content))| {
        let outside = match membership {
            Membership::Merged => None,
            Membership::Outside(reason) => Some(reason.clone()),
        };
        let offset = layout.member(ModuleId::at(index)).map(|member| member.start() - layout.low);
        BundledModule { offset, outside, ..sources::described(index, module, content) }
    });
    BundleManifest {
        schema: BUNDLE_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        program: text(program),
        fixed: options.fixed,
        join: options.join,
        outside: options.outside.clone(),
        check: options.check,
        immutable: options.immutable.iter().map(text).collect(),
        told: options.told.as_ref().map(text),
        own_name: options.own_name.as_ref().map(text),
        library_path: environment.library_path.as_ref().map(text),
        modules: modules.collect(),
        warnings: Vec::new(),
        symbols_sha256: Some(symbols_sha256),
        product: None,
        spare: None,
        read_ahead: None,
        populate: None,
        include: Vec::new(),
        plugins: Vec::new(),
        carried: Vec::new(),
        tool: options.tool.clone(),
    }
}

/// The options with which a bundle was made, but for what it reads ahead and what it maps at once.
pub(crate) fn options(manifest: &BundleManifest) -> BundleOptions {
    BundleOptions {
        fixed: manifest.fixed,
        join: manifest.join,
        outside: manifest.outside.clone(),
        read_ahead: None,
        disk: None,
        populate: None,
        of_launches: Vec::new(),
        check: manifest.check,
        immutable: manifest.immutable.iter().map(|folder| name(folder).into()).collect(),
        told: manifest.told.as_ref().map(|told| name(told).into()),
        own_name: manifest.own_name.as_ref().map(|own| name(own)),
        include: manifest.include.iter().map(|file| name(file).into()).collect(),
        learnt: None,
        tool: manifest.tool.clone(),
        environment: Some(Box::new(Environment {
            library_path: manifest.library_path.as_ref().map(|path| name(path)),
            ..Environment::default()
        })),
    }
}

/// Where `headstart optimize` leaves a variant in its folder.
const OPTIMIZED: &str = "files";

/// The bundle's own folder: `folder`, or the one in it if headstart optimize has made it.
pub(crate) fn own_folder(folder: &Path) -> PathBuf {
    let within = folder.join(OPTIMIZED);
    if within.join(MANIFEST).is_file() { within } else { folder.to_owned() }
}

/// Says whether there is a bundle's manifest, settled or not, in the folder.
///
/// # Errors
/// There is none, or it is not one.
pub(crate) fn read(folder: &Path) -> Result<BundleManifest, BundleError> {
    let (settled, pending) = (folder.join(MANIFEST), folder.join(PENDING));
    if settled.symlink_metadata().is_err() && pending.symlink_metadata().is_ok() {
        return read_at(&pending);
    }
    read_at(&settled)
}

/// A manifest of a bundle.
///
/// # Errors
/// There is none, or it is not one.
pub(crate) fn read_at(path: &Path) -> Result<BundleManifest, BundleError> {
    let wrong = |found: String| BundleError::NotABundle {
        folder: path.parent().unwrap_or(path).to_owned(),
        found: format!("{}: {found}", path.display()),
    };
    let value = read_json(path, &wrong)?;
    if value.get("variant").is_some() {
        return Err(wrong("it is of a program that headstart optimized".to_owned()));
    }
    check_schema(&value, BUNDLE_SCHEMA).map_err(&wrong)?;
    let manifest: BundleManifest = serde_json::from_value(value).map_err(|error| {
        wrong(format!("{error}; use the headstart that wrote it, or make it again in a new folder"))
    })?;
    if let Some(file) = manifest.carried.iter().find(|file| !carry::is_ours(&file.path)) {
        return Err(wrong(format!("it names {:?}, which is no file of a bundle", file.path)));
    }
    let entry = manifest.tool.as_ref().map(|tool| &tool.entry);
    if let Some(entry) = entry.filter(|entry| entry.contains('/') || entry.starts_with('.')) {
        return Err(wrong(format!("it names {entry:?}, which is no file of a bundle")));
    }
    if !manifest.path().is_absolute() {
        return Err(wrong(format!("it names {:?}, which is no absolute path", manifest.program)));
    }
    Ok(manifest)
}

/// The JSON value in a manifest, which is a regular file of some MiB at most. `wrong` makes an
/// error of a sentence that says why it is none.
///
/// # Errors
/// It may not be read, or is no such value.
pub fn read_json(
    path: &Path,
    wrong: &dyn Fn(String) -> BundleError,
) -> Result<serde_json::Value, BundleError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied => BundleError::io(path, error),
        _ => wrong(reasons::unread(path, &error)),
    };
    let data = path.metadata().map_err(failed)?;
    if !data.is_file() || data.len() > LONGEST_BYTES {
        return Err(wrong("it is no manifest: a folder, a device, or too large".to_owned()));
    }
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut text = Vec::new();
    file.take(LONGEST_BYTES).read_to_end(&mut text).map_err(failed)?;
    serde_json::from_slice(&text)
        .map_err(|error| wrong(format!("it is no manifest of ours ({error})")))
}

/// Refuses what another version has written.
///
/// # Errors
/// A sentence.
pub fn check_schema(value: &serde_json::Value, known: u32) -> Result<(), String> {
    match value.get("schema") {
        None => Err("it is no manifest of ours (it has no schema number)".to_owned()),
        Some(schema) if *schema == known => Ok(()),
        Some(schema) => Err(format!(
            "it is of layout {schema}, and this headstart knows {known}: use the headstart that \
             wrote it, or make it again in a new folder"
        )),
    }
}
