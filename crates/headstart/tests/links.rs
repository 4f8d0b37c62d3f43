//! Every relative link in the documents leads to a file, and to a heading of it where it names one.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn relative_links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut documents = Vec::new();
    for folder in [".", "docs", "docs/optimizations", "fuzz", "testfiles/elf", "testfiles/pe"] {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        documents.extend(entries.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    assert!(documents.len() > 15, "only {} documents found", documents.len());
    let mut broken = Vec::new();
    let mut checked = 0;
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        for link in links(&text).filter(|link| !link.contains("://")) {
            checked += 1;
            if !leads_somewhere(&document, link) {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
    assert!(checked > 50, "only {checked} links found");
}

/// Targets of `[text](target)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0))
}

fn leads_somewhere(document: &Path, link: &str) -> bool {
    let (path, anchor) = link.split_once('#').map_or((link, None), |(p, a)| (p, Some(a)));
    let target: PathBuf = match path {
        "" => document.to_owned(),
        path => document.with_file_name("").join(path),
    };
    match anchor {
        None => target.exists(),
        Some(anchor) => {
            fs::read_to_string(target).is_ok_and(|text| anchors(&text).contains(anchor))
        }
    }
}

/// The names that GitHub gives to headings.
fn anchors(text: &str) -> HashSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn anchors_are_those_of_github() {
    let anchors = anchors("# relr: pack relocations\ntext\n## `identify --json`\n");
    assert!(anchors.contains("relr-pack-relocations") && anchors.contains("identify---json"));
}
