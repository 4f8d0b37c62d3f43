//! Installed programs on a Debian system of their own: at every step each answers as before, packages
//! verify as before, and in the end every file is as it was; also where headstart is killed or a disk is
//! full.

mod root;
mod scenes;

use crate::context::Context;
use crate::report::{Report, Row};
use anyhow::Result;
use root::Root;
use scenes::Answers;

/// Programs, with the words to which they answer; and the packages that they are in.
const PROGRAMS: [(&str, &str); 26] = [
    ("gs", "--version"),
    ("git", "--version"),
    ("curl", "--version"),
    ("gpg", "--version"),
    ("wget", "--version"),
    ("openssl", "version"),
    ("python3", "--version"),
    ("xmllint", "--version"),
    ("xsltproc", "--version"),
    ("pdfinfo", "-v"),
    ("pdftotext", "-v"),
    ("pdftoppm", "-v"),
    ("ssh", "-V"),
    ("rsync", "--version"),
    ("sqlite3", "--version"),
    ("tmux", "-V"),
    ("gawk", "--version"),
    ("dig", "-v"),
    ("/usr/lib/postgresql/15/bin/psql", "--version"),
    ("ldapsearch", "-VV"),
    ("gdb", "--version"),
    ("nano", "--version"),
    ("zstd", "--version"),
    ("file", "--version"),
    ("jq", "--version"),
    ("vim.tiny", "--version"),
];
const PACKAGES: &str = "ghostscript git curl gpg wget openssl python3 libxml2-utils xsltproc \
                        poppler-utils openssh-client rsync sqlite3 tmux gawk bind9-dnsutils \
                        postgresql-client ldap-utils gdb-minimal nano zstd file jq vim-tiny";
/// Libraries that are upgraded: of one program, and of many.
const UPGRADED: [&str; 2] = ["libxslt1.1", "libxml2"];
/// So many have to be in place.
const LEAST: usize = 20;

/// # Errors
/// There is no such system: only root can make one, and Debian's mirrors have to be within reach.
pub fn check(context: &Context) -> Result<Report> {
    let root = Root::new(context)?;
    let mut rows = Vec::new();
    let before = root.snapshot()?;
    let packages = root.said("dpkg --verify")?;
    let answers = Answers::of(&root, &PROGRAMS)?;
    let mut step = |name: &str, found: Result<Vec<String>>| {
        let mut wrong = found.unwrap_or_else(|error| vec![format!("{error:#}")]);
        wrong.extend(answers.wrong(&root));
        let verified = root.said("dpkg --verify").unwrap_or_else(|error| format!("{error:#}"));
        if verified != packages {
            wrong.push(format!("dpkg --verify: {verified}"));
        }
        let value = if wrong.is_empty() { "none".to_owned() } else { wrong.join("; ") };
        // The whole takes a quarter of an hour.
        println!("  {name}: wrong: {value}");
        rows.push(Row::bar(name, value, "nothing is wrong", wrong.is_empty()));
    };
    step("install", scenes::install(&root));
    step("remove", scenes::remove(&root, &before, &[]));
    step("install again", scenes::install(&root));
    step("a library is upgraded, and nothing renewed", scenes::upgrade(&root, UPGRADED[0], 1));
    step("renew", scenes::renew(&root));
    step("another one is, and dpkg's hook renews", scenes::upgrade_with_hook(&root, UPGRADED[1]));
    step("an unrelated package comes and goes", scenes::unrelated(&root));
    step("a package is reinstalled, and its program removed", scenes::reinstall(&root));
    step("remove after upgrades", scenes::remove(&root, &before, &UPGRADED));
    let before = root.snapshot()?;
    let mut counts = String::new();
    step("killed", scenes::killed(&root, &answers, &mut counts));
    step("remove after kills", scenes::remove(&root, &before, &[]));
    step("a full disk", scenes::full_disk(&root, UPGRADED[0]));
    step("remove after a full disk", scenes::remove(&root, &before, &UPGRADED));
    rows.push(Row::shown("killed", counts));
    Ok(Report { rows })
}
