//! What reads cost on devices, and averages over runs.

use super::*;
use crate::{Algorithm, Movability};
use std::time::Duration;

fn read(distance: u64, is_forward: bool, bytes: u64) -> MediaRead {
    MediaRead { offset: FileOffset(0), bytes, distance, is_forward, cause: ImagePage(0) }
}

#[test]
fn a_cost_is_latency_transfer_and_faults() {
    let replay =
        Replay { reads: vec![read(0, true, 250_000_000); 10], faults: 1000, major_faults: 10 };
    let cost = Device::Nvme.profile().cost(&replay);
    assert_eq!(cost.latency, Duration::from_micros(800));
    assert_eq!(cost.transfer, Duration::from_secs(1));
    assert_eq!(cost.faults, Duration::from_micros(700));
    assert_eq!(cost.total(), Duration::from_micros(1_001_500));
    assert_eq!(Device::Nvme.profile().cost(&Replay::default()).total(), Duration::ZERO);
}

#[test]
fn a_disk_waits_for_what_passes_by_and_seeks_what_does_not() {
    let disk = Device::Hdd.profile();
    let cost = |distance, is_forward| {
        let reads = vec![read(distance, is_forward, 0)];
        disk.cost(&Replay { reads, faults: 0, major_faults: 0 }).latency
    };
    assert!(cost(0, true) < Duration::from_millis(1));
    assert!(cost(150_000, true) < cost(150_000, false));
    assert!(cost(1 << 20, false) < cost(1 << 38, false));
    let across = cost(1_000_000_000_000 / 3, false);
    assert_eq!(across, Duration::from_micros(100 + 4_170 + 8_500));
}

#[test]
fn a_disk_reads_as_slowly_as_the_one_of_the_published_table() {
    // fwkmi.dll before it was ordered: 70 reads, 1,587,200 bytes, 21,660,692 bytes between them,
    // 0.2562 s. Their directions are assumed to alternate.
    let reads = (0..70).map(|at| read(21_660_692 / 69, at % 2 == 0, 1_587_200 / 70));
    let replay = Replay { reads: reads.collect(), faults: 70, major_faults: 70 };
    let seconds = Device::Hdd.profile().cost(&replay).total().as_secs_f64();
    assert!((0.2..0.35).contains(&seconds), "{seconds}");
}

#[test]
fn slower_devices_cost_more_for_the_same_reads() {
    let replay = Replay { reads: vec![read(1 << 20, false, 131_072)], faults: 1, major_faults: 1 };
    let costs = Device::ALL.map(|device| device.profile().cost(&replay).total());
    assert!(costs.is_sorted(), "{costs:?}");
    assert_eq!(Device::ALL.map(Device::name), ["nvme", "ssd", "emmc", "ebs", "hdd"]);
}

#[test]
fn averages_are_weighted_and_leave_out_runs_without_weight() {
    let functions = functions(&[4096; 100]);
    let forecaster = Forecaster {
        functions: &functions,
        mapping: mapping(100, 0),
        read_ahead: KernelReadAhead::linux(ReadAheadKind::Forward),
    };
    let heavy = CalledFunctions { weight: 3.0, ..run(ids(0..4)) };
    let nothing = CalledFunctions { weight: f64::NAN, ..run(ids(0..100)) };
    let runs = [heavy, run(ids([99])), nothing];
    let forecast = forecaster.layout(&TextPlacement::present(&functions), &runs);
    let means = forecast.means();
    assert_eq!((means.pages, means.function_floor, means.reads), (3.25, 3.25, 1.0));
    let each = forecast.runs[..2].iter().map(|run| Device::Ssd.profile().cost(&run.replay).total());
    let each: Vec<Duration> = each.collect();
    let mean = forecast.cost(&Device::Ssd.profile()).unwrap();
    assert!(mean.abs_diff((each[0] * 3 + each[1]) / 4) < Duration::from_nanos(10));
    let none = forecaster.layout(&TextPlacement::present(&functions), &runs[2..]);
    assert_eq!((none.means(), none.cost(&Device::Ssd.profile())), (ForecastMeans::default(), None));
}

#[test]
fn the_scatter_of_a_module_says_what_an_order_would_save() {
    let mut functions = functions(&[1024; 400]);
    functions[40].movability = Movability::InLinkOrder;
    let forecaster = Forecaster {
        functions: &functions,
        mapping: mapping(100, 0),
        read_ahead: KernelReadAhead::linux(ReadAheadKind::Forward),
    };
    let scatter = module_scatter(&forecaster, &[run(ids((0..400).step_by(40)))]);
    assert_eq!((scatter.movable, scatter.immovable), (9, 1));
    assert_eq!((scatter.now.pages, scatter.now.function_floor), (10.0, 3.0));
    // Nine functions fit into three pages, beside the one that stays.
    assert_eq!((scatter.ordered.pages, scatter.saved_pages()), (4.0, 6.0));
    assert!(scatter.pages_per_floor() > 3.0 && scatter.saved_reads() > 0.0);
    let made = crate::order(Algorithm::Signature, &functions, &[]);
    assert_eq!(made, []);
    assert_eq!(module_scatter(&forecaster, &[]).pages_per_floor(), 1.0);
}
