//! One file for each verb, or a folder beside it.

pub mod bind;
pub mod bundle;
pub mod compare;
pub mod doctor;
pub mod experiment;
pub mod explain;
pub mod flags;
pub mod generate;
pub mod hints;
pub mod identify;
pub mod inspect;
pub mod measure;
pub mod no_pie;
pub mod optimize;
pub mod order_needed;
pub mod ordinal;
pub mod realign;
pub mod rebase;
pub mod relr;
pub mod rerandomize;
pub mod scale;
pub mod selfbind;
pub mod simulate;
pub mod survey;
pub mod unbind;
pub mod verify;
