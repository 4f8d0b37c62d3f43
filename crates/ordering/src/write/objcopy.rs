//! Arguments of objcopy that rename sections so that any GNU ld sorts them: its script has had
//! `*(SORT(.text.sorted.*))` since 2.36.

use super::listing::Listing;
use super::sections::SORTED;
use super::{InputSections, OrderFile, OrderedFunction};

pub(super) fn write(
    functions: &[OrderedFunction<'_>],
    sections: Option<&InputSections>,
) -> OrderFile {
    let Listing { functions, file } = Listing::of_sections(functions, sections, is_plain);
    // They are sorted as text.
    let digits = functions.len().to_string().len().max(6);
    let mut text = String::new();
    for (place, listed) in functions.iter().enumerate() {
        for section in listed {
            let section = escaped(section);
            text += &format!("--rename-section={section}={SORTED}{place:0digits$}\n");
        }
    }
    OrderFile { text, ..file }
}

/// Whether it ends where the new name begins.
pub(super) fn is_plain(section: &str) -> bool {
    !section.contains('=')
}

/// A file of arguments is divided at blanks, and quotes and backslashes mean something in it.
fn escaped(section: &str) -> String {
    let mut text = String::with_capacity(section.len());
    for character in section.chars() {
        text.extend((matches!(character, '\'' | '"' | '\\' | ' ')).then_some('\\'));
        text.push(character);
    }
    text
}
