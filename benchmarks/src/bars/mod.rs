//! The bars that headstart has to reach, one file or folder each, and running them.

mod alone;
pub mod bundle;
mod bundle_ahead;
mod checks;
pub mod cold;
pub mod containers;
mod eviction;
mod experiments;
pub mod explain;
mod generate;
mod growth;
mod hints;
mod hot;
mod identify;
mod inspect;
mod install;
mod launcher;
mod load;
mod memory;
mod optimize;
mod order;
mod own_start;
mod pe;
mod programs;
mod realign;
mod rebase;
mod same;
mod sharing;
mod simulate;
mod slowdown;
mod wine;

use crate::context::Context;
use crate::report::Report;
use anyhow::{Result, bail};
use testkit::{Tool, packages};

/// One bar: its module has its name.
struct Bar {
    name: &'static str,
    about: &'static str,
    tools: &'static [&'static str],
    check: fn(&Context) -> Result<Report>,
}

const BARS: &[Bar] = &[
    Bar {
        name: "launcher",
        about: "a launch costs little more than a bare loop's",
        tools: &["cc", "hyperfine"],
        check: launcher::check,
    },
    Bar {
        name: "load",
        about: "a list of libraries loads as fast as by a bare loop of dlopen",
        tools: &["gcc"],
        check: load::check,
    },
    Bar {
        name: "same",
        about: "two copies of one program are not called different",
        tools: &["git", "hyperfine"],
        check: same::check,
    },
    Bar {
        name: "slowdown",
        about: "3 % slower is called slower",
        tools: &["cc", "hyperfine"],
        check: slowdown::check,
    },
    Bar {
        name: "memory",
        about: "memory held elsewhere does not show",
        tools: &["cc"],
        check: memory::check,
    },
    Bar {
        name: "sharing",
        about: "memory of processes sums up to what the kernel says; four copies take 2 s at most",
        tools: &["inkscape", "emacs", "node", "python3"],
        check: sharing::check,
    },
    Bar {
        name: "own-start",
        about: "headstart starts as fast as hyperfine, is small, and writes its files",
        tools: &["hyperfine", "strip"],
        check: own_start::check,
    },
    Bar {
        name: "explain",
        about: "phases add up, and agree with untraced launches and with glibc",
        tools: &["inkscape", "clang-19", "emacs", "gdb", "setpriv"],
        check: explain::check,
    },
    Bar {
        name: "inspect",
        about: "static facts equal readelf's on every ELF file of /usr/bin and /usr/lib",
        tools: &["readelf", "chromium"],
        check: inspect::check,
    },
    Bar {
        name: "identify",
        about: "files are told apart far faster than file does, and stay in memory as they were",
        tools: &["file", "strace"],
        check: identify::check,
    },
    Bar {
        name: "generate",
        about: "workloads are emitted far faster than a compiler builds them",
        tools: &["gcc", "clang-19"],
        check: generate::check,
    },
    Bar {
        name: "growth",
        about: "the laws by which glibc's loader grows are found",
        tools: &["valgrind"],
        check: growth::check,
    },
    Bar {
        name: "hot",
        about: "the function in which a slow launch spends its time is named",
        // Its package brings the debug information of the C library and the loader.
        tools: &["valgrind"],
        check: hot::check,
    },
    Bar {
        name: "eviction",
        about: "eviction without root leaves in memory what drop_caches leaves",
        tools: &["emacs", "inkscape", "chromium", "clang-19", "setpriv"],
        check: eviction::check,
    },
    Bar {
        name: "experiments",
        about: "the published experiments run end to end, on several file systems",
        tools: &["mksquashfs", "mkfs.btrfs", "wine64"],
        check: experiments::check,
    },
    Bar {
        name: "simulate",
        about: "the simulated loader binds as glibc's own does, on every program of /usr/bin",
        tools: &["inkscape", "chromium", "clang-19", "emacs", "gdb", "git"],
        check: simulate::check,
    },
    Bar {
        name: "optimize",
        about: "every program of /usr/bin and /usr/sbin does the same after optimize",
        tools: &[],
        check: optimize::check,
    },
    Bar {
        name: "alone",
        about: "every program of /usr/bin and /usr/sbin answers the same after each ELF change",
        tools: &[],
        check: alone::check,
    },
    Bar {
        name: "containers",
        about: "bundles in images start as fast as where they were made, and survive packages' changes",
        tools: &[
            "debootstrap",
            "rsync",
            "mksquashfs",
            "strace",
            "unshare",
            "losetup",
            "cc",
            "patchelf",
            "git",
        ],
        check: containers::check,
    },
    Bar {
        name: "checks",
        about: "bundles of each check answer as every program of /usr/bin and /usr/sbin, and are used",
        tools: &[],
        check: checks::check,
    },
    Bar {
        name: "bundle",
        about: "bundles and the other variants start large programs as fast as was promised",
        tools: &[
            "inkscape", "clang-19", "chromium", "soffice", "emacs", "python3", "git", "perl",
            "node", "strace", "gcc", "readelf",
        ],
        check: bundle::check,
    },
    Bar {
        name: "bundle_ahead",
        about: "bundles that read themselves ahead start cold nearly as fast as warm",
        tools: &["inkscape", "clang-19", "chromium"],
        check: bundle_ahead::check,
    },
    Bar {
        name: "install",
        about: "installed programs answer on, and all is as before once they are removed",
        tools: &["debootstrap"],
        check: install::check,
    },
    Bar {
        name: "pe",
        about: "static facts of PE files equal llvm-readobj's and pefile's",
        tools: &["llvm-readobj-19", "wine64", "python3", "pip3", "mvn"],
        check: pe::check,
    },
    Bar {
        name: "realign",
        about: "every real PE file is laid out anew with the same facts and memory, and back",
        tools: &["wine64", "python3"],
        check: realign::check,
    },
    Bar {
        name: "wine",
        about: "rewritten PE files do under Wine what they did, and start sooner",
        tools: &["wine64", "x86_64-w64-mingw32-gcc"],
        check: wine::check,
    },
    Bar {
        name: "rebase",
        about: "PE files move there and back, faster than Cygwin's rebase moves them",
        tools: &["wine64", "python3", "pip3", "mvn"],
        check: rebase::check,
    },
    Bar {
        name: "hints",
        about: "imports are found sooner under Wine; real files are rewritten without failure",
        tools: &["wine64", "python3", "pip3", "mvn"],
        check: hints::check,
    },
    Bar {
        name: "order",
        about: "functions are recorded fast, and ordered close to the floor, as was predicted",
        tools: &[
            "/usr/lib/llvm-19/lib/libclangFrontendTool.a",
            "clang++-19",
            "llvm-profdata-19",
            "valgrind",
            "uftrace",
            "cc",
            "emacs",
            "clang-19",
            "node",
            "python3",
            "git",
            "perl",
            "soffice",
            "inkscape",
            "chromium",
            "gdb",
            "redis-server",
        ],
        check: order::check,
    },
    Bar {
        name: "cold",
        about: "cold starts are recorded exactly, and read ahead, on this disk and slower ones",
        tools: &[
            "emacs",
            "chromium",
            "soffice",
            "inkscape",
            "clang-19",
            "python3",
            "/usr/lib/python3/dist-packages/numpy/__init__.py",
            "vmtouch",
            "unshare",
            "losetup",
            "mkfs.ext4",
        ],
        check: cold::check,
    },
    Bar {
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
        check: programs::check,
    },
];

