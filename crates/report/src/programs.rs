//! Views of optimized programs that are in the place of the originals.

use crate::figure;
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::text::printable;
use model::{
    ListedProgram, ProgramChange, ProgramList, ProgramOutcome, ProgramPlace, ProgramVariant,
    ProgramsReport,
};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// What became of programs, a paragraph each.
pub fn outcomes(report: &ProgramsReport, style: &Style) -> String {
    let mut view: String = report.programs.iter().map(|program| one(program, style)).collect();
    if report.programs.is_empty() {
        view += "No program is installed.\n";
    }
    view + &style.notes_below(&report.notes)
}

fn one(program: &ProgramChange, style: &Style) -> String {
    let (tint, word) = match program.outcome {
        ProgramOutcome::Installed => (Tint::Good, "installed"),
        ProgramOutcome::Present => (Tint::Good, "is already installed"),
        ProgramOutcome::Renewed => (Tint::Good, "renewed"),
        ProgramOutcome::Moved => (Tint::Good, "has new addresses"),
        ProgramOutcome::Fresh => (Tint::Good, "is fresh"),
        ProgramOutcome::Removed => (Tint::Good, "removed"),
        ProgramOutcome::Declined => (Tint::Doubt, "is not installed"),
        ProgramOutcome::NotFaster => (Tint::Doubt, "is not faster"),
        ProgramOutcome::Failed => (Tint::Bad, "failed"),
    };
    let name = style.paint(Tint::Name, &style.terminal(&program.named));
    let mut line = format!("{name}: {}", style.paint(tint, word));
    if let Some(gain) = program.gain.filter(|_| program.place.is_some()) {
        line += &format!(", a launch takes {} of the original's time", figure::percent(gain));
    }
    if let Some(place) = &program.place {
        line += &format!("; {}", placed(program, place));
    }
    if let Some(reason) = &program.reason {
        line += &format!(": {}", style.terminal(reason));
    }
    let mut view = style.wrap(&line, 2) + "\n";
    for note in &program.notes {
        view += &format!("  {}\n", style.wrap(&style.terminal(note), 2));
    }
    view
}

fn placed(program: &ProgramChange, place: &ProgramPlace) -> String {
    match place {
        ProgramPlace::Diversion { original, .. } => {
            let at = printable(program.program.as_deref().unwrap_or_default());
            format!("the bundle is {at}, and the original is {}", printable(original))
        }
        ProgramPlace::Folder { link, desktop_entries } => {
            let entries = match desktop_entries.len() {
                0 => " starts it".to_owned(),
                1 => " and 1 desktop entry start it".to_owned(),
                many => format!(" and {many} desktop entries start it"),
            };
            printable(link) + &entries
        }
    }
}

/// All installed programs. `now_unix_s`: seconds since 1970.
pub fn list(list: &ProgramList, now_unix_s: u64, style: &Style) -> String {
    let mut view = String::new();
    if list.programs.is_empty() && list.unreadable.is_empty() {
        view += "No program is installed.\n";
    } else if !list.programs.is_empty() {
        let mut table = Table::new(vec![
            Column::left("program"),
            Column::left("state"),
            Column::left("variant").or_drop(2),
            Column::right("time"),
            Column::right("size").or_drop(1),
            Column::right("renewed").or_drop(3),
        ]);
        for program in &list.programs {
            table.row(row(program, now_unix_s));
        }
        view += &table.render(style);
        for program in &list.programs {
            let Some(reason) = &program.reason else { continue };
            let line = format!("{}: {}", style.terminal(&program.name), style.terminal(reason));
            view += &(style.wrap(&line, 2) + "\n");
        }
    }
    view + &style.notes_below(&list.unreadable)
}

fn row(program: &ListedProgram, now_unix_s: u64) -> Vec<Cell> {
    let (tint, state) = match program.used {
        true => (Tint::Good, "fresh"),
        false => (Tint::Doubt, "original"),
    };
    let variant = match program.variant {
        ProgramVariant::Movable => "movable",
        ProgramVariant::Fixed => "fixed",
    };
    let gain = program.gain.map_or("-".to_owned(), figure::percent);
    let age = program.renewed_unix_s.map(|then| age(now_unix_s.saturating_sub(then)));
    vec![
        Cell::new(Tint::Name, printable(&program.program)),
        Cell::new(tint, state),
        Cell::new(Tint::Plain, variant),
        Cell::new(Tint::Plain, gain),
        Cell::new(Tint::Plain, model::figures::bytes(program.disk_bytes)),
        Cell::new(Tint::Plain, age.unwrap_or("-".to_owned())),
    ]
}

fn age(seconds: u64) -> String {
    match seconds {
        0..MINUTE => "now".to_owned(),
        MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        HOUR..DAY => format!("{} h ago", seconds / HOUR),
        _ => format!("{} d ago", seconds / DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style() -> Style {
        Style { color: false, width: 80, unicode: true }
    }

    fn place() -> ProgramPlace {
        ProgramPlace::Diversion {
            original: "/usr/bin/gs.headstart-original".to_owned(),
            known_as: "/usr/bin/gs".to_owned(),
            package: "ghostscript".to_owned(),
        }
    }

    #[test]
    fn what_became_of_programs_is_said_with_the_reason() {
        let report = |outcome, reason: Option<&str>| ProgramChange {
            named: "gs".to_owned(),
            program: Some("/usr/bin/gs".to_owned()),
            outcome,
            reason: reason.map(str::to_owned),
            advice: None,
            variant: None,
            place: (outcome == ProgramOutcome::Installed).then(place),
            gain: Some(0.26),
            notes: vec!["a note".to_owned()],
        };
        let programs = vec![
            report(ProgramOutcome::Installed, None),
            report(ProgramOutcome::Declined, Some("it is set-user-ID")),
        ];
        let text = outcomes(&ProgramsReport { schema: 1, programs, notes: Vec::new() }, &style());
        let wanted = "gs: installed, a launch takes 26.0 % of the original's time; the bundle is\n  \
                      /usr/bin/gs, and the original is /usr/bin/gs.headstart-original\n  a note\n\
                      gs: is not installed: it is set-user-ID\n  a note\n";
        assert_eq!(text, wanted);
    }

    #[test]
    fn the_list_says_what_is_started_and_why() {
        let program = ListedProgram {
            name: "gs".to_owned(),
            program: "/usr/bin/gs".to_owned(),
            variant: ProgramVariant::Fixed,
            place: place(),
            gain: Some(0.26),
            used: false,
            reason: Some("/lib/libgs.so has changed".to_owned()),
            disk_bytes: 5 << 20,
            renewed_unix_s: Some(1000),
            folder: "/var/lib/headstart/gs".to_owned(),
        };
        let programs = ProgramList { schema: 1, programs: vec![program], unreadable: Vec::new() };
        let text = list(&programs, 1000 + 7200, &style());
        for part in ["/usr/bin/gs  original  fixed", "26.0 %", "2 h ago", "gs: /lib/libgs.so has"] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        let none = list(&ProgramList::default(), 0, &style());
        assert_eq!(none, "No program is installed.\n");
    }
}
