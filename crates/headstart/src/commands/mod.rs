//! One file for each verb.

pub mod doctor;
pub mod inspect;
