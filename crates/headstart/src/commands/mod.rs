//! One file for each verb; `jobs` is a way to measure.

pub mod bundle;
pub mod compare;
mod dlls;
pub mod doctor;
pub mod exec;
pub mod experiment;
pub mod explain;
pub mod generate;
pub mod identify;
pub mod inspect;
mod jobs;
pub mod measure;
pub mod optimize;
pub mod order_needed;
pub mod relr;
mod reordered;
pub mod rerandomize;
mod rewriting;
pub mod scale;
pub mod selfbind;
pub mod simulate;
pub mod verify;