/// Runs those of these names, or all. True if every bar was reached.
///
/// # Errors
/// There is no such check, or headstart cannot be built.
pub fn run(names: &[&str]) -> Result<bool> {
    for name in names {
        if !BARS.iter().any(|bar| bar.name == *name) {
            let known: Vec<String> =
                BARS.iter().map(|bar| format!("  {:<10} {}", bar.name, bar.about)).collect();
            bail!("there is no check '{name}'; there are:\n{}", known.join("\n"));
        }
    }
    let chosen = BARS.iter().filter(|bar| names.is_empty() || names.contains(&bar.name));
    let chosen: Vec<&Bar> = chosen.collect();
    let tools: Vec<&'static Tool> = testkit::TOOLS
        .iter()
        .filter(|tool| chosen.iter().any(|bar| bar.tools.contains(&tool.name)))
        .collect();
    packages::ensure(&tools)?;
    let folder = tempfile::tempdir()?;
    let context = Context::new(folder.path())?;
    let mut good = true;
    for bar in chosen {
        warn_if_busy();
        println!("\n== {}: {} (CPU {})", bar.name, bar.about, context.cpu);
        match (bar.check)(&context) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_of_all_bars_are_known() {
        for tool in BARS.iter().flat_map(|bar| bar.tools) {
            assert!(testkit::known(tool).is_some(), "{tool} has no package");
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_a_list_of_the_known_ones() {
        let error = run(&["no-such"]).unwrap_err().to_string();
        assert!(error.contains("no-such") && error.contains("slowdown"), "{error}");
    }
}
