//! Files as Windows has them; `unix` has files of the same names.

pub(crate) mod attributes;
pub(crate) mod descriptors;
pub(crate) mod folder;
pub(crate) mod kind;
pub(crate) mod lock;
mod patience;
pub(crate) mod permissions;
pub(crate) mod policy;
pub(crate) mod position;
pub(crate) mod real;
pub(crate) mod reasons;
pub(crate) mod stamp;
mod wine;
