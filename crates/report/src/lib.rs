//! What people and scripts read: terminal views and exports. Prints nothing; every function
//! returns its text.

pub mod bundle;
pub mod chart;
mod command_words;
pub mod compare;
mod counters;
pub mod dll_set;
pub mod doctor;
pub mod explain;
pub mod export;
pub mod figure;
pub mod flags;
pub mod functions;
mod histogram;
pub mod hot;
pub mod identify;
pub mod inspect;
pub mod jobs;
pub mod load_table;
pub mod measure;
mod notes;
pub mod optimize;
pub mod order;
pub mod order_experiment;
pub mod order_verification;
pub mod pages;
pub mod published;
pub mod realign;
pub mod rebase;
pub mod rewritten;
pub mod scale;
pub mod simulation;
pub mod style;
pub mod table;
pub mod text;
mod words;

pub use command_words::CommandWords;
pub use compare::compare_view;
pub use jobs::jobs_view;
pub use measure::{measure_view, ticks_lines};
pub use style::{Style, Tint};
