//! One file for each verb; `jobs` is a way to measure.

pub mod compare;
pub mod doctor;
pub mod experiment;
pub mod explain;
pub mod generate;
pub mod inspect;
mod jobs;
pub mod measure;
pub mod optimize;
pub mod scale;
pub mod simulate;
