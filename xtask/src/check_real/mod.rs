//! Checks of the built command on the real programs of this machine, against other tools. By
//! hand only: they take minutes, and times depend on what else the machine does.

mod alone;
mod answers;
mod build;
pub mod bundle;
mod every_program;
mod experiments;
mod explain;
mod figures;
mod file_systems;
mod generate;
mod growth;
mod headstart;
mod hints;
mod hot;
mod hyperfine;
mod identify;
mod inspect;
mod launcher;
mod memory;
mod optimize;
mod own_start;
mod pe;
mod pe_files;
mod programs;
mod readelf;
mod realign;
mod rebase;
mod report;
pub mod rounds;
mod same;
mod simulate;
mod slowdown;
mod timing;
mod wine;

use crate::cargo::{cargo, succeeds};
use crate::packages;
use anyhow::{Context as _, Result, bail, ensure};
use headstart::Headstart;
use report::Report;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use testkit::Tool;

/// Emacs, started and ended at once.
const EMACS: [&str; 5] = ["emacs", "--batch", "-Q", "--eval", "(kill-emacs)"];

/// What checks work with.
pub struct Context {
    /// The built command.
    headstart: Headstart,
    /// A folder that goes away afterwards.
    scratch: PathBuf,
    /// The CPU to which everything that is compared is pinned.
    cpu: u32,
}

impl Context {
    /// hyperfine beside headstart.
    fn pinned(&self) -> hyperfine::Pinned<'_> {
        hyperfine::Pinned { scratch: &self.scratch, cpu: self.cpu, empty_environment: false }
    }

    /// The present user, and `nobody` where one may become that.
    fn users(&self) -> Result<Vec<(&'static str, Headstart)>> {
        let own = Headstart { as_nobody: false, ..self.headstart.clone() };
        if !nix::unistd::geteuid().is_root() {
            return Ok(vec![("own user", own)]);
        }
        let scratch = self.scratch.join("nobody");
        open_folder(&scratch)?;
        let nobody = Headstart { scratch, as_nobody: true, ..own.clone() };
        Ok(vec![("root", own), ("nobody", nobody)])
    }
}

impl Context {
    /// This very program, run by the same user as `headstart`.
    fn own_program(&self, headstart: &Headstart) -> Result<Headstart> {
        let program = self.scratch.join("xtask");
        if !program.exists() {
            std::fs::copy(std::env::current_exe()?, &program)?;
        }
        Ok(Headstart { program, ..headstart.clone() })
    }
}

struct Check {
    name: &'static str,
    about: &'static str,
    tools: &'static [&'static str],
    run: fn(&Context) -> Result<Report>,
}

const CHECKS: &[Check] = &[
    Check {
        name: "launcher",
        about: "a launch costs little more than a bare loop's",
        tools: &["cc", "hyperfine"],
        run: launcher::check,
    },
    Check {
        name: "same",
        about: "two copies of one program are not called different",
        tools: &["git", "hyperfine"],
        run: same::check,
    },
    Check {
        name: "slowdown",
        about: "3 % slower is called slower",
        tools: &["cc", "hyperfine"],
        run: slowdown::check,
    },
    Check {
        name: "memory",
        about: "memory held elsewhere does not show",
        tools: &["cc"],
        run: memory::check,
    },
    Check {
        name: "own-start",
        about: "headstart starts as fast as hyperfine, is small, and writes its files",
        tools: &["hyperfine", "strip"],
        run: own_start::check,
    },
    Check {
        name: "explain",
        about: "phases add up, and agree with untraced launches and with glibc",
        tools: &["inkscape", "clang-19", "emacs", "gdb", "setpriv"],
        run: explain::check,
    },
    Check {
        name: "inspect",
        about: "static facts equal readelf's on every ELF file of /usr/bin and /usr/lib",
        tools: &["readelf", "chromium"],
        run: inspect::check,
    },
    Check {
        name: "identify",
        about: "files are told apart far faster than file does, and stay in memory as they were",
        tools: &["file", "strace"],
        run: identify::check,
    },
    Check {
        name: "generate",
        about: "workloads are emitted far faster than a compiler builds them",
        tools: &["gcc", "clang-19"],
        run: generate::check,
    },
    Check {
        name: "growth",
        about: "the laws by which glibc's loader grows are found",
        tools: &["valgrind"],
        run: growth::check,
    },
    Check {
        name: "hot",
        about: "the function in which a slow launch spends its time is named",
        // Its package brings the debug information of the C library and the loader.
        tools: &["valgrind"],
        run: hot::check,
    },
    Check {
        name: "experiments",
        about: "the published experiments run end to end, on several file systems",
        tools: &["mksquashfs", "mkfs.btrfs", "wine64"],
        run: experiments::check,
    },
    Check {
        name: "simulate",
        about: "the simulated loader binds as glibc's own does, on every program of /usr/bin",
        tools: &["inkscape", "chromium", "clang-19", "emacs", "gdb", "git"],
        run: simulate::check,
    },
    Check {
        name: "optimize",
        about: "every program of /usr/bin and /usr/sbin does the same after optimize",
        tools: &[],
        run: optimize::check,
    },
    Check {
        name: "alone",
        about: "every program of /usr/bin and /usr/sbin answers the same after each ELF change",
        tools: &[],
        run: alone::check,
    },
    Check {
        name: "bundle",
        about: "bundles and the other variants start large programs as fast as was promised",
        tools: &[
            "inkscape", "clang-19", "chromium", "soffice", "emacs", "python3", "git", "perl",
            "node", "strace", "gcc", "readelf",
        ],
        run: bundle::check,
    },
    Check {
        name: "pe",
        about: "static facts of PE files equal llvm-readobj's and pefile's",
        tools: &["llvm-readobj-19", "wine64", "python3", "pip3", "mvn"],
        run: pe::check,
    },
    Check {
        name: "realign",
        about: "every real PE file is laid out anew with the same facts and memory, and back",
        tools: &["wine64", "python3"],
        run: realign::check,
    },
    Check {
        name: "wine",
        about: "rewritten PE files do under Wine what they did, and start sooner",
        tools: &["wine64", "x86_64-w64-mingw32-gcc"],
        run: wine::check,
    },
    Check {
        name: "rebase",
        about: "PE files move there and back, faster than Cygwin's rebase moves them",
        tools: &["wine64", "python3", "pip3", "mvn"],
        run: rebase::check,
    },
    Check {
        name: "hints",
        about: "imports are found sooner under Wine; real files are rewritten without failure",
        tools: &["wine64", "python3", "pip3", "mvn"],
        run: hints::check,
    },
    Check {
        name: "programs",
        about: "measure and explain on large programs",
        tools: &[
            "emacs",
            "inkscape",
            "soffice",
            "chromium",
            "clang-19",
            "python3",
            "git",
            "redis-server",
        ],
        run: programs::check,
    },
];

