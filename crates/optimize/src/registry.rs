//! All ways to make a program start faster that this crate has.

use crate::Optimisation;
use crate::bundle::Bundle;
use crate::exec::Exec;
use crate::exec_order::ExecAndOrder;
use crate::order_needed::Order;
use crate::relr::Relr;
use crate::selfbind::SelfBindAndOrder;

/// A line for each, in the order in which they are tried and shown.
pub fn all() -> Vec<&'static dyn Optimisation> {
    vec![
        &Order,
        &SelfBindAndOrder,
        &Relr,
        &Exec,
        &ExecAndOrder,
        &Bundle { fixed: false },
        &Bundle { fixed: true },
    ]
}
