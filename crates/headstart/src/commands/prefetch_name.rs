//! `headstart prefetch name`: what Windows calls the prefetch file of a program.

use crate::exit::Usage;
use crate::output;
use anyhow::Result;
use clap::Args;
use model::{PF_NAMES_SCHEMA, PredictedPfName, PredictedPfNames};
use prefetch::pf::{self, PfHash, PfHost};
use std::process::ExitCode;

/// Volumes that drive C: is likely to be.
const LIKELY: std::ops::RangeInclusive<u32> = 1..=4;

/// Predict what Windows calls the prefetch file of a program
///
/// The name is that of the program, up to 29 characters of it, and a hash of its path on the device
/// (\DEVICE\HARDDISKVOLUME2\WINDOWS\NOTEPAD.EXE). Which volume a drive letter stands for differs from
/// system to system; without --volume the names for the first four are printed. Windows XP and
/// Server 2003 hash in one way, all later versions in another.
#[derive(Debug, Args)]
pub struct NameArguments {
    /// The program's path on Windows: with a drive letter, or with its device
    #[arg(value_name = "PATH")]
    path: String,

    /// The volume that the drive letter stands for: 3, or HARDDISKVOLUME3; repeat it for several
    #[arg(long, value_name = "VOLUME", value_parser = volume)]
    volume: Vec<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A number, or the name of a device.
fn volume(text: &str) -> Result<String, String> {
    let name = text.to_ascii_uppercase();
    let name = name.strip_prefix(r"\DEVICE\").unwrap_or(&name);
    match name.parse::<u32>() {
        Ok(number) => Ok(format!("HARDDISKVOLUME{number}")),
        Err(_)
            if !name.starts_with(|first: char| first.is_ascii_alphabetic())
                || name.contains(['\\', '/', ':']) =>
        {
            Err("give a number, or the name of a device such as HARDDISKVOLUME3".to_owned())
        }
        Err(_) => Ok(name.to_owned()),
    }
}

/// Prints the names.
///
/// # Errors
/// The path has none, or standard output cannot be written.
pub fn run(arguments: &NameArguments) -> Result<ExitCode> {
    let names = names(arguments)?;
    output::print_either(arguments.json, &names, |style| report::pf_names::view(&names, style))?;
    Ok(ExitCode::SUCCESS)
}

fn names(arguments: &NameArguments) -> Result<PredictedPfNames, Usage> {
    let path = &arguments.path;
    let likely = || LIKELY.map(|number| format!("HARDDISKVOLUME{number}")).collect();
    let volumes: Vec<String> = match arguments.volume.as_slice() {
        // It is in the path.
        _ if pf::names_device(path) => vec![String::new()],
        [] => likely(),
        given => given.to_vec(),
    };
    let mut names = Vec::new();
    for volume in &volumes {
        let device_path = pf::device_path(path, volume).map_err(|problem| {
            Usage(format!(r"{path}: {problem}; give it as C:\Windows\notepad.exe"))
        })?;
        let [xp, _, later] = pf::name_of(&device_path);
        for (found, windows) in [(xp, PfHash::Xp.windows()), (later, "Windows Vista and later")] {
            let windows = windows.to_owned();
            let device_path = found.device_path;
            names.push(PredictedPfName { windows, name: found.name, device_path });
        }
    }
    let headstart = env!("CARGO_PKG_VERSION").to_owned();
    let notes = notes(arguments, volumes.len());
    Ok(PredictedPfNames { schema: PF_NAMES_SCHEMA, headstart, path: path.clone(), names, notes })
}

/// What else decides on the name.
fn notes(arguments: &NameArguments, volumes: usize) -> Vec<String> {
    let mut notes = Vec::new();
    match pf::host(&arguments.path) {
        Some(PfHost::CommandLine) => notes.push(
            "Windows hashes the command line of this program, too, because it runs the code of \
             others: it has a prefetch file for each command line, whose names cannot be predicted \
             from the path"
                .to_owned(),
        ),
        Some(PfHost::Package) => notes.push(
            "Programs from packages of Microsoft's store get names that do not follow from the path"
                .to_owned(),
        ),
        None => {}
    }
    if volumes > 1 && arguments.volume.is_empty() {
        notes.push(
            "Which volume the drive letter stands for is not known here. The prefetch files of that \
             system tell: see \"hash\" in the output of 'headstart inspect'"
                .to_owned(),
        );
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, volumes: &[&str]) -> PredictedPfNames {
        let volume = volumes.iter().map(|text| volume(text).unwrap()).collect();
        names(&NameArguments { path: path.to_owned(), volume, json: false }).unwrap()
    }

    #[test]
    fn names_are_those_that_windows_gives() {
        let found = of(r"C:\Windows\System32\notepad.exe", &["2"]);
        let names: Vec<&str> = found.names.iter().map(|name| &*name.name).collect();
        assert_eq!(names[1], "NOTEPAD.EXE-D8414F97.pf");
        let found = of(r"c:\windows\system32\cmd.exe", &[]);
        let names: Vec<&str> = found.names.iter().map(|name| &*name.name).collect();
        assert_eq!(names.len(), 8);
        assert!(names.contains(&"CMD.EXE-087B4001.pf") && names.contains(&"CMD.EXE-4A81B364.pf"));
        assert!(found.notes[0].contains("drive letter"), "{:?}", found.notes);
        let device = of(r"\Device\HarddiskVolume1\WINDOWS\NOTEPAD.EXE", &["7"]);
        assert_eq!(device.names[0].name, "NOTEPAD.EXE-189578DA.pf");
        assert_eq!((device.names.len(), device.notes.len()), (2, 0));
    }

    #[test]
    fn what_is_not_predictable_is_said() {
        let notes = of(r"C:\Windows\System32\svchost.exe", &["\\Device\\HarddiskVolume3"]).notes;
        assert!(notes[0].contains("command line"), "{notes:?}");
        for wrong in ["C:", "", "99999999999999999999", "-1", " 2"] {
            assert!(volume(wrong).is_err(), "{wrong}");
        }
        let arguments =
            NameArguments { path: "notepad.exe".to_owned(), volume: vec![], json: false };
        assert!(names(&arguments).unwrap_err().to_string().contains("absolute"));
    }
}
