//! A launcher whose every figure is known beforehand.

use lab::{Failure, LabError, Launching, Samples, Stop};
use model::{
    CacheState, ColdCheck, Command, EXPERIMENT_SCHEMA, Ending, Experiment, Launch, LaunchOptions,
    Machine, Reading, Sample, Schedule, Until, Variant, VariantId,
};

pub fn experiment(variants: usize, rounds: u32) -> Experiment {
    let command = |number: usize| Command {
        argv: vec![format!("program-{number}").into()],
        program: format!("/program-{number}").into(),
        directory: None,
        environment: Vec::new(),
    };
    Experiment {
        schema: EXPERIMENT_SCHEMA,
        headstart: "test".to_owned(),
        started_unix_s: 0,
        machine: Machine {
            kernel: String::new(),
            processor: String::new(),
            cpus: 1,
            hypervisor: None,
            libc: None,
        },
        variants: (0..variants)
            .map(|number| Variant::new(number.to_string(), command(number)))
            .collect(),
        schedule: Schedule { seed: 42, warm_up_rounds: 2, rounds, ..Schedule::default() },
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

/// Launches take what `us` says for the number of the launch, counted over the whole run; the
/// clock advances a second for each.
pub struct Fake {
    pub us: fn(usize) -> f64,
    /// Number of the next launch.
    pub next: usize,
    /// The user interrupts before the launch with this number.
    pub interrupt_before: Option<usize>,
    /// The launch with this number fails.
    pub fail_at: Option<usize>,
    /// How long a launch really takes.
    pub pause: std::time::Duration,
    pub launched: Vec<VariantId>,
    pub prepared: Vec<(VariantId, i32)>,
    pub concluded: Vec<VariantId>,
    pub emptied: Vec<VariantId>,
    /// Launches that were followed, by their number, and those made for that alone.
    pub followed: Vec<(VariantId, usize)>,
    pub besides: Vec<(VariantId, usize)>,
}

impl Fake {
    pub fn new(us: fn(usize) -> f64) -> Self {
        Fake {
            us,
            next: 0,
            interrupt_before: None,
            fail_at: None,
            pause: std::time::Duration::ZERO,
            launched: Vec::new(),
            prepared: Vec::new(),
            concluded: Vec::new(),
            emptied: Vec::new(),
            followed: Vec::new(),
            besides: Vec::new(),
        }
    }

    /// A launcher that goes on after `done` launches.
    pub fn after(done: usize, us: fn(usize) -> f64) -> Self {
        Fake { next: done, ..Fake::new(us) }
    }
}

impl Launching for Fake {
    fn prepare(&mut self, variant: VariantId, round: i32) -> Result<(), LabError> {
        self.prepared.push((variant, round));
        Ok(())
    }

    fn conclude(&mut self, variant: VariantId) -> Result<(), LabError> {
        self.concluded.push(variant);
        Ok(())
    }

    fn empty_cache(&mut self, variant: VariantId) -> Result<Option<ColdCheck>, LabError> {
        self.emptied.push(variant);
        let resident_pages = Reading::Value(7);
        let (state, files, total_pages) = (CacheState::ColdEvicted, 1, 9);
        Ok(Some(ColdCheck { state, files, total_pages, resident_pages }))
    }

    fn launch(&mut self, variant: VariantId) -> Result<Launch, LabError> {
        if self.fail_at == Some(self.next) {
            let (ending, output) = (Ending::Code(3), String::new());
            return Err(LabError::Failed { command: "fake".to_owned(), ending, output });
        }
        std::thread::sleep(self.pause);
        self.launched.push(variant);
        self.next += 1;
        Ok(Launch {
            total_us: (self.us)(self.next - 1),
            created_us: None,
            ending: Ending::Code(0),
            user_us: Reading::Value(1.0),
            system_us: Reading::Value(2.0),
            private_kib: None,
            peak_rss_kib: Reading::unavailable("fake", ""),
            minor_faults: Reading::Value(3),
            major_faults: Reading::Value(0),
            read_bytes: Reading::Value(0),
            left_running: 0,
        })
    }

    fn launch_followed(&mut self, variant: VariantId) -> Result<Launch, LabError> {
        self.followed.push((variant, self.next));
        Ok(Launch { private_kib: Some(Reading::Value(88)), ..self.launch(variant)? })
    }

    fn private_kib(&mut self, variant: VariantId) -> Result<Option<Reading<u64>>, LabError> {
        self.besides.push((variant, self.next));
        Ok(Some(Reading::Value(89)))
    }

    fn elapsed_s(&self) -> f64 {
        self.launched.len() as f64
    }

    fn interrupted(&self) -> bool {
        self.interrupt_before == Some(self.next)
    }
}

/// Scattered by some 20 %, the same on every machine.
pub fn scattered(number: usize) -> f64 {
    // Fibonacci hashing: no pattern that rounds could follow.
    let hash = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    1000.0 + (hash.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 % 401.0
}

/// Runs from where `done` left off.
pub fn go_on(
    experiment: &Experiment,
    done: &mut Vec<Sample>,
    fake: &mut Fake,
    kept: &mut dyn Samples,
) -> Result<Stop, Failure> {
    lab::launch_rounds(experiment, done, fake, kept, 1, &mut |_| ())
}

/// A whole run in memory.
pub fn whole(experiment: &Experiment, us: fn(usize) -> f64) -> (Vec<Sample>, Stop) {
    let (mut done, mut kept) = (Vec::new(), Vec::new());
    let stop = go_on(experiment, &mut done, &mut Fake::new(us), &mut kept).unwrap();
    assert_eq!(done, kept);
    (done, stop)
}
