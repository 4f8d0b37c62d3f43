//! Every verb of the command line, in the groups that `--help` shows. The arguments of a verb are
//! built only when it is the one that was typed: the start of headstart itself is part of the product.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod help;
mod old;

pub use help::documented;

use crate::commands;
use crate::exit::{self, Usage, WithCode};
use anyhow::Result;
use clap::{ArgMatches, Args, Command};
use std::ffi::OsStr;
use std::process::ExitCode;

/// A heading of `--help`. A group with a `word` is typed: `headstart pe rebase`.
pub struct Group {
    /// The heading.
    pub heading: &'static str,
    /// The word that is typed in front of its verbs, and what the word stands for.
    pub word: Option<(&'static str, &'static str)>,
    /// Its verbs, in the order in which they are shown.
    pub verbs: &'static [Verb],
}

/// One verb.
pub struct Verb {
    /// What is typed.
    pub name: &'static str,
    /// What it answers or does, in a line.
    pub about: &'static str,
    /// Whether the build for this host has it.
    is_here: bool,
    arguments: fn(Command) -> Command,
    run: fn(&ArgMatches) -> Result<ExitCode>,
}

/// What the command is for.
#[cfg(not(windows))]
const ABOUT: &str =
    "Finds out where a program's start-up time goes, makes it start faster, and proves it.";
#[cfg(windows)]
const ABOUT: &str = "Measures how long programs take to start, and changes PE and ELF files so that \
                     they start faster.";

/// What `trace` answers.
#[cfg(not(windows))]
const TRACE: &str =
    "which functions a launch calls, in order of first call; which pages it touches";
#[cfg(windows)]
const TRACE: &str = "which functions a launch calls, in order of first call";

/// A verb whose arguments are `commands::$file::$arguments`.
macro_rules! verb {
    ($name:literal, $file:ident, $about:expr) => {
        Verb {
            name: $name,
            about: $about,
            is_here: true,
            arguments: <commands::$file::Arguments as Args>::augment_args,
            run: |matches| {
                let arguments = clap::FromArgMatches::from_arg_matches(matches);
                commands::$file::run(&arguments.unwrap_or_else(|error: clap::Error| error.exit()))
            },
        }
    };
}

/// A verb that the build for this host has only where that is Linux.
#[cfg(target_os = "linux")]
macro_rules! linux {
    ($name:literal, $file:ident, $about:literal) => {
        verb!($name, $file, $about)
    };
}
#[cfg(not(target_os = "linux"))]
macro_rules! linux {
    ($name:literal, $file:ident, $about:literal) => {
        elsewhere::verb($name, $about)
    };
}

