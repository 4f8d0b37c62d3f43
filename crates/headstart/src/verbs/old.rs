//! Verbs that are typed otherwise now.

use clap::Command;

/// Names that verbs had before they stood in groups, and what is typed now.
pub const NAMES: [(&str, &str); 11] = [
    ("selfbind", "elf selfbind"),
    ("order-needed", "elf order-needed"),
    ("exec", "elf no-pie"),
    ("relr", "elf relr"),
    ("rebase", "pe rebase"),
    ("bind", "pe bind"),
    ("unbind", "pe unbind"),
    ("hints", "pe hints"),
    ("ordinal", "pe ordinal"),
    ("realign", "pe realign"),
    ("flags", "pe flags"),
];

/// A verb that only says what it is called now.
pub fn verb(name: &'static str) -> Command {
    any_words(Command::new(name).hide(true).disable_help_flag(true))
}

/// With arguments of any kind, which nobody looks at.
pub fn any_words(command: Command) -> Command {
    let rest = clap::Arg::new("rest").num_args(0..);
    command.arg(rest.trailing_var_arg(true).allow_hyphen_values(true))
}
