//! Bundles of the tools of a compiler, in one folder for PATH.

use crate::bundle::BundleVerification;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the JSON shape of [`ToolchainManifest`] and [`ToolchainVerification`].
pub const TOOLCHAIN_SCHEMA: u32 = 1;

/// Which tools start each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Toolchain {
    /// clang, and the linkers that it starts.
    Clang,
    /// gcc and g++, the compilers, the assembler and the linker that they start.
    Gcc,
    /// rustc.
    Rustc,
}

impl Toolchain {
    /// All of them.
    pub const ALL: [Toolchain; 3] = [Toolchain::Clang, Toolchain::Gcc, Toolchain::Rustc];

    /// Its word, and the name of its program.
    pub fn word(self) -> &'static str {
        match self {
            Toolchain::Clang => "clang",
            Toolchain::Gcc => "gcc",
            Toolchain::Rustc => "rustc",
        }
    }
}

/// What a bundle is to a toolchain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolPart {
    /// The toolchain.
    pub toolchain: Toolchain,
    /// The program that was named for it.
    pub driver: String,
    /// A second name of the bundle's file in its folder: that of the tool.
    pub entry: String,
    /// Names by which the bundle is started, and the path that the process is told then.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// Paths of programs, and the bundles that are executed in their place, from this one's folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub companions: BTreeMap<String, String>,
    /// It is used where LD_LIBRARY_PATH leads to the same libraries, whatever its value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any_library_path: bool,
    /// How it is chosen among several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<ToolSelection>,
}

/// How a tool is chosen among several of the same name: by variables of the environment, and by no argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSelection {
    /// The program that chooses, which is started in all other cases.
    pub by: String,
    /// What has to be set.
    pub variables: BTreeMap<String, String>,
}

/// The manifest of a toolchain: `headstart-toolchain.json` in its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolchainManifest {
    /// [`TOOLCHAIN_SCHEMA`].
    pub schema: u32,
    /// Version of headstart that made it.
    pub headstart: String,
    /// The toolchain.
    pub toolchain: Toolchain,
    /// The program that was named for it.
    pub program: String,
    /// Its bundles, each after those that it starts.
    pub tools: Vec<ToolchainTool>,
    /// Tools that are not bundles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub originals: Vec<ToolchainOriginal>,
    /// Files that were left where they are, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
}

/// A bundle of a toolchain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolchainTool {
    /// The program.
    pub program: String,
    /// The bundle's folder, from the toolchain's.
    pub folder: String,
    /// Size of the bundle.
    pub bytes: u64,
    /// Links to it in the toolchain's folder.
    pub links: BTreeMap<String, String>,
}

/// A tool that is not a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolchainOriginal {
    /// The program.
    pub program: String,
    /// Why.
    pub reason: String,
}

/// What has become of a toolchain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolchainVerification {
    /// [`TOOLCHAIN_SCHEMA`].
    pub schema: u32,
    /// The toolchain.
    pub toolchain: Toolchain,
    /// All tools are right.
    pub current: bool,
    /// Its tools.
    pub tools: Vec<ToolVerification>,
    /// The next step, where something is not right.
    pub remedy: Option<String>,
}

/// What has become of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolVerification {
    /// The program.
    pub program: String,
    /// The bundle's folder.
    pub folder: String,
    /// Names in the toolchain's folder that do not lead to it any more, and what they are.
    pub links: BTreeMap<String, String>,
    /// What was found; none where there is no bundle any more.
    pub found: Option<BundleVerification>,
    /// Why it is not right.
    pub reason: Option<String>,
}
