//! Builds cases and leaves the files to look at: `cases FOLDER [NAME…]`, all of them by default.
//! Prints what each program prints, and what is wrong with it.

use std::path::PathBuf;
use testkit::cases::{self, in_parallel};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next().map(PathBuf::from) else {
        return println!("usage: cases FOLDER [NAME…]");
    };
    let names: Vec<String> = arguments.collect();
    let Some(readelf) = testkit::tool("readelf") else { return };
    let toolchains = cases::toolchains();
    let chosen = cases::all().iter();
    let chosen =
        chosen.filter(|case| names.is_empty() || names.iter().any(|name| name == case.name));
    for case in chosen {
        println!("== {}: {}", case.name, case.why);
        let told = in_parallel(&toolchains, |&toolchain| {
            if let Some(why) = case.declines(toolchain) {
                return format!("declined: {why}\n");
            }
            let built = case.build(&toolchain, &folder.join(case.name).join(toolchain.name()));
            let fault = case.fault(&built, toolchain, &readelf);
            fault.map_or_else(
                || cases::run(&built.program, &built).stdout,
                |why| format!("WRONG: {why}"),
            )
        });
        for (index, (toolchain, text)) in toolchains.iter().zip(&told).enumerate() {
            match told.iter().position(|other| other == text) {
                Some(first) if first < index => {
                    println!("-- {}: as {}", toolchain.name(), toolchains[first].name());
                }
                _ => print!("-- {}:\n{text}", toolchain.name()),
            }
        }
    }
}
