//! Which modules are merged, and which stay outside, and why; or why there is no bundle at all.

mod bounds;
pub(crate) mod by_handle;
pub(crate) mod by_processor;
pub(crate) mod members;
pub(crate) mod refuse;
pub(crate) mod unsuitable;
