//! What can be done better, and by which command.

use super::remedy::{self, Obstacle, obstacle, to_checksum, to_moving, to_realigning};
use super::{collisions, twins};
use crate::names::{key, key_of_file};
use model::figures::{bytes, count, plural};
use model::{Collisions, GuardFacts, PeFacts, PeKind, SetFinding, StampTwins};
use std::path::Path;

/// All findings, what keeps images from working first, then what costs most.
pub(super) fn all(
    files: &[PeFacts],
    collisions: &Collisions,
    twins: &[StampTwins],
) -> Vec<SetFinding> {
    let found = [
        problems(files),
        immovable(collisions),
        guard(files),
        moved(files, collisions),
        hints(files),
        alignment(files),
        same_stamps(files, twins),
        stale_bindings(files),
        run_from_swap(files),
        checksums(files),
    ];
    found.into_iter().flatten().collect()
}

fn finding(
    id: &str,
    cause: String,
    evidence: Vec<String>,
    files: Vec<String>,
    remedy: &str,
) -> SetFinding {
    SetFinding { id: id.to_owned(), cause, evidence, files, remedy: remedy.to_owned() }
}

/// Paths of the files for which something holds.
fn those(files: &[PeFacts], holds: impl Fn(&PeFacts) -> bool) -> Vec<String> {
    files.iter().filter(|file| holds(file)).map(|file| file.path.clone()).collect()
}

fn images(number: usize) -> String {
    plural(number as u64, "image", "images")
}

fn problems(files: &[PeFacts]) -> Option<SetFinding> {
    let paths = those(files, |file| !file.problems.is_empty());
    let cause = format!("{} malformed", are(paths.len()));
    let remedy = "build or copy them again; headstart inspect FILE shows what is wrong";
    (!paths.is_empty()).then(|| finding("problems", cause, Vec::new(), paths, remedy))
}

fn immovable(collisions: &Collisions) -> Option<SetFinding> {
    let paths = collisions.immovable.clone();
    let cause = format!("{} cannot be loaded with the others", images(paths.len()));
    let evidence = vec![
        "their preferred base is taken, and without relocations they cannot be moved".to_owned(),
    ];
    let remedy = "link them again without /FIXED (GNU ld: with --enable-reloc-section), or at a \
         free base";
    (!paths.is_empty()).then(|| finding("immovable", cause, evidence, paths, remedy))
}

fn guard(files: &[PeFacts]) -> Option<SetFinding> {
    let many = |file: &PeFacts| {
        file.guard.as_ref().is_some_and(|guard| guard.functions >= GuardFacts::MANY)
    };
    let paths = those(files, many);
    let largest = files.iter().filter(|file| many(file)).max_by_key(|file| {
        let functions = file.guard.as_ref().map_or(0, |guard| guard.functions);
        (file.kind == PeKind::Program, functions)
    })?;
    let guard = largest.guard.as_ref()?;
    let kind = if largest.kind == PeKind::Program { "a program" } else { "a DLL" };
    let evidence = vec![
        format!(
            "{} is {kind} with {} entries: at each start, Windows 10 before 1903 does about {:.1} \
             times the work of {} entries, because it grows with the square (an estimate)",
            largest.path,
            count(guard.functions),
            guard.quadratic_cost(),
            count(GuardFacts::MANY)
        ),
        "this affects programs, at each start; newer versions of Windows, and Wine, are not \
         affected"
            .to_owned(),
    ];
    let cause = format!("{} a very large Control Flow Guard table", has(paths.len()));
    let remedy = "link programs that are only for tests without /GUARD:CF, or split them into \
         several";
    Some(finding("guard", cause, evidence, paths, remedy))
}

fn moved(files: &[PeFacts], collisions: &Collisions) -> Option<SetFinding> {
    let paths: Vec<String> = collisions.moved.iter().map(|moved| moved.path.clone()).collect();
    if paths.is_empty() {
        return None;
    }
    let mut evidence = vec![format!(
        "moving them applies {} relocations on {}, which are then private to each process",
        count(collisions.relocations),
        plural(collisions.pages, "page", "pages")
    )];
    let aslr = files.iter().filter(|file| file.flags.dynamic_base).count();
    if aslr > 0 {
        evidence.push(format!(
            "{} DYNAMICBASE: Windows moves these once per boot, for all processes; Wine and \
             Cygwin's fork use the preferred base",
            has(aslr)
        ));
    }
    let cause =
        format!("{} of {} collide with others", count(paths.len() as u64), images(files.len()));
    Some(finding("collisions", cause, evidence, paths, &rebase(files, collisions)))
}

