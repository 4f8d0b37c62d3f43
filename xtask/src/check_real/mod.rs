//! Checks of the built command on the real programs of this machine, against other tools.

pub mod inspect;
mod readelf;
mod timing;
