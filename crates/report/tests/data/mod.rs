//! Made-up runs that look like real ones, built from formulas so that they never change.

#![allow(dead_code, reason = "each test file uses a part of the data")]

use model::{
    CacheState, ColdCheck, Command, Ending, Experiment, Launch, LaunchOptions, Machine, Reading,
    Results, Rules, Sample, Schedule, Until, Variant, VariantId,
};
use report::{CommandWords, Style};

pub const PLAIN: Style = Style { color: false, width: 80, unicode: true };
pub const RICH: Style = Style { color: true, width: 80, unicode: true };
pub const ASCII: Style = Style { color: false, width: 80, unicode: false };

/// As the command has them.
pub const WORDS: CommandWords = CommandWords {
    say_when_ready: "use --until to say when such a program is ready",
    check_machine: "headstart doctor",
    checked: "what makes this machine noisy",
    more_rounds: "--runs or --precision",
    keep_best: "the same command with --out DIR",
    install: "headstart install",
    install_fixed: "headstart install --fixed",
    bundle: "headstart bundle --out DIR",
    install_library_path: "--library-path",
    rerandomize: "headstart rerandomize",
    warm: "headstart warm",
};

/// No line is wider than the terminal.
pub fn fits(view: &str) -> &str {
    for line in view.lines() {
        assert!(report::text::columns(line) <= 80, "too wide: {line}");
        assert_eq!(line.trim_end(), line, "spaces at the end of a line");
    }
    view
}

/// What a variant is called, what is launched, its median and its noise.
pub struct Made {
    pub name: &'static str,
    pub argv: &'static [&'static str],
    pub median_us: f64,
    pub noise: f64,
}

/// A run of `rounds` rounds; `change` may alter every sample.
pub fn run(made: &[Made], rounds: u32, change: impl Fn(&mut Sample)) -> Results {
    let mut samples = Vec::new();
    for round in 0..rounds {
        for (index, variant) in made.iter().enumerate() {
            let mut sample = sample(round, index as u32, variant);
            change(&mut sample);
            samples.push(sample);
        }
    }
    stats::results(&experiment(made, rounds), &samples, &Rules::default())
}

fn sample(round: u32, variant: u32, made: &Made) -> Sample {
    let place = random(u64::from(round) << 32 | u64::from(variant));
    // Skewed to the right like launch times; 0 in the middle, so that the median stays.
    let skewed = (place - 0.5) * 2.0 + 3.0 * place.powi(9) + 9.0 * place.powi(90);
    let total_us = made.median_us * (1.0 + made.noise * skewed);
    let launch = Launch {
        total_us,
        created_us: None,
        ending: Ending::Code(0),
        user_us: Reading::Value(0.7 * total_us),
        system_us: Reading::Value(0.22 * total_us),
        private_kib: Some(Reading::Value(10_400 + u64::from(round % 5) * 4)),
        peak_rss_kib: Reading::Value(63_900 + u64::from(round % 5) * 12),
        minor_faults: Reading::Value(6812),
        major_faults: Reading::Value(0),
        read_bytes: Reading::Value(0),
        left_running: 0,
    };
    let round = round as i32;
    Sample { round, position: variant, variant: VariantId(variant), launch, cold: None }
}

/// A fraction that looks random: the finalizer of SplitMix64 (Steele, Lea & Flood 2014).
fn random(seed: u64) -> f64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31) as f64 / u64::MAX as f64
}

fn experiment(made: &[Made], rounds: u32) -> Experiment {
    let variant = |made: &Made| {
        let command = Command {
            argv: made.argv.iter().map(Into::into).collect(),
            program: made.argv[0].into(),
            directory: None,
            environment: Vec::new(),
        };
        Variant::new(made.name.to_owned(), command)
    };
    Experiment {
        schema: 1,
        headstart: "0.1.0".to_owned(),
        started_unix_s: 1_750_000_000,
        machine: Machine {
            kernel: "Linux 6.18".to_owned(),
            processor: "Example 9000".to_owned(),
            cpus: 4,
            hypervisor: None,
            libc: None,
        },
        variants: made.iter().map(variant).collect(),
        schedule: Schedule { seed: 1, warm_up_rounds: 1, rounds, ..Schedule::default() },
        options: LaunchOptions {
            until: Until::Exit,
            cache: CacheState::Warm,
            cpu: Some(2),
            realtime: false,
            timeout_s: 60.0,
            ignore_failure: true,
            ignored_codes: Vec::new(),
            prepare: None,
        },
    }
}

/// Marks a sample as cold.
pub fn make_cold(sample: &mut Sample) {
    sample.cold = Some(ColdCheck {
        state: CacheState::ColdEvicted,
        files: 312,
        total_pages: 48_120,
        resident_pages: Reading::Value(12),
    });
    sample.launch.major_faults = Reading::Value(1240);
    sample.launch.read_bytes = Reading::Value(98_304_000);
}
