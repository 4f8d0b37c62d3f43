//! Cold launches, which the build for this host does not have.

use crate::{Failure, LabError};
use model::{ColdCheck, Experiment, VariantId};
use std::convert::Infallible;

/// What would empty the page cache. There is none.
pub struct CacheEmptier(Infallible);

impl CacheEmptier {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn new(_experiment: &Experiment) -> Result<Self, Failure> {
        let reason = "headstart for Windows has no cold launches; leave that out";
        Err(LabError::Cold(reason.to_owned()).into())
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn empty(&self, _variant: VariantId) -> Result<ColdCheck, LabError> {
        match self.0 {}
    }

    /// Never called.
    pub fn limits(&self, _experiment: &Experiment) -> Vec<String> {
        match self.0 {}
    }
}
