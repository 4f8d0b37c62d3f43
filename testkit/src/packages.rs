//! Debian packages: what is missing is installed where that is permitted, else said loudly.

use crate::Tool;
use std::io::{IsTerminal, Result};
use std::process::{Command, Stdio};

/// Options of every installation: no questions, and nothing that is merely recommended.
const INSTALL: [&str; 3] = ["install", "-y", "--no-install-recommends"];

/// Installs the packages of those `tools` that are missing, and gives the tools that still are.
/// Where nothing is missing nothing is run.
///
/// # Errors
/// A program that was found cannot be started.
pub fn ensure(tools: &[&'static Tool]) -> Result<Vec<&'static Tool>> {
    let absent = missing(tools);
    if absent.is_empty() {
        return Ok(absent);
    }
    let packages = packages(&absent);
    match become_root() {
        Some(prefix) if crate::find("apt-get").is_some() => install(&prefix, &packages)?,
        _ => {}
    }
    let left = missing(&absent);
    for tool in &left {
        eprintln!("SKIPPED: everything that needs {}: {}", tool.name, tool.why);
    }
    if !left.is_empty() {
        eprintln!(
            "To install it: sudo apt-get {} {}",
            INSTALL.join(" "),
            self::packages(&left).join(" ")
        );
    }
    Ok(left)
}

fn missing(tools: &[&'static Tool]) -> Vec<&'static Tool> {
    tools.iter().copied().filter(|tool| crate::find(tool.name).is_none()).collect()
}

/// The packages of some tools, each once.
fn packages(tools: &[&'static Tool]) -> Vec<&'static str> {
    let mut packages: Vec<&str> =
        tools.iter().flat_map(|tool| tool.package.split_whitespace()).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

/// Words in front of a command that make it run as root: none for root itself, `sudo` where it
/// can be used here. A password can be typed only at a terminal.
fn become_root() -> Option<Vec<&'static str>> {
    if crate::host::is_root() {
        return Some(Vec::new());
    }
    crate::find("sudo")?;
    if std::io::stdin().is_terminal() {
        return Some(vec!["sudo"]);
    }
    let asked = Command::new("sudo").args(["-n", "true"]).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success()).then(|| vec!["sudo", "-n"])
}

/// The package lists of a new machine are empty or old: they are fetched first. Should apt-get
/// refuse all together, each is tried by itself, so that one unknown name costs one package.
fn install(prefix: &[&str], packages: &[&str]) -> Result<()> {
    apt_get(prefix, &["update", "-qq"])?;
    if apt_get(prefix, &[&INSTALL[..], packages].concat())? {
        return Ok(());
    }
    for package in packages {
        apt_get(prefix, &[&INSTALL[..], &[package]].concat())?;
    }
    Ok(())
}

fn apt_get(prefix: &[&str], arguments: &[&str]) -> Result<bool> {
    // env, because sudo does not pass variables on.
    let words = [prefix, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"], arguments].concat();
    println!("$ {}", words.join(" "));
    let mut command = Command::new(words[0]);
    // dpkg's progress is left out; its errors come by stderr.
    command.args(&words[1..]).env("LC_ALL", "C").stdout(Stdio::null());
    Ok(command.status()?.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_named_once() {
        let tools: Vec<&Tool> =
            ["gcc", "cc", "musl-gcc"].into_iter().filter_map(crate::known).collect();
        assert_eq!(packages(&tools), ["gcc", "libc6-dev", "musl-tools"]);
    }

    #[test]
    fn nothing_is_run_where_nothing_is_missing() {
        let tool: &'static Tool = &Tool {
            name: "sh",
            package: "no-such-package",
            need: crate::Need::Tests,
            why: "is everywhere",
        };
        assert_eq!(ensure(&[tool]).unwrap(), Vec::<&Tool>::new());
    }
}
