//! The question of OpenOffice's `pagein`: whole files read ahead, exactly what a launch needs, or
//! nothing?

use crate::{ColdCheck, Effect, ReadSum, Reading, RecordingMode, Summary};
use serde::{Deserialize, Serialize};

/// Version of [`PageinExperiment`] in JSON.
pub const PAGEIN_EXPERIMENT_SCHEMA: u32 = 1;

/// What the experiment found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageinExperiment {
    /// [`PAGEIN_EXPERIMENT_SCHEMA`].
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// What was launched.
    pub command: String,
    /// What is read ahead comes from this recording.
    pub recording: PageinRecording,
    /// Where the program is.
    pub disk: PageinDisk,
    /// What stays in memory when the cache is emptied; looked at once, before the first round.
    pub cold: ColdCheck,
    /// Rounds, in each of which every form was launched once.
    pub rounds: u32,
    /// Seed of the order of forms.
    pub seed: u64,
    /// The forms; that without reading ahead first.
    pub forms: Vec<AheadFormFigures>,
    /// Their effects against the first.
    pub effects: Vec<Effect>,
    /// The recorded ranges against whole files; none where one of them was not launched.
    pub ranges_against_files: Option<Effect>,
    /// What is to be known of the figures.
    pub notes: Vec<String>,
}

/// The recording, in figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageinRecording {
    /// Its file, where one was given; else it was made for the experiment.
    pub path: Option<String>,
    /// How it was made.
    pub mode: RecordingMode,
    /// Files in it.
    pub files: u32,
    /// Their whole size.
    pub file_bytes: u64,
    /// What a launch needs of them.
    pub recorded_bytes: u64,
}

/// The place of the program's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageinDisk {
    /// Such as `ext4`.
    pub file_system: Reading<String>,
    /// How far the kernel reads ahead there by itself.
    pub read_ahead_kib: Reading<u64>,
}

/// What is done before a launch, or beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AheadForm {
    /// Nothing, after everything has left memory.
    Cold,
    /// All of every file is asked for before the program starts.
    WholeFiles,
    /// The recorded ranges are asked for while it starts.
    Ranges,
    /// Nothing; everything is in memory.
    Warm,
}

impl AheadForm {
    /// All of them, that without reading ahead first.
    pub const ALL: [AheadForm; 4] = [Self::Cold, Self::WholeFiles, Self::Ranges, Self::Warm];

    /// What it is called.
    pub fn words(self) -> &'static str {
        match self {
            AheadForm::Cold => "cold",
            AheadForm::WholeFiles => "whole files first",
            AheadForm::Ranges => "recorded ranges",
            AheadForm::Warm => "warm",
        }
    }
}

/// Figures of a form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AheadFormFigures {
    /// Which.
    pub form: AheadForm,
    /// What was asked for ahead of the program; none where nothing is.
    pub asked: Option<ReadSum>,
    /// What was read from storage until the program had ended, by anybody that belongs to the launch:
    /// the median of launches that are not timed.
    pub read: Reading<ReadSum>,
    /// From before the launch until the program had ended, by round.
    pub times_us: Vec<f64>,
    /// Of these times.
    pub summary: Summary,
}
