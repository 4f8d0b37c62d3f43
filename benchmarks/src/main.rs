//! The bars: the built command on the real programs of this machine, against other tools. By hand
//! only (`cargo xtask check-real`): they take minutes, and times depend on what else the machine
//! does.

mod answers;
mod bars;
mod cold_lab;
mod context;
mod headstart;
mod hyperfine;
mod loader_statistics;
mod report;
mod slow_device;
mod statistics;
mod subjects;

use bars::bundle::variants;
use bars::cold;
use bars::containers;
use bars::explain::rounds;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let good = match words.as_slice() {
        // The program starts itself with these, where another user or environment is needed.
        [rounds::COMMAND, words @ ..] => rounds::run(words),
        [variants::COMMAND, words @ ..] => variants::run(words),
        [cold::COMMAND, words @ ..] => cold::run(words),
        [containers::COMMAND, words @ ..] => containers::run(words),
        [slow_device::COMMAND, words @ ..] => slow_device::run(words),
        names => bars::run(names),
    };
    match good {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("benchmarks: {error:#}");
            ExitCode::FAILURE
        }
    }
}
