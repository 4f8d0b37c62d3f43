//! Dependencies between the packages of the workspace.

use crate::Violation;
use crate::tree::File;

/// Where the crates are listed from top to bottom.
const LIST: &str = "ARCHITECTURE.md";
/// Packages above all crates.
const ABOVE: [&str; 3] = ["benchmarks", "testkit", "xtask"];

/// Dependencies on a crate that is not below, and crates that are not in the list.
pub fn upward_dependencies(files: &[File]) -> Vec<Violation> {
    let list = files.iter().find(|file| file.path == LIST).map_or("", |file| &file.text);
    let order: Vec<&str> = list.lines().filter_map(listed).collect();
    assert!(order.len() > 10, "{LIST} no longer lists the crates, one `crates/NAME` a line");
    let mut violations = Vec::new();
    for (name, file) in crates(files) {
        let Some(own) = order.iter().position(|other| *other == name) else {
            violations.push(Violation::new(&file.path, 1, format!("{name} is not in {LIST}")));
            continue;
        };
        for (line, dependency) in dependencies(&file.text) {
            let below = order.iter().position(|other| *other == dependency);
            if ABOVE.contains(&dependency) || below.is_some_and(|below| below <= own) {
                let found = format!("{name} depends on {dependency}, which is not below it");
                violations.push(Violation::new(&file.path, line, found));
            }
        }
    }
    let gone = order.iter().filter(|name| !crates(files).any(|(known, _)| known == **name));
    violations.extend(gone.map(|name| Violation::new(LIST, 1, format!("no crates/{name}"))));
    violations
}

/// Manifests of the workspace that do not take its lints.
pub fn packages_without_lints(files: &[File]) -> Vec<Violation> {
    let manifests = files.iter().filter(|file| file.path.ends_with("/Cargo.toml"));
    let members = manifests.filter(|file| !file.path.starts_with("fuzz/"));
    members
        .filter(|file| !file.text.contains("[lints]\nworkspace = true"))
        .map(|file| Violation::new(&file.path, 1, "no [lints] of the workspace"))
        .collect()
}

fn listed(line: &str) -> Option<&str> {
    line.strip_prefix("crates/")?.split([' ', '/']).next()
}

fn crates(files: &[File]) -> impl Iterator<Item = (&str, &File)> {
    files.iter().filter_map(|file| {
        let name = file.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
        Some((name, file))
    })
}

/// Lines and names of what is in the product: tests may use any crate.
fn dependencies(manifest: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut counts = false;
    manifest.lines().enumerate().filter_map(move |(at, line)| {
        if line.starts_with('[') {
            counts = line.ends_with("dependencies]") && !line.contains("dev-");
        }
        let name = line.split(['.', ' ', '=']).next().filter(|name| !name.is_empty())?;
        (counts && !line.starts_with('[')).then_some((at + 1, name))
    })
}

#[test]
fn an_upward_dependency_is_found() {
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let names = ["top", "a", "b", "c", "d", "e", "f", "g", "h", "i", "low"];
    let list: String = names.iter().map(|name| format!("crates/{name}  a crate\n")).collect();
    let mut files = vec![file(LIST, &list)];
    for name in names {
        let needs = if name == "low" { "top.workspace = true" } else { "low.workspace = true" };
        let text = format!("[dependencies]\n{needs}\n[dev-dependencies]\ntop.workspace = true\n");
        files.push(file(&format!("crates/{name}/Cargo.toml"), &text));
    }
    let found = upward_dependencies(&files);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].path.as_str(), found[0].line), ("crates/low/Cargo.toml", 2));
}
