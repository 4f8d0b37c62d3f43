//! The examples in `docs/formats.md` are what headstart writes: each is read as the type it shows
//! and says the same when it is written again.

#![allow(clippy::unwrap_used)]

use model::bundle::{BundleManifest, BundleVerification};
use model::growth::Scale;
use model::load_table::LoadTable;
use model::optimization::{Manifest, OptimizationReport};
use model::simulation::Simulation;
use model::toolchain::{ToolchainManifest, ToolchainVerification};
use model::{
    Check, Experiment, Explanation, Hot, Identity, ImageFacts, InspectedFile, PeSet, Results,
    Sample,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The examples: kind and text.
fn examples() -> Vec<(String, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md");
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```json ").skip(1);
    blocks
        .map(|block| {
            let (kind, rest) = block.split_once('\n').unwrap();
            (kind.to_owned(), rest.split("```").next().unwrap().to_owned())
        })
        .collect()
}

fn round_trip<T: Serialize + DeserializeOwned>(example: &str) -> (Value, Value) {
    let value: T =
        serde_json::from_str(example).unwrap_or_else(|error| panic!("{error}: {example}"));
    (serde_json::to_value(value).unwrap(), serde_json::from_str(example).unwrap())
}

#[test]
fn examples_are_complete_and_exact() {
    let mut kinds = Vec::new();
    for (kind, example) in examples() {
        let (written, shown) = match kind.as_str() {
            "experiment" => round_trip::<Experiment>(&example),
            "sample" => round_trip::<Sample>(&example),
            "explanation" => round_trip::<Explanation>(&example),
            "hot" => round_trip::<Hot>(&example),
            "image" => round_trip::<ImageFacts>(&example),
            "inspected" => round_trip::<InspectedFile>(&example),
            "set" => round_trip::<PeSet>(&example),
            "identity" => round_trip::<Identity>(&example),
            "scale" => round_trip::<Scale>(&example),
            "loads" => round_trip::<LoadTable>(&example),
            "simulation" => round_trip::<Simulation>(&example),
            "optimization" => round_trip::<OptimizationReport>(&example),
            "manifest" => round_trip::<Manifest>(&example),
            "bundle" => round_trip::<BundleManifest>(&example),
            "toolchain" => round_trip::<ToolchainManifest>(&example),
            "toolchain-verification" => round_trip::<ToolchainVerification>(&example),
            "verification" => round_trip::<BundleVerification>(&example),
            "check" => round_trip::<Check>(&example),
            "results" => round_trip::<Results>(&example),
            _ => panic!("what is {kind}?"),
        };
        assert_eq!(written, shown, "{kind}");
        kinds.push(kind);
    }
    let expected = [
        "experiment",
        "sample",
        "results",
        "explanation",
        "hot",
        "image",
        "image",
        "inspected",
        "set",
        "identity",
        "scale",
        "loads",
        "simulation",
        "optimization",
        "manifest",
        "bundle",
        "toolchain",
        "toolchain-verification",
        "verification",
        "check",
    ];
    assert_eq!(kinds, expected);
}
