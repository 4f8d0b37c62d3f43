//! One launch that stands for several: each of its times is the median of all that went the same way.
//!
//! What disturbs one launch in one place, such as another program that runs meanwhile, is not in it.

use crate::time::median;
use model::{DebugStop, DebuggedLaunch, DebuggedProcess};

/// The launch that stands for the largest group that went the same way, and how many these are; `None` where there
/// is none with a process.
pub(super) fn median_launch(launches: &[DebuggedLaunch]) -> Option<(DebuggedLaunch, usize)> {
    let whole: Vec<&DebuggedLaunch> =
        launches.iter().filter(|launch| !launch.processes.is_empty()).collect();
    let alike = |one: &DebuggedLaunch| -> Vec<&DebuggedLaunch> {
        whole.iter().copied().filter(|other| same_way(one, other)).collect()
    };
    let mut groups = whole.iter().map(|launch| alike(launch));
    let mut most = groups.next()?;
    for group in groups {
        if group.len() > most.len() {
            most = group;
        }
    }
    // Launches of several processes rarely go the same way: then the one that takes the middle time.
    if most.len() == 1 {
        let mut sorted = whole.clone();
        sorted.sort_by(|a, b| a.total_us.total_cmp(&b.total_us));
        most = vec![sorted[(sorted.len() - 1) / 2]];
    }
    Some((median_of(&most), most.len()))
}

/// Whether the same processes have loaded the same DLLs, with stops in the same order.
fn same_way(one: &DebuggedLaunch, other: &DebuggedLaunch) -> bool {
    let way = |process: &DebuggedProcess| {
        let dlls = process.dlls.iter();
        let dlls: Vec<_> =
            dlls.map(|dll| (dll.path.clone(), dll.initialized_us.is_some())).collect();
        (process.path.clone(), process.parent, dlls, process.entry_us.is_some(), process.exit_code)
    };
    let order = |launch: &DebuggedLaunch| -> Vec<Option<usize>> {
        let place = |stop: &DebugStop| launch.processes.iter().rposition(|it| it.pid == stop.pid);
        launch.stops.iter().map(place).collect()
    };
    one.ending == other.ending
        && one.processes.len() == other.processes.len()
        && one.processes.iter().zip(&other.processes).all(|(one, other)| way(one) == way(other))
        && order(one) == order(other)
}

/// The first of several launches that went the same way, with the median of each run and each stop.
fn median_of(launches: &[&DebuggedLaunch]) -> DebuggedLaunch {
    let first = launches[0];
    let of = |figure: &dyn Fn(&DebuggedLaunch) -> f64| {
        let figures: Vec<f64> = launches.iter().map(|launch| figure(launch)).collect();
        median(&figures).unwrap_or(0.0)
    };
    let mut stops = Vec::new();
    let mut now_us = 0.0;
    for (place, stop) in first.stops.iter().enumerate() {
        now_us += of(&|launch| launch.stops[place].at_us - released_us(launch, place));
        let held_us = of(&|launch| launch.stops[place].held_us);
        stops.push(DebugStop { pid: stop.pid, at_us: now_us, held_us });
        now_us += held_us;
    }
    let total_us = now_us + of(&|launch| launch.total_us - released_us(launch, launch.stops.len()));
    let moved = |at_us: f64| moved(first, &stops, total_us, at_us);
    let processes = first.processes.iter().map(|process| with_times(process, &moved)).collect();
    DebuggedLaunch { total_us, ending: first.ending, processes, stops }
}

/// When the launch went on before the stop of this place.
fn released_us(launch: &DebuggedLaunch, place: usize) -> f64 {
    let before = place.checked_sub(1).and_then(|before| launch.stops.get(before));
    before.map_or(0.0, |stop| stop.at_us + stop.held_us)
}

/// A time of the first launch in the one that stands for all: events are at stops.
fn moved(first: &DebuggedLaunch, stops: &[DebugStop], total_us: f64, at_us: f64) -> f64 {
    let place = first.stops.partition_point(|stop| stop.at_us < at_us);
    stops.get(place).map_or(total_us, |stop| stop.at_us)
}

fn with_times(process: &DebuggedProcess, moved: &dyn Fn(f64) -> f64) -> DebuggedProcess {
    let mut process = process.clone();
    process.started_us = moved(process.started_us);
    for at_us in [&mut process.initializing_us, &mut process.entry_us, &mut process.exiting_us] {
        *at_us = at_us.map(moved);
    }
    for dll in &mut process.dlls {
        dll.loaded_us = moved(dll.loaded_us);
        dll.initialized_us = dll.initialized_us.map(moved);
        dll.returned_us = dll.returned_us.map(moved);
    }
    process
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pe::test_launch;

    /// The launch of the tests, in which everything behind a time takes longer.
    fn longer(behind_us: f64, by_us: f64) -> DebuggedLaunch {
        let launch = test_launch::launch();
        let later = |at_us: f64| if at_us > behind_us { at_us + by_us } else { at_us };
        let processes = launch.processes.iter().map(|process| with_times(process, &later));
        let stops = launch.stops.iter().map(|stop| DebugStop { at_us: later(stop.at_us), ..*stop });
        DebuggedLaunch {
            total_us: launch.total_us + by_us,
            processes: processes.collect(),
            stops: stops.collect(),
            ..launch.clone()
        }
    }

    #[test]
    fn what_disturbs_one_launch_in_one_place_is_left_out() {
        let launches = [longer(0.0, 5000.0), longer(300.0, 900.0), longer(720.0, 90.0)];
        assert_eq!(median_launch(&launches), Some((test_launch::launch(), 3)));
        assert_eq!(median_launch(&launches[..1]), Some((launches[0].clone(), 1)));
        assert_eq!(median_launch(&[]), None);
    }

    #[test]
    fn launches_that_went_another_way_do_not_take_part() {
        let mut other = longer(0.0, 1.0);
        other.processes[0].dlls.pop();
        let launches = [other.clone(), longer(0.0, 10.0), longer(0.0, 30.0)];
        let (found, of) = median_launch(&launches).unwrap();
        assert_eq!((found.total_us, found.processes[0].dlls.len(), of), (1120.0, 4, 2));
        assert_eq!(median_launch(&[other.clone()]), Some((other.clone(), 1)));
        let mut third = longer(0.0, 0.5);
        third.processes[0].dlls.clear();
        assert_eq!(median_launch(&[longer(0.0, 9.0), other.clone(), third]), Some((other, 1)));
    }
}
