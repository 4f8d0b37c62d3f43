//! One file per verb.

pub mod inspect;