/// All groups.
pub const GROUPS: &[Group] = &[
    Group {
        heading: "The loop",
        word: None,
        verbs: &[
            verb!("measure", measure, "how long a launch takes"),
            verb!("compare", compare, "whether one command starts faster than another"),
            verb!("explain", explain, "where the time of a launch goes, and what would help"),
            linux!(
                "optimize",
                optimize,
                "try everything that applies, verify, measure, leave the best"
            ),
        ],
    },
    Group {
        heading: "One file",
        word: None,
        verbs: &[
            linux!("bundle", bundle, "merge a program and its libraries into one file"),
            verb!("verify", verify, "check whether what headstart made is still right"),
            linux!("rerandomize", rerandomize, "give a bundle at fixed addresses new ones"),
            linux!("warm", warm, "read a bundle into memory in large pages, for faster starts"),
        ],
    },
    Group {
        heading: "Keep it fast",
        word: None,
        verbs: &[
            linux!("install", install, "put optimized programs in the place of the originals"),
            linux!("renew", renew, "make them again after upgrades; hooks do so automatically"),
            linux!(
                "list",
                list,
                "installed programs: fresh or why not, what they gain, their size"
            ),
            linux!("remove", remove, "undo install: the originals are back"),
        ],
    },
    Group {
        heading: "Cold starts",
        word: None,
        verbs: &[
            linux!("record", record, "which pages of which files a launch reads"),
            linux!("prefetch", prefetch, "read them ahead while the program starts"),
            verb!("load", load, "time a list of libraries"),
            linux!("io", io, "what a cold launch reads from storage, read by read"),
        ],
    },
    Group {
        heading: "Cold starts: files in memory",
        word: Some(("cache", "Show which files are in memory, and evict them")),
        verbs: &[
            linux!("status", cache_status, "how much of files is in memory"),
            linux!("evict", cache_evict, "files leave memory; what stayed, and who maps it"),
        ],
    },
    Group { heading: "Order of functions", word: None, verbs: &[verb!("trace", trace, TRACE)] },
    Group {
        heading: "Order of functions, made from traces",
        word: Some((
            "order",
            "Put the functions of a program in the order in which launches call them",
        )),
        verbs: &[
            verb!("write", order_write, "an order file for a linker, and its predicted effect"),
            linux!("verify", order_verify, "compare the builds before and after ordering"),
            linux!("try", order_try, "trace, order, relink with your own command, and verify"),
        ],
    },
    Group {
        heading: "Memory",
        word: None,
        verbs: &[linux!(
            "sharing",
            sharing,
            "private and shared memory per module and section, copies side by side"
        )],
    },
    Group {
        heading: "Look",
        word: None,
        verbs: &[
            verb!("inspect", inspect, "static facts of ELF and PE files"),
            verb!("identify", identify, "what a file is, without disturbing the page cache"),
            verb!("simulate", simulate, "what the loader would do with a program, counted"),
        ],
    },
    Group {
        heading: "One change to an ELF file",
        word: Some(("elf", "Change one property of an ELF program or library")),
        verbs: &[
            verb!("selfbind", selfbind, "bind libraries to their own symbols, without look-ups"),
            verb!("order-needed", order_needed, "list libraries so that symbols are found sooner"),
            verb!("no-pie", no_pie, "put a program at a fixed address: no relative relocations"),
            verb!("relr", relr, "pack relative relocations"),
        ],
    },
    Group {
        heading: "One change to PE files",
        word: Some(("pe", "Change one property of Windows programs and DLLs")),
        verbs: &[
            verb!("rebase", rebase, "give DLLs preferred bases that do not collide"),
            verb!("bind", bind, "write the addresses of imports into files, as BIND did"),
            verb!("unbind", unbind, "undo binding"),
            verb!("hints", hints, "repair import hints"),
            verb!("ordinal", ordinal, "import by ordinal within a set of DLLs"),
            verb!("realign", realign, "align sections so that Wine can map them"),
            verb!("flags", flags, "show, set or clear flags such as ASLR"),
            verb!("survey", survey, "how DLLs that are loaded together affect each other"),
        ],
    },
    Group {
        heading: "Laboratory",
        word: None,
        verbs: &[
            verb!("generate", generate, "make a synthetic program of any size"),
            verb!("scale", scale, "how start-up time grows with a size, and by which law"),
            verb!("experiment", experiment, "reproduce a published experiment"),
            verb!("doctor", doctor, "what makes measurements on this machine noisy"),
        ],
    },
];

/// The command line as far as it is needed to parse one that begins with `first`: its group or
/// verb, or everything where that is none.
pub fn command(first: Option<&OsStr>) -> Command {
    let known = |name: &str| first == Some(OsStr::new(name));
    let is_typed = GROUPS.iter().any(|group| match group.word {
        Some((word, _)) => known(word),
        None => group.verbs.iter().any(|verb| known(verb.name)),
    });
    build(|name| !is_typed || known(name))
}

