//! The section that names the libraries that came with others.

use crate::figure::count;
use crate::style::{Style, Tint};
use crate::text::base_name;
use model::{CameWith, LibraryLoad, LibraryLoadReport};
use std::cmp::Ordering::Equal;

/// How many names are shown for one library.
const NAMED: usize = 12;

/// A paragraph for each library that brought others in; nothing if none did.
pub fn part(report: &LibraryLoadReport, style: &Style) -> String {
    // Two columns go to the indent.
    let narrow = Style { width: style.width.saturating_sub(2), ..*style };
    let paragraph = |library: &LibraryLoad| {
        let others = others(library);
        if others.is_empty() {
            return None;
        }
        let name = style.paint(Tint::Name, &style.terminal(&library.name));
        let text = format!("{name}: {}", words(&others, style));
        Some(format!("  {}\n", narrow.wrap(&text, 4)))
    };
    let paragraphs: String = report.libraries.iter().filter_map(paragraph).collect();
    if paragraphs.is_empty() {
        return paragraphs;
    }
    format!("\n{}\n{paragraphs}", style.paint(Tint::Strong, "came with"))
}

/// What came with a library besides itself.
fn others(library: &LibraryLoad) -> Vec<&CameWith> {
    let came = || library.came_with.iter().flatten();
    let itself = came().filter(|file| is_itself(library, file));
    // It comes before what its initializer loads, and leaves after that.
    let itself =
        itself.max_by(|one, other| one.left_at_us.partial_cmp(&other.left_at_us).unwrap_or(Equal));
    came().filter(|file| itself.is_none_or(|itself| !std::ptr::eq(*file, itself))).collect()
}

/// Whether the file is the library itself, judged by its path, or by the name in the list if it was refused, has no
/// path, and was unloaded again.
fn is_itself(library: &LibraryLoad, file: &CameWith) -> bool {
    if let Some(path) = &library.path {
        // A long path is cut off and ends with an ellipsis.
        let found = match file.path.strip_suffix('…') {
            Some(beginning) => path.get(..beginning.len()).map(|path| (path, beginning)),
            None => Some((path.as_str(), file.path.as_str())),
        };
        return found.is_some_and(|(path, file)| path.eq_ignore_ascii_case(file));
    }
    if file.left_at_us.is_none() {
        return false;
    }
    let (asked, found) = (last_name(&library.name), base_name(&file.path));
    let asked_with_end = format!("{asked}.dll");
    [asked, &asked_with_end].iter().any(|asked| asked.eq_ignore_ascii_case(found))
}

/// The last part of a name in a list, in which `/` or `\` may separate folders.
fn last_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

fn words(files: &[&CameWith], style: &Style) -> String {
    let names: Vec<String> = files.iter().take(NAMED).map(|file| one(file, style)).collect();
    let names = names.join(", ");
    match files.len().saturating_sub(NAMED) {
        0 => names,
        more => format!("{names} and {} more", count(more as u64)),
    }
}

fn one(file: &CameWith, style: &Style) -> String {
    let name = style.terminal(base_name(&file.path));
    let remarks = [
        (file.by_other_thread, "by another thread"),
        (file.left_at_us.is_some(), "unloaded again"),
    ];
    let remarks: Vec<&str> =
        remarks.into_iter().filter(|(holds, _)| *holds).map(|(_, remark)| remark).collect();
    if remarks.is_empty() { name } else { format!("{name} ({})", remarks.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library_loads::tests::{library, report};
    use crate::library_loads::view;

    fn came(path: &str) -> CameWith {
        let path = path.to_owned();
        CameWith { path, at_us: 1.0, left_at_us: None, by_other_thread: false }
    }

    #[test]
    fn what_came_with_libraries_is_named() {
        let mut user = library("user32", Some(1234.5), None);
        user.path = Some("C:\\windows\\system32\\user32.dll".to_owned());
        let system = ["version", "gdi32", "user32"]
            .map(|name| came(&format!("C:\\windows\\System32\\{name}.dll")));
        user.came_with = Some(system.to_vec());
        let mut alone = library("alone.dll", Some(20.0), None);
        alone.path = Some("Z:\\x\\alone.dll".to_owned());
        alone.came_with = Some(vec![came("Z:\\x\\Alone.dll")]);
        let mut there = library("kernel32.dll", Some(2.0), None);
        there.came_with = Some(Vec::new());
        let mut refused = library("./sub/No", None, Some("its initialization failed (error 1114)"));
        refused.came_with = Some(vec![
            CameWith { left_at_us: Some(9.0), ..came("Z:\\x\\a\u{1b}[31m b.dll") },
            CameWith { left_at_us: Some(8.0), by_other_thread: true, ..came("Z:\\x\\c.dll") },
            CameWith { left_at_us: Some(7.0), ..came("Z:\\x\\sub\\no.dll") },
        ]);
        let mut many = library("/opt/app/many.dll", Some(99.0), None);
        many.path = Some("Z:\\opt\\app\\many.dll".to_owned());
        let names =
            (1..=1300).map(|number| came(&format!("Z:\\opt\\app\\LoadTimeDLL_{number}.dll")));
        many.came_with = Some(names.chain([came("Z:\\opt\\app\\many.dll")]).collect());
        let mut report = report();
        (report.cold, report.read_ahead) = (None, None);
        report.libraries = vec![user, alone, there, refused, many];
        for library in &mut report.libraries {
            (library.minor_faults, library.major_faults, library.read_bytes) = (None, None, None);
            library.modules = library.came_with.as_ref().map(|came| came.len() as u64);
        }
        let style = Style { color: false, width: 80, unicode: true };
        insta::assert_snapshot!(view(&report, &style));
    }

    /// A refused library that has loaded one of the same name.
    #[test]
    fn of_two_with_the_name_of_a_refused_library_one_is_named() {
        let mut refused = library("./s3/x.dll", None, Some("its initialization failed"));
        let left = |path, at| CameWith { left_at_us: Some(at), ..came(path) };
        refused.came_with = Some(vec![left("Z:\\s3\\x.dll", 9.0), left("Z:\\s1\\x.dll", 5.0)]);
        let named: Vec<&str> = others(&refused).iter().map(|file| file.path.as_str()).collect();
        assert_eq!(named, ["Z:\\s1\\x.dll"]);
    }

    #[test]
    fn paths_that_were_cut_off_are_recognized() {
        let mut long = library("long.dll", Some(1.0), None);
        long.path = Some("Z:\\é\\long…".to_owned());
        for (path, is_itself_found) in
            [("z:\\é\\lo…", true), ("Z:\\é…", true), ("Z:\\ü\\lo…", false), ("Z:\\é\\lo", false)]
        {
            assert_eq!(is_itself(&long, &came(path)), is_itself_found, "{path}");
        }
    }

    #[test]
    fn there_is_no_section_if_nothing_came() {
        let style = Style { color: false, width: 80, unicode: true };
        assert_eq!(part(&report(), &style), "");
    }
}
