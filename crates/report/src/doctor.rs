//! The view of `doctor`: what hinders first, with commands that can be copied.

use crate::style::{Style, Tint};
use crate::text::{lines, printable};
use model::figures::plural;
use model::{Check, CheckState};
use std::fmt::Write;

/// Order of the sections, with the looks of their titles.
const SECTIONS: [(CheckState, Tint, &str); 4] = [
    (CheckState::Warning, Tint::Bad, "Warnings: these make results noisier or incomplete"),
    (CheckState::Unknown, Tint::Doubt, "Unknown: could not be checked"),
    (CheckState::Note, Tint::Strong, "Notes: worth knowing"),
    (CheckState::Good, Tint::Good, "Good"),
];

/// Column where texts begin.
const INDENT: usize = 18;
/// Texts get at least this many columns however narrow the terminal is.
const LEAST_TEXT: usize = 30;

/// The checks as text. Commands stand on their own lines, never wrapped. Ends with a line of
/// totals.
pub fn view(checks: &[Check], style: &Style) -> String {
    let mut text = String::new();
    for (state, tint, title) in SECTIONS {
        let section: Vec<&Check> = checks.iter().filter(|check| check.state == state).collect();
        if section.is_empty() {
            continue;
        }
        text.push_str(&style.paint(tint, title));
        text.push('\n');
        for check in section {
            entry(&mut text, check, style);
        }
        text.push('\n');
    }
    text.push_str(&totals(checks));
    text
}

fn entry(text: &mut String, check: &Check, style: &Style) {
    let width = style.width.saturating_sub(INDENT).max(LEAST_TEXT);
    let mut label = format!("  {}", check.id);
    let mut found = lines(&printable(&check.found), width);
    // What is good needs no further words; `--json` has them.
    if check.state != CheckState::Good {
        found.extend(lines(&format!("-> {}", printable(&check.effect)), width));
    }
    for line in found {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{label:<INDENT$}{line}");
        label.clear();
    }
    if check.state != CheckState::Good && !check.remedy.is_empty() {
        let command = style.paint(Tint::Name, &check.remedy);
        let _ = writeln!(text, "    $ {command}");
    }
}

fn totals(checks: &[Check]) -> String {
    let count = |state| checks.iter().filter(|check| check.state == state).count() as u64;
    format!(
        "{}, {}, {} unknown, {} good\n",
        plural(count(CheckState::Warning), "warning", "warnings"),
        plural(count(CheckState::Note), "note", "notes"),
        count(CheckState::Unknown),
        count(CheckState::Good)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(id: &str, state: CheckState, found: &str, effect: &str, remedy: &str) -> Check {
        let [id, found, effect, remedy] = [id, found, effect, remedy].map(str::to_owned);
        Check { id, state, found, effect, remedy }
    }

    fn plain(width: usize) -> Style {
        Style { color: false, width, unicode: true }
    }

    fn checks() -> Vec<Check> {
        vec![
            check("aslr", CheckState::Good, "on", "launches have addresses as users' have", ""),
            check("turbo", CheckState::Unknown, "/sys/x: No such file", "speed may vary", ""),
            check(
                "governor",
                CheckState::Warning,
                "powersave",
                "a launch begins before its CPU has reached full speed, which takes some time to do",
                "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
            ),
            check("read-ahead", CheckState::Note, "8192 KiB on vda", "cold figures differ", "echo"),
        ]
    }

    #[test]
    fn warnings_come_first_and_commands_stand_alone() {
        insta::assert_snapshot!(view(&checks(), &plain(80)), @r"
    Warnings: these make results noisier or incomplete
      governor        powersave
                      -> a launch begins before its CPU has reached full speed,
                      which takes some time to do
        $ echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor

    Unknown: could not be checked
      turbo           /sys/x: No such file
                      -> speed may vary

    Notes: worth knowing
      read-ahead      8192 KiB on vda
                      -> cold figures differ
        $ echo

    Good
      aslr            on

    1 warning, 1 note, 1 unknown, 1 good
    ");
    }

    #[test]
    fn no_line_but_a_command_is_wider_than_asked_for() {
        for width in [60, 80, 120] {
            let text = view(&checks(), &plain(width));
            let too_wide = text
                .lines()
                .find(|line| line.chars().count() > width && !line.starts_with("    $ "));
            assert_eq!(too_wide, None);
        }
    }

    #[test]
    fn nothing_to_report_is_said() {
        assert_eq!(view(&[], &plain(80)), "0 warnings, 0 notes, 0 unknown, 0 good\n");
    }
}
