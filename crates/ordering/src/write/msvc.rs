//! `/ORDER` of Microsoft's linker, and of lld-link, which has it from there: a decorated name a
//! line. What is named must be in a section of its own, a COMDAT (`cl /Gy`, clang's
//! `-ffunction-sections`).
//!
//! Microsoft's linker does not move static functions, and their names may be those of others:
//! [`statics`] finds them. It crashes by names that are very long. lld-link moves all.

use super::listing::is_text;
use super::{OrderFile, OrderedFunction, UnlistedFunction, UnlistedReason};
use crate::Movability;
use crate::subject::Subject;
use crate::trace::runs::MatchedRuns;
use model::FunctionId;
use std::collections::{BTreeSet, HashSet};

/// The longest name that Microsoft's linker has been seen to take (OpenOffice's *Reorder Symbols For
/// Libraries*); it crashed by one of 3,345 characters, and nobody knows from where on.
pub const LONGEST_NAME: usize = 1670;
/// In front of the number by which Microsoft's compiler tells unnamed namespaces apart, which is
/// another one in each build.
const UNNAMED_NAMESPACE: &str = "?A0x";

/// The order file of Microsoft's linker.
pub(super) fn write_msvc(functions: &[OrderedFunction<'_>]) -> OrderFile {
    write(functions, judged_by_msvc)
}

/// Why Microsoft's linker cannot take a name.
pub(super) fn judged_by_msvc(name: &str) -> Result<(), UnlistedReason> {
    judged_by_lld_link(name)?;
    match () {
        () if name.len() > LONGEST_NAME => Err(UnlistedReason::TooLong),
        () if is_in_unnamed_namespace(name) => Err(UnlistedReason::NameOfOneBuild),
        () => Ok(()),
    }
}

/// Why lld-link cannot take it.
pub(super) fn judged_by_lld_link(name: &str) -> Result<(), UnlistedReason> {
    match is_text(name) && !name.starts_with([';', '#']) {
        true => Ok(()),
        false => Err(UnlistedReason::OddName),
    }
}

/// The order file of lld-link. clang numbers unnamed namespaces by the paths of their files.
pub(super) fn write_lld_link(functions: &[OrderedFunction<'_>]) -> OrderFile {
    write(functions, judged_by_lld_link)
}

/// Static functions that launches called, which Microsoft's linker leaves where they are.
pub fn statics(subject: &Subject, matched: &MatchedRuns) -> Vec<UnlistedFunction> {
    let called = matched.runs.iter().flat_map(|run| &run.first_calls);
    let called: BTreeSet<FunctionId> = called.copied().collect();
    let stays = |function: &FunctionId| {
        let placed = subject.functions.get(function.index());
        placed.is_some_and(|function| function.movability == Movability::InLinkOrder)
    };
    let unlisted = |function: FunctionId| {
        let name = subject.names.get(function.index()).and_then(|names| names.first());
        let reason = if name.is_some() { UnlistedReason::Static } else { UnlistedReason::NoName };
        UnlistedFunction { name: name.cloned().unwrap_or_default(), reason }
    };
    called.into_iter().filter(stays).map(unlisted).collect()
}

fn write(
    functions: &[OrderedFunction<'_>],
    judge: impl Fn(&str) -> Result<(), UnlistedReason>,
) -> OrderFile {
    let judge = |name: &String| judge(name).map(|()| name.clone());
    let (mut file, mut seen) = (OrderFile::default(), HashSet::new());
    for function in functions {
        let judged: Vec<_> = function.names.iter().map(judge).collect();
        if judged.iter().all(Result::is_err) {
            let name = function.names.first().cloned().unwrap_or_default();
            let reason = judged.into_iter().find_map(Result::err);
            let reason = reason.unwrap_or(UnlistedReason::NoName);
            file.left_out.push(UnlistedFunction { name, reason });
            continue;
        }
        let mut names: Vec<String> = judged.into_iter().filter_map(Result::ok).collect();
        names.retain(|name| seen.insert(name.clone()));
        file.functions += usize::from(!names.is_empty());
        file.names += names.len();
        names.iter().for_each(|name| file.text.extend([name, "\n"]));
    }
    file
}

/// Whether a decorated name has the number of an unnamed namespace.
fn is_in_unnamed_namespace(name: &str) -> bool {
    let behind = name.split(UNNAMED_NAMESPACE).skip(1);
    behind.into_iter().any(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        digits > 0 && rest.as_bytes().get(digits) == Some(&b'@')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<Vec<String>> {
        names.iter().map(|&name| vec![name.to_owned()]).collect()
    }

    #[test]
    fn what_microsofts_linker_cannot_take_is_reported() {
        let (fits, long) = ("x".repeat(LONGEST_NAME), "y".repeat(3345));
        let unnamed = "?unnamed@?A0x5b3ff31b@@YAHH@Z";
        let names =
            names(&["run", unnamed, &fits, &long, "?A0x@@YAXXZ", "; no name", "run", "?A0xQ@"]);
        let functions: Vec<_> = names.iter().map(|names| OrderedFunction { names }).collect();
        let file = write_msvc(&functions);
        assert_eq!(file.text, format!("run\n{fits}\n?A0x@@YAXXZ\n?A0xQ@\n"));
        assert_eq!((file.functions, file.names), (4, 4));
        let reasons: Vec<_> = file.left_out.iter().map(|left| left.reason).collect();
        use UnlistedReason::{NameOfOneBuild, OddName, TooLong};
        assert_eq!(reasons, [NameOfOneBuild, TooLong, OddName]);
        let file = write_lld_link(&functions);
        assert_eq!(file.functions, 6);
        assert!(file.text.contains(unnamed) && file.text.contains(&long));
        assert_eq!(write_lld_link(&[OrderedFunction { names: &[] }]).left_out.len(), 1);
    }
}
