//! Files in a bundle's folder: written whole, told from others, replaced.

pub(crate) mod content;
pub(crate) mod debugger;
pub(crate) mod manifest;
pub(crate) mod output;
pub(crate) mod ownership;
pub(crate) mod patch;
pub(crate) mod product;
pub(crate) mod publish;
pub(crate) mod spare;
pub(crate) mod workplace;