/// What `rebase` can do about collisions: of images at one place, all but one have to be movable.
fn rebase(files: &[PeFacts], collisions: &Collisions) -> String {
    let stays = |file: &&PeFacts| file.kind != PeKind::Library || to_moving(file).is_some();
    let staying: Vec<PeFacts> = files.iter().filter(stays).cloned().collect();
    let left: Vec<String> =
        collisions::find(&staying).moved.into_iter().map(|moved| moved.path).collect();
    let command = remedy::to_rebase(files, "--auto");
    let all = "give each a base of its own when linking";
    let signed = |file: &&PeFacts| to_moving(file) == Some(Obstacle::Signed);
    let of_left = files.iter().filter(|file| left.contains(&file.path));
    let signed = of_left.filter(signed).count();
    match (left.len(), signed) {
        (0, _) => command,
        (left, 0) if left == collisions.moved.len() => all.to_owned(),
        (left, _) if left == collisions.moved.len() => {
            format!("{all}; or {command} with --strip-signature, which moves {}", of(signed))
        }
        (left, 0) => format!("{command}; {} colliding, and cannot be moved", stay(left)),
        (left, _) => {
            let moves = of(signed);
            format!("{command}; {} colliding: --strip-signature moves {moves}", stay(left))
        }
    }
}

fn of(number: usize) -> String {
    plural(number as u64, "signed image", "signed images")
}

fn stay(number: usize) -> String {
    plural(number as u64, "image stays", "images stay")
}

fn has(number: usize) -> String {
    let word = if number == 1 { "has" } else { "have" };
    format!("{} {word}", images(number))
}

fn hints(files: &[PeFacts]) -> Option<SetFinding> {
    let wrong: u64 = files.iter().filter_map(|file| file.wrong_hints).sum();
    let checked: u64 = files.iter().map(|file| file.hints_checked).sum();
    let paths = those(files, |file| file.wrong_hints.is_some_and(|wrong| wrong > 0));
    let cause = format!("{} of {} import hints are wrong", count(wrong), count(checked));
    let evidence =
        vec!["for each of these, the loader searches all names that the DLL exports".to_owned()];
    let command = remedy::for_set(files, "hints", "FILE…");
    let remedy = remedy::command(files, &paths, &command, obstacle);
    (wrong > 0).then(|| finding("wrong-hints", cause, evidence, paths, &remedy))
}

/// Bytes of sections whose place in the file keeps Wine from mapping them.
fn bytes_read(file: &PeFacts) -> u64 {
    file.unmapped_sections().map(|section| u64::from(section.file_bytes)).sum()
}

fn alignment(files: &[PeFacts]) -> Option<SetFinding> {
    let paths = those(files, |file| bytes_read(file) > 0);
    let total: u64 = files.iter().map(bytes_read).sum();
    let cause = format!("{} sections that Wine cannot map", has(paths.len()));
    let evidence = vec![format!(
        "Wine reads {} of sections into the memory of each process instead of mapping them; \
         Windows maps them anyway",
        bytes(total)
    )];
    let command = remedy::for_each(files, "realign --file-alignment 4096");
    let remedy = &remedy::command(files, &paths, &command, to_realigning);
    (!paths.is_empty()).then(|| finding("file-alignment", cause, evidence, paths, remedy))
}