/// The command line with the groups and verbs whose names are `wanted`.
fn build(wanted: impl Fn(&str) -> bool) -> Command {
    let mut command = Command::new("headstart")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .help_template("{about}\n\n{usage-heading} {usage}{after-help}\n{options}")
        .override_usage(format!("headstart [{}] COMMAND [OPTIONS] …", words().join("|")))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(100);
    for group in GROUPS {
        let verbs = group.verbs.iter();
        command = match group.word {
            None => command.subcommands(verbs.filter(|verb| wanted(verb.name)).map(Verb::command)),
            Some((word, _)) if !wanted(word) => command,
            Some((word, about)) => command.subcommand(
                Command::new(word)
                    .about(about)
                    .subcommand_required(true)
                    .arg_required_else_help(true)
                    .disable_help_subcommand(true)
                    .subcommands(verbs.map(Verb::command)),
            ),
        };
    }
    let old = old::NAMES.iter().filter(|(name, _)| wanted(name));
    command.subcommands(old.map(|(name, _)| old::verb(name)))
}

impl Verb {
    fn command(&self) -> Command {
        let command = Command::new(self.name).about(self.about).defer(self.arguments);
        if self.is_here { command } else { command.hide(true).disable_help_flag(true) }
    }
}

/// Runs the verb that was typed.
pub fn run(matches: &ArgMatches) -> Result<ExitCode> {
    let Some((name, rest)) = matches.subcommand() else {
        return Err(Usage("name a command; headstart --help lists them".to_owned()).into());
    };
    if let Some((old, new)) = old::NAMES.iter().find(|(old, _)| *old == name) {
        return Err(Usage(format!("'headstart {old}' is now 'headstart {new}'")).into());
    }
    let word = group(name).map_or(String::new(), |_| format!("{name} "));
    let (verbs, name, rest) = match group(name) {
        Some(group) => match rest.subcommand() {
            Some((name, rest)) => (group.verbs.iter().collect(), name, rest),
            None => return Err(Usage(format!("name a command of '{name}'")).into()),
        },
        None => (without_word(), name, rest),
    };
    match verbs.iter().find(|verb| verb.name == name) {
        Some(verb) if !verb.is_here => Err(not_here(&format!("{word}{name}"))),
        Some(verb) => {
            let threads = os::host::may_start_threads();
            threads.map_err(|(limits, error)| WithCode {
                code: exit::NOT_PERMITTED,
                text: format!(
                    "headstart cannot start its threads: {error} ({limits}); raise the limit, or end \
                     other processes"
                ),
            })?;
            #[cfg(target_os = "linux")]
            crate::early::restore_read_ahead();
            (verb.run)(rest)
        }
        None => Err(Usage(format!("there is no command '{name}'; see headstart --help")).into()),
    }
}

/// That the build for this host does not have what was typed.
pub fn not_here(typed: &str) -> anyhow::Error {
    let text =
        format!("headstart for Windows does not have '{typed}'; run it with headstart on Linux");
    Usage(text).into()
}

/// Whether the build for this host has none of the verbs of the group that is typed so.
#[cfg(not(target_os = "linux"))]
pub fn is_absent(word: &str) -> bool {
    group(word).is_some_and(|group| group.verbs.iter().all(|verb| !verb.is_here))
}

fn group(word: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.word.is_some_and(|(name, _)| name == word))
}

/// The words of groups, in order of the alphabet.
fn words() -> Vec<&'static str> {
    let here = GROUPS.iter().filter(|group| group.verbs.iter().any(|verb| verb.is_here));
    let mut words: Vec<&str> = here.filter_map(|group| Some(group.word?.0)).collect();
    words.sort_unstable();
    words
}

/// Whether the build for this host has this verb, which is typed without a word in front.
pub fn is_here(name: &str) -> bool {
    without_word().iter().any(|verb| verb.name == name && verb.is_here)
}

fn without_word() -> Vec<&'static Verb> {
    GROUPS.iter().filter(|group| group.word.is_none()).flat_map(|group| group.verbs).collect()
}
