//! What views say of the command line.

/// Parts of sentences that name what is typed. The command knows them.
#[derive(Clone, Copy, Debug)]
pub struct CommandWords {
    /// How to say when a program is ready that does not end by itself: the end of a sentence.
    pub say_when_ready: &'static str,
    /// The command that checks the machine.
    pub check_machine: &'static str,
    /// What that shows.
    pub checked: &'static str,
    /// What asks for more rounds.
    pub more_rounds: &'static str,
    /// The command that keeps the best variant.
    pub keep_best: &'static str,
    /// The command that puts an optimized program in the place of the original.
    pub install: &'static str,
    /// As [`CommandWords::install`], at fixed addresses.
    pub install_fixed: &'static str,
    /// The command that makes a bundle in a folder, without the program.
    pub bundle: &'static str,
    /// The option of the command that installs for LD_LIBRARY_PATH of the program's launches.
    pub install_library_path: &'static str,
    /// The command that gives a bundle other fixed addresses.
    pub rerandomize: &'static str,
    /// The command that reads a bundle into memory in large pages.
    pub warm: &'static str,
}
