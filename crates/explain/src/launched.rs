//! From a command to its explanation: launched, recorded, explained and kept.

use crate::AdviceWords;
#[cfg(target_os = "linux")]
use crate::elf::{Inputs, explain, gather};
#[cfg(windows)]
use crate::pe::{PeInputs as Inputs, explain, gather};
use crate::recording::{RecordingPlan, RecordingStep};
use crate::untraced::schedule;
use lab::{Bench, EXPLANATION, LabError, RunFolder, Samples};
use model::{Command, Explanation, LaunchOptions, Sample, Variant};
use os::launcher::Launcher;
use std::path::PathBuf;

const INPUTS: &str = "inputs.json";

/// What to explain.
#[derive(Clone, Debug)]
pub struct ExplainRequest {
    /// What is launched.
    pub command: Command,
    /// In which manner.
    pub options: LaunchOptions,
    /// Traced launches that give the phases.
    pub traces: u32,
    /// Whether to sample which functions the launch executes.
    pub hot: bool,
    /// A new folder for the launches, the records and the explanation.
    pub save: Option<PathBuf>,
    /// Says what can be done.
    pub words: AdviceWords,
}

/// A command that is explained.
#[derive(Debug)]
pub struct Explained {
    /// The explanation.
    pub explanation: Explanation,
    /// Whether it is in the folder that was asked for.
    pub kept: Result<(), LabError>,
}

/// Launches a command as often as it takes and explains it. `launcher` was started before anything
/// large was in memory.
///
/// # Errors
/// Those of recording; or the folder that was asked for cannot be made.
pub fn explain_command(
    launcher: Launcher,
    request: ExplainRequest,
    observer: &mut dyn FnMut(RecordingStep),
) -> Result<Explained, LabError> {
    let ExplainRequest { command, options, traces, hot, save, words } = request;
    let variant = Variant::new(command.name(), command);
    let experiment = lab::experiment(vec![variant], schedule(traces), options);
    let folder = save.map(|path| RunFolder::create(&path, &experiment)).transpose()?;
    let plan = RecordingPlan { experiment: &experiment, traces, hot };
    let gathered = Bench::new(&experiment, launcher, None)
        .map_err(LabError::from)
        .and_then(|mut bench| gather(plan, &mut bench, observer));
    let (inputs, samples) = match gathered {
        Ok(gathered) => gathered,
        Err(error) => {
            // Without its records a run explains nothing.
            folder.into_iter().for_each(RunFolder::discard);
            return Err(error);
        }
    };
    let explanation = explain(&inputs, words);
    let kept = folder.map_or(Ok(()), |folder| keep(folder, &samples, &inputs, &explanation));
    Ok(Explained { explanation, kept })
}

/// Keeps the explanation, and all that was recorded: an explanation can be made from it again.
fn keep(
    mut folder: RunFolder,
    samples: &[Sample],
    inputs: &Inputs,
    explanation: &Explanation,
) -> Result<(), LabError> {
    samples.iter().try_for_each(|sample| folder.append(sample))?;
    folder.write_json(EXPLANATION, explanation)?;
    folder.write_compact_json(INPUTS, inputs)
}
