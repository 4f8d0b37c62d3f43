//! The order of first call: what OpenOffice's *Reorder Symbols For Libraries* (2009) and most order
//! files since then are made of.
//!
//! With several runs it is their union: the run that counts most as it is, then what the next one
//! adds, and so on.

use super::called::Called;

pub(super) fn order(called: &Called) -> Vec<usize> {
    (0..called.len()).collect()
}
