//! The view of what Windows calls the prefetch file of a program.

use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use model::PredictedPfNames;

/// A line for each volume and each way of hashing.
pub fn view(names: &PredictedPfNames, style: &Style) -> String {
    let mut table =
        Table::new(vec![Column::left("name"), Column::left("written by"), Column::left("on")])
            .with_whole_names();
    for name in &names.names {
        let volume = name.device_path.split('\\').nth(2).unwrap_or_default();
        table.row(vec![
            Cell::new(Tint::Name, &name.name),
            Cell::new(Tint::Plain, &name.windows),
            Cell::new(Tint::Faint, volume),
        ]);
    }
    table.render(style) + &style.notes_below(&names.notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::PredictedPfName;

    #[test]
    fn each_name_is_a_line() {
        let name = PredictedPfName {
            windows: "Windows Vista and later".to_owned(),
            name: "NOTEPAD.EXE-D8414F97.pf".to_owned(),
            device_path: r"\DEVICE\HARDDISKVOLUME2\WINDOWS\SYSTEM32\NOTEPAD.EXE".to_owned(),
        };
        let names = PredictedPfNames {
            schema: 1,
            headstart: "0".to_owned(),
            path: r"C:\Windows\System32\notepad.exe".to_owned(),
            names: vec![name],
            notes: vec!["a note".to_owned()],
        };
        let narrow = view(&names, &Style { color: false, width: 40, unicode: true });
        assert!(narrow.contains("NOTEPAD.EXE-D8414F97.pf  Windows Vista and later"), "{narrow}");
        let shown = view(&names, &Style { color: false, width: 80, unicode: true });
        let line = "NOTEPAD.EXE-D8414F97.pf  Windows Vista and later  HARDDISKVOLUME2\n";
        assert!(shown.contains(line) && shown.ends_with("note: a note\n"), "{shown}");
    }
}