fn same_stamps(files: &[PeFacts], twins: &[StampTwins]) -> Option<SetFinding> {
    let twins = twins::but_copies(files, twins);
    let largest = twins.first()?;
    let calls: u64 = twins.iter().map(|group| group.extra_system_calls).sum();
    let paths: Vec<String> = twins.iter().flat_map(|group| group.files.clone()).collect();
    let cause = format!("{} share TimeDateStamp and CheckSum with others", images(paths.len()));
    let evidence = vec![
        format!(
            "the largest group: {} with time stamp {:#x} and checksum {:#x}",
            images(largest.files.len()),
            largest.time_stamp,
            largest.checksum
        ),
        format!("Wine compares each pair that is loaded: {} system calls if all are", count(calls)),
    ];
    // Every image gets its right checksum, and those that move another time stamp too.
    let command = remedy::to_rebase(files, "--auto --checksum");
    let command = remedy::command(files, &paths, &command, to_moving);
    let remedy = format!("{command}; or link each with its own time stamp or hash");
    Some(finding("same-stamps", cause, evidence, paths, &remedy))
}

fn stale_bindings(files: &[PeFacts]) -> Option<SetFinding> {
    let paths = those(files, |file| file.bound.iter().any(|dll| dll.valid == Some(false)));
    let stale = |file: &PeFacts| file.bound.iter().filter(|dll| dll.valid == Some(false)).count();
    let dlls: usize = files.iter().map(stale).sum();
    let cause = format!("{} bound to DLLs that have changed or that ASLR moves", are(paths.len()));
    let evidence = vec![format!(
        "loaders look up {} as if they were not bound",
        match dlls {
            1 => "the imports from 1 DLL".to_owned(),
            dlls => format!("the imports from {} DLLs", count(dlls as u64)),
        }
    )];
    let unbind = remedy::for_each(files, "unbind");
    let unbind = remedy::command(files, &paths, &unbind, obstacle);
    let fit = |file: &PeFacts| obstacle(file).is_none() && !file.flags.no_bind;
    let remedy = match files.iter().filter(|file| paths.contains(&file.path)).all(|file| {
        let stale = || file.bound.iter().filter(|dll| dll.valid == Some(false));
        fit(file) && stale().all(|dll| stays_where_it_wants(files, file, &dll.name))
    }) {
        true => format!("{}; or {unbind}", remedy::for_set(files, "bind", "EXE DLL…")),
        false => unbind,
    };
    (!paths.is_empty()).then(|| finding("stale-bindings", cause, evidence, paths, &remedy))
}

/// Whether a DLL is among the files, and loaders leave it at its preferred base.
fn stays_where_it_wants(files: &[PeFacts], importer: &PeFacts, dll: &str) -> bool {
    let key = key(dll.as_bytes());
    files.iter().any(|file| {
        let same = key_of_file(Path::new(&file.path)) == key && file.machine == importer.machine;
        // One without a time stamp is not bound to.
        same && !file.flags.dynamic_base && file.time_stamp != 0
    })
}

fn are(number: usize) -> String {
    let word = if number == 1 { "is" } else { "are" };
    format!("{} {word}", images(number))
}

fn run_from_swap(files: &[PeFacts]) -> Option<SetFinding> {
    let paths = those(files, |file| file.flags.swap_run_net || file.flags.swap_run_removable);
    let cause =
        format!("{} copied completely when started from other media (SWAPRUN)", are(paths.len()));
    let evidence = vec![
        "from the network or removable media, Windows reads the whole file before it starts it"
            .to_owned(),
    ];
    let command = remedy::for_each(files, "flags --clear swaprun:net,swaprun:cd");
    let command = remedy::command(files, &paths, &command, obstacle);
    let remedy = format!("if the medium stays connected: {command}");
    (!paths.is_empty()).then(|| finding("run-from-swap", cause, evidence, paths, &remedy))
}

fn checksums(files: &[PeFacts]) -> Option<SetFinding> {
    let wrong = |file: &PeFacts| {
        file.checksum.stored != 0 && file.checksum.stored != file.checksum.computed
    };
    let paths = those(files, wrong);
    let cause = format!(
        "{} changed after {} made",
        images(paths.len()),
        if paths.len() == 1 { "its checksum was" } else { "their checksums were" }
    );
    let evidence = vec![
        "Windows refuses such files as drivers and as DLLs that are loaded at boot".to_owned(),
    ];
    let command = remedy::for_each(files, "unbind --checksum");
    let command = remedy::command(files, &paths, &command, to_checksum);
    let remedy =
        format!("find out what has changed them; to correct it (and undo binding): {command}");
    (!paths.is_empty()).then(|| finding("checksums", cause, evidence, paths, &remedy))
}
