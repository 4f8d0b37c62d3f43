//! All ways to make a program start faster that this crate has.

use crate::Optimisation;
use crate::bundle::Bundle;
use crate::no_pie::NoPie;
use crate::no_pie_order::NoPieAndOrder;
use crate::order_needed::Order;
use crate::relr::Relr;
use crate::selfbind::SelfBindAndOrder;

/// A line for each, in the order in which they are tried and shown.
pub fn all() -> Vec<&'static dyn Optimisation> {
    vec![
        &Order,
        &SelfBindAndOrder,
        &Relr,
        &NoPie,
        &NoPieAndOrder,
        &Bundle { fixed: false },
        &Bundle { fixed: true },
    ]
}
