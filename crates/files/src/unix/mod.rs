//! Files as Linux and other Unix systems have them; `windows` has files of the same names.

pub(crate) mod attributes;
pub(crate) mod descriptors;
mod draft;
pub(crate) mod folder;
pub(crate) mod kind;
pub(crate) mod lock;
pub(crate) mod permissions;
pub(crate) mod policy;
pub(crate) mod position;
pub(crate) mod real;
pub(crate) mod reasons;
pub(crate) mod stamp;
