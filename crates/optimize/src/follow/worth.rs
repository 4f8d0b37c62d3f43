//! Which programs of a launch are worth a trial.

use super::FollowedProgram;
use files::{Privilege, privilege};
use image::elf::Loadable;
use loader::Environment;
use std::path::Path;

/// A program with a smaller share of the launch is not tried.
const LEAST_SHARE: f64 = 0.02;
/// Nor is one of which loading is a smaller part of the launch: there is little to gain.
const LEAST_LOADING: f64 = 0.01;
/// So many are tried at most: those of which loading takes the largest parts.
const MOST: usize = 5;

/// Why each of the programs is not worth a trial; `None` for those that are. The one at `tried` has had its
/// own: its reason is empty.
pub(super) fn why_not(programs: &[FollowedProgram], tried: Option<&Path>) -> Vec<Option<String>> {
    let reason = |program: &FollowedProgram| match tried == Some(program.path.as_path()) {
        true => Some(String::new()),
        false => reason(program),
    };
    let mut reasons: Vec<Option<String>> = programs.iter().map(reason).collect();
    let mut worth: Vec<usize> = (0..programs.len()).filter(|&i| reasons[i].is_none()).collect();
    worth.sort_by(|&a, &b| programs[b].loading_share.total_cmp(&programs[a].loading_share));
    for &index in worth.iter().skip(MOST) {
        reasons[index] =
            Some(format!("loading takes a larger part of the launch in {MOST} other programs"));
    }
    reasons
}

fn reason(program: &FollowedProgram) -> Option<String> {
    if let Some(what) = privilege(&program.path).map(Privilege::name) {
        return Some(format!("it is {what}, so nothing takes its place"));
    }
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    if program.share < LEAST_SHARE {
        let least = percent(LEAST_SHARE);
        return Some(format!("its share of the launch is below {least}"));
    }
    let image = match Loadable::open(&program.path) {
        Ok(image) => image,
        Err(error) => return Some(error.to_string()),
    };
    if let Some(reason) = bundle::is_already(&image) {
        return Some(reason);
    }
    if let Err(error) = loader::load(&program.path, &Environment::of(&program.command())) {
        return Some(error.to_string());
    }
    (program.loading_share < LEAST_LOADING).then(|| {
        let (loading, least) = (percent(program.loading_share), percent(LEAST_LOADING));
        format!(
            "most of its time is its own work: loading it takes {loading} of the launch, and it is tried \
             only from {least} on"
        )
    })
}
