//! From the launches of a run folder to what is printed.

use model::{
    CacheState, ColdCheck, Command, Ending, Experiment, Launch, LaunchOptions, Machine, Reading,
    Rules, Sample, Schedule, Until, Variant, VariantId, Verdict,
};
use stats::results;

fn experiment(names: &[&str]) -> Experiment {
    let command = |name: &str| Command {
        argv: vec![name.into(), "a b".into()],
        program: name.into(),
        directory: None,
        environment: Vec::new(),
    };
    let variant = |name: &&str| Variant::new((*name).to_owned(), command(name));
    Experiment {
        schema: 1,
        headstart: "0.1.0".to_owned(),
        started_unix_s: 0,
        machine: Machine {
            kernel: "Linux".to_owned(),
            processor: "P".to_owned(),
            cpus: 4,
            hypervisor: None,
            libc: None,
        },
        variants: names.iter().map(variant).collect(),
        schedule: Schedule { seed: 9, warm_up_rounds: 1, rounds: 12, ..Schedule::default() },
        options: LaunchOptions {
            until: Until::Exit,
            cache: CacheState::Warm,
            cpu: None,
            realtime: false,
            timeout_s: 1.0,
            ignore_failure: false,
            ignored_codes: Vec::new(),
            prepare: None,
        },
    }
}

fn sample(round: i32, variant: u32, total_us: f64) -> Sample {
    let launch = Launch {
        total_us,
        created_us: None,
        ending: Ending::Code(0),
        user_us: Reading::Value(1.0),
        system_us: Reading::Value(2.0),
        private_kib: None,
        peak_rss_kib: Reading::Value(100 + round.unsigned_abs() as u64),
        minor_faults: Reading::Value(7),
        major_faults: Reading::unavailable("no counter", "sysctl"),
        read_bytes: Reading::Value(0),
        left_running: 0,
    };
    Sample { round, position: 0, variant: VariantId(variant), launch, cold: None }
}

#[test]
fn warm_ups_are_dropped_and_complete_rounds_paired() {
    let mut samples = vec![sample(-1, 0, 9e9), sample(-1, 1, 9e9)];
    for round in 0..12 {
        samples.push(sample(round, 0, 1000.0 + f64::from(round)));
        samples.push(sample(round, 1, 2.0 * (1000.0 + f64::from(round))));
    }
    // Killed in the middle of round 12; round 3 was launched again after a resume.
    samples.push(sample(12, 0, 5000.0));
    samples.push(sample(3, 0, 1003.0));
    let found = results(&experiment(&["a", "b"]), &samples, &Rules::default());
    let (a, b) = (&found.variants[0], &found.variants[1]);
    assert_eq!((a.summary.runs, b.summary.runs), (13, 12));
    assert_eq!((a.summary.min_us, a.summary.max_us), (1000.0, 5000.0));
    assert_eq!(a.command, "a 'a b'");
    assert_eq!((a.peak_rss_kib.get(), a.cpu_us.get()), (Some(106), Some(3.0)));
    assert_eq!(a.major_faults.reason(), Some("no counter"));
    assert_eq!(a.times_us.len(), 13);
    let effect = &found.effects[0];
    assert_eq!((effect.rounds, effect.verdict), (12, Verdict::Slower));
    assert!((effect.ratio - 2.0).abs() < 1e-12);
    assert_eq!(
        found.notes,
        ["1 round without a launch of every variant: excluded from comparisons."]
    );
}

#[test]
fn private_memory_is_that_of_the_launch_that_was_looked_at() {
    let looked = |round, kib| {
        let mut sample = sample(round, 0, 1.0);
        sample.launch.private_kib = Some(kib);
        sample
    };
    let of = |samples: &[Sample]| {
        results(&experiment(&["a"]), samples, &Rules::default()).variants.remove(0).private_kib
    };
    let kib = Reading::Value;
    assert_eq!(of(&[looked(-1, kib(88)), sample(0, 0, 1.0), sample(1, 0, 1.0)]), kib(88));
    // Launches that are ready tell it each time.
    let ready = [looked(-1, kib(1)), looked(0, kib(8)), looked(1, kib(9)), looked(2, kib(12))];
    assert_eq!(of(&ready), kib(9));
    let refused = Reading::unavailable("no ptrace", "");
    assert_eq!(of(&[looked(-1, refused.clone()), sample(0, 0, 1.0)]), refused);
    // A run folder of an earlier version.
    assert!(of(&[sample(-1, 0, 1.0), sample(0, 0, 1.0)]).reason().is_some());
}