/// Runs the checks of these names, or all. True if every bar was reached.
///
/// # Errors
/// There is no such check, or headstart cannot be built.
pub fn run(names: &[&str]) -> Result<bool> {
    for name in names {
        if !CHECKS.iter().any(|check| check.name == *name) {
            let known: Vec<String> = CHECKS
                .iter()
                .map(|check| format!("  {:<10} {}", check.name, check.about))
                .collect();
            bail!("there is no check '{name}'; there are:\n{}", known.join("\n"));
        }
    }
    let chosen = CHECKS.iter().filter(|check| names.is_empty() || names.contains(&check.name));
    let chosen: Vec<&Check> = chosen.collect();
    let tools: Vec<&'static Tool> = testkit::TOOLS
        .iter()
        .filter(|tool| chosen.iter().any(|check| check.tools.contains(&tool.name)))
        .collect();
    packages::ensure(&tools)?;
    let folder = tempfile::tempdir()?;
    let context = context(&folder)?;
    let mut good = true;
    for check in chosen {
        warn_if_busy();
        println!("\n== {}: {} (CPU {})", check.name, check.about, context.cpu);
        match (check.run)(&context) {
            Ok(report) => {
                print!("{report}");
                good &= report.good();
            }
            Err(error) => {
                println!("FAIL: {error:#}");
                good = false;
            }
        }
    }
    Ok(good)
}

/// Times that are compared across minutes mean little beside other work.
fn warn_if_busy() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let last_minute = load.split(' ').next().and_then(|word| word.parse::<f64>().ok());
    let cpus = os::host::allowed_cpus().len() as f64;
    if let Some(load) = last_minute.filter(|load| *load > cpus / 2.0) {
        println!(
            "\nWARNING: this machine is busy (load {load} on {cpus} CPUs); bars may fail for that"
        );
    }
}

/// Builds headstart, and copies it to where every user can run it.
fn context(folder: &tempfile::TempDir) -> Result<Context> {
    ensure!(
        succeeds(&mut cargo(&["build", "--release", "--package", "headstart"]))?,
        "no headstart"
    );
    let built = crate::built_headstart()?;
    let scratch = folder.path().to_owned();
    open_folder(&scratch)?;
    let program = scratch.join("headstart");
    std::fs::copy(&built, &program).with_context(|| format!("no {}", built.display()))?;
    let headstart = Headstart {
        program,
        scratch: scratch.clone(),
        as_nobody: false,
        empty_environment: false,
        environment: Vec::new(),
    };
    Ok(Context { headstart, scratch, cpu: os::host::quiet_cpu() })
}

/// A folder that everyone may write to.
fn open_folder(folder: &std::path::Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let everyone = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder, everyone)
        .with_context(|| format!("{} cannot be opened to all users", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_checks_are_known() {
        for tool in CHECKS.iter().flat_map(|check| check.tools) {
            assert!(testkit::known(tool).is_some(), "{tool} has no package");
        }
    }

    #[test]
    fn an_unknown_check_names_the_others() {
        let error = run(&["no-such"]).unwrap_err().to_string();
        assert!(error.contains("no-such") && error.contains("slowdown"), "{error}");
    }
}
