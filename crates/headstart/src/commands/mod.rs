//! One file for each verb.

pub mod doctor;
