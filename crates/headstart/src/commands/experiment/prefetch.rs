//! LoadDlls' question: how much faster do libraries load when their files were read ahead?

use crate::args::seconds;
use crate::commands::load;
use crate::output;
use anyhow::Result;
use lab::libraries::{self, LoadListRequest};
use lab::prefetching::PrefetchRequest;
use model::PrefetchExperiment;
use model::published::PublishedPrefetch;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// How much faster do libraries load when their files are read ahead?
///
/// Modeled on LoadDlls of TMurgent, which loads 102 DLLs with and without Windows' prefetch file
/// after everything was flushed from memory. The libraries of a list are evicted from the page cache
/// and loaded: as they are, with what they need read ahead before, and with the same read ahead
/// meanwhile; and warm. All forms take turns in random order. What is read ahead are the exact pages
/// of a recorded cold load where that can be recorded (as root), and whole files elsewhere. The
/// published figures are printed below.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Libraries to load, as for `headstart load` [default: 102 common ones of this system]
    #[arg(value_name = "LIST")]
    list: Option<PathBuf>,
    /// Rounds, in each of which every form is loaded once
    #[arg(short, long, value_name = "N", default_value_t = 15)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Give a library up that takes longer
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = seconds)]
    timeout: Duration,
    /// Seed of the random order
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Keep the list and the tables in this new folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    save: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// As many as LoadDlls' list has.
const LIBRARIES: usize = 102;

/// Makes the experiment and prints the tables.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    if let Some(folder) = &arguments.save {
        super::new_folder(folder)?;
    }
    let (list, names) = match &arguments.list {
        Some(list) => (list.display().to_string(), load::linux_names(list, "this experiment")?),
        None => {
            let found = libraries::sample(LIBRARIES, &mut |_| ())?;
            let names = found.names.iter().map(Into::into).collect();
            (format!("{} common libraries of this system", found.names.len()), names)
        }
    };
    let load =
        LoadListRequest { list, names, timeout: arguments.timeout, cold: false, ahead: None };
    let names = load.names.clone();
    let request = PrefetchRequest {
        recorded: load::recorded(&load),
        load,
        rounds: arguments.runs,
        seed: arguments.seed,
    };
    let found = load::compare(request, arguments.json)?;
    if let Some(folder) = &arguments.save {
        keep(folder, &found)?;
        let lines: Vec<u8> =
            names.iter().flat_map(|name| [name.as_encoded_bytes(), b"\n"].concat()).collect();
        output::write_bytes(&folder.join("list.txt"), &lines)?;
        if !arguments.json {
            output::print(&format!("\nList and tables: {}\n", output::quoted(folder)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn keep(folder: &Path, found: &PrefetchExperiment) -> Result<()> {
    let write = |name: &str, text: &str| output::write_file(&folder.join(name), text);
    write("prefetch.json", &load::object(found)?)?;
    let published = PublishedPrefetch::loaddlls();
    write("table.md", &report::published::prefetching_markdown(found, &published))
}