#[test]
fn what_is_missing_is_said() {
    let mut samples = vec![sample(0, 0, 1.0), sample(1, 0, 2.0)];
    samples[0].launch.peak_rss_kib = Reading::unavailable("gone", "");
    let found = results(&experiment(&["a", "b"]), &samples, &Rules::default());
    assert_eq!(found.variants.len(), 1);
    assert!(found.effects.is_empty());
    let notes = found.notes.join("\n");
    assert!(notes.contains("a: peak memory known for 1 of 2 launches."), "{notes}");
    assert!(notes.contains("b: there was no counted launch."), "{notes}");
    let none = results(&experiment(&["a"]), &[], &Rules::default());
    assert!(none.variants.is_empty());
}

#[test]
fn cpu_times_that_are_unavailable_are_never_zero() {
    let mut samples = vec![sample(0, 0, 1.0), sample(1, 0, 2.0), sample(2, 0, 3.0)];
    for (sample, reason) in samples.iter_mut().zip(["first", "second", "third"]) {
        sample.launch.user_us = Reading::unavailable(reason, "as root");
    }
    let found = results(&experiment(&["a"]), &samples, &Rules::default());
    let a = &found.variants[0];
    assert_eq!(a.user_us, Reading::unavailable("first", "as root"));
    assert_eq!((a.system_us.get(), a.cpu_us.reason()), (Some(2.0), Some("first")));
    assert!(found.notes.is_empty(), "{:?}", found.notes);
    // One launch that has them is enough.
    samples[1].launch.user_us = Reading::Value(40.0);
    let found = results(&experiment(&["a"]), &samples, &Rules::default());
    let a = &found.variants[0];
    assert_eq!((a.user_us.get(), a.cpu_us.get()), (Some(40.0), Some(42.0)));
    assert_eq!(found.notes, ["a: CPU time known for 1 of 3 launches."]);
}

#[test]
fn endings_and_cold_checks_are_counted() {
    let mut samples: Vec<Sample> = (0..5).map(|round| sample(round, 0, 10.0)).collect();
    samples[1].launch.ending = Ending::Code(3);
    samples[2].launch.ending = Ending::Signal(11);
    samples[3].launch.left_running = 2;
    for (at, sample) in samples.iter_mut().enumerate() {
        let resident_pages = Reading::Value(at as u64);
        let state = CacheState::ColdEvicted;
        sample.cold = Some(ColdCheck { state, files: 4, total_pages: 900, resident_pages });
    }
    let found = results(&experiment(&["a"]), &samples, &Rules::default());
    let a = &found.variants[0];
    assert_eq!((a.failed(), a.left_running), (2, 1));
    assert_eq!(a.endings[0].launches, 3);
    let cold = a.cold.as_ref().unwrap();
    assert_eq!((cold.launches, cold.total_pages, cold.resident_pages.get()), (5, 900, Some(2)));
}

/// The keys that scripts may rely on (docs/formats.md).
#[test]
fn json_has_the_promised_keys() {
    let samples: Vec<Sample> =
        (0..24).map(|i| sample(i / 2, (i % 2) as u32, 10.0 + f64::from(i))).collect();
    let found = results(&experiment(&["a", "b"]), &samples, &Rules::default());
    let json = serde_json::to_value(&found).unwrap();
    let variant = &json["variants"][0];
    for key in [
        "name",
        "command",
        "runs",
        "min_us",
        "p10_us",
        "median_us",
        "peak_rss_kib",
        "minor_faults",
        "read_bytes",
    ] {
        assert!(!variant[key].is_null(), "{key} is missing from {variant}");
    }
    assert_eq!(variant["major_faults"]["unavailable"], "no counter");
    for key in ["baseline", "variant", "ratio", "low", "high", "verdict"] {
        assert!(!json["effects"][0][key].is_null(), "{key}");
    }
    assert_eq!(json["variants"].as_array().unwrap().len(), 2);
    let back: model::Results = serde_json::from_value(json).unwrap();
    assert_eq!(back.effects, found.effects);
}
