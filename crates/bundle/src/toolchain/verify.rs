//! What has become of a toolchain: of each bundle, and of the links to it.

use super::{TOOLCHAIN, read};
use crate::error::BundleError;
use crate::make::RUN;
use crate::verify::{MakeAgain, Verified, verify};
use crate::write::workplace;
use model::text::name;
use model::toolchain::{TOOLCHAIN_SCHEMA, ToolVerification, ToolchainTool, ToolchainVerification};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What has become of a toolchain.
#[derive(Debug)]
pub struct VerifiedToolchain {
    /// What was found.
    pub found: ToolchainVerification,
    /// How its tools are made again, in the order of those that were found.
    pub again: Vec<Option<MakeAgain>>,
}

/// Looks at every tool of the toolchain in `folder` as at a bundle, and at the links to it.
///
/// # Errors
/// There is no toolchain.
pub fn verify_toolchain(folder: &Path) -> Result<VerifiedToolchain, BundleError> {
    let _unchanged = workplace::look(folder);
    let manifest = read(folder)?;
    let tools = manifest.tools.iter().map(|tool| verified(folder, tool));
    let (found, again): (Vec<_>, Vec<_>) = tools.unzip();
    let current = found.iter().all(|tool| tool.reason.is_none());
    let toolchain = manifest.toolchain;
    let found = ToolchainVerification {
        schema: TOOLCHAIN_SCHEMA,
        toolchain,
        current,
        tools: found,
        remedy: None,
    };
    Ok(VerifiedToolchain { found, again })
}

fn verified(folder: &Path, tool: &ToolchainTool) -> (ToolVerification, Option<MakeAgain>) {
    let bundle = folder.join(name(&tool.folder));
    let (found, again, reason) = match verify(&bundle) {
        Ok(Verified { found, again }) => {
            let is_right = found.current && found.used;
            let first = found.changes.first();
            let change = first.map(|change| format!("{}: {}", change.path, change.found));
            let reason = found.reason.clone().or(change);
            let untold = || "it is not used".to_owned();
            (Some(found), again, (!is_right).then(|| reason.unwrap_or_else(untold)))
        }
        Err(error) => (None, None, Some(error.to_string())),
    };
    let links = changed_links(folder, tool);
    let of_link = || {
        let (link, found) = links.first_key_value()?;
        Some(format!("{}: {found}", folder.join(name(link)).display()))
    };
    let reason = reason.or_else(of_link);
    let (program, folder) = (tool.program.clone(), tool.folder.clone());
    (ToolVerification { program, folder, links, found, reason }, again)
}

/// The links that do not lead to the bundle, and what they are.
fn changed_links(folder: &Path, tool: &ToolchainTool) -> BTreeMap<String, String> {
    let run = folder.join(name(&tool.folder)).join(RUN).symlink_metadata().ok();
    let changed = |(link, target): (&String, &String)| {
        let path = folder.join(name(link));
        let found = match std::fs::read_link(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => "it is not there",
            Err(_) => "it is no link any more",
            Ok(now) if now != Path::new(&name(target)) => "it leads elsewhere",
            Ok(_) => {
                let (run, now) = (run.as_ref()?, path.metadata().ok());
                let is_run =
                    now.is_some_and(|now| (now.dev(), now.ino()) == (run.dev(), run.ino()));
                if is_run {
                    return None;
                }
                "the file to which it leads is not run, which was made or moved since"
            }
        };
        Some((link.clone(), format!("{found} (see {TOOLCHAIN})")))
    };
    tool.links.iter().filter_map(changed).collect()
}
