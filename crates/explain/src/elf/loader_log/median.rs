//! The typical log of several launches.

use super::{LoggedModule, Run, runs};
use crate::elf::middle::median_by;
use model::LoaderLog;

/// The runs of the log with the median total, in which each module's time is the median over the
/// logs: a single launch blames whichever module the scheduler happened to interrupt.
///
/// A log of a launch that executed other images, or in another order, does not take part.
pub(crate) fn median_runs(logs: &[LoaderLog]) -> Vec<Run> {
    let Some(chosen) = median_by(logs, |log| log.total_us) else { return Vec::new() };
    let mut result = runs(chosen);
    let others: Vec<Vec<Run>> =
        logs.iter().map(runs).filter(|other| same(other, &result)).collect();
    for (index, run) in result.iter_mut().enumerate() {
        let peers: Vec<&Run> = others.iter().filter_map(|other| other.get(index)).collect();
        run.checking = middle(peers.iter().map(|peer| Some(peer.checking))).unwrap_or(run.checking);
        for module in &mut run.modules {
            let twins: Vec<&LoggedModule> =
                peers.iter().filter_map(|peer| twin(peer, module)).collect();
            module.map = middle(twins.iter().map(|twin| twin.map));
            module.relocate = middle(twins.iter().map(|twin| twin.relocate));
            module.init = middle(twins.iter().map(|twin| twin.init));
            module.fini = middle(twins.iter().map(|twin| twin.fini));
        }
    }
    result
}

fn same(a: &[Run], b: &[Run]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.program == b.program)
}

fn twin<'a>(run: &'a Run, module: &LoggedModule) -> Option<&'a LoggedModule> {
    run.modules.iter().find(|other| other.name == module.name && other.path == module.path)
}

fn middle(values: impl Iterator<Item = Option<i64>>) -> Option<i64> {
    let mut values: Vec<i64> = values.flatten().collect();
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::test_logs::log;

    #[test]
    fn an_interrupted_module_is_not_blamed() {
        let usual = log("true");
        let mut interrupted = usual.clone();
        let at = interrupted.lines.iter().position(|line| line.text.contains("processing: true"));
        for line in interrupted.lines.iter_mut().skip(at.unwrap() + 1) {
            line.at_us += 5_000.0;
        }
        interrupted.total_us += 5_000.0;
        let slower: Vec<LoaderLog> = vec![interrupted.clone(), usual.clone(), interrupted.clone()];
        assert_eq!(median_runs(&slower)[0].modules, runs(&interrupted)[0].modules);
        let faster = vec![usual.clone(), interrupted, usual.clone()];
        assert_eq!(median_runs(&faster)[0].modules, runs(&usual)[0].modules);
    }

    #[test]
    fn a_launch_of_other_images_takes_no_part() {
        let logs = [log("python"), log("true"), log("true")];
        assert_eq!(median_runs(&logs), runs(&logs[1]));
        assert!(median_runs(&[]).is_empty());
    }
}
