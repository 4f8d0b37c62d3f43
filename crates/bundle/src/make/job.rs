//! What is to be made.

use super::with_plugins::Opened;
use super::{BundleOptions, RUN};
use crate::carry::Carry;
use crate::plan::BundleSpec;
use crate::plan::freshness::Check;
use crate::plan::layout::Bases;
use crate::read_ahead::PagesAhead;
use loader::{Environment, Graph};
use std::ffi::OsStr;
use std::path::Path;

/// What is asked for, and what it is about.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) graph: &'a Graph,
    pub(super) environment: &'a Environment,
    pub(super) program: &'a Path,
    pub(super) folder: &'a Path,
    pub(super) options: &'a BundleOptions,
    pub(super) carry: &'a Carry,
}

impl<'a> Job<'a> {
    /// Which bundle that is.
    pub(super) fn spec(
        &self,
        bases: Bases,
        read_ahead: Option<&'a PagesAhead>,
        plugins: &'a Opened<'a>,
    ) -> BundleSpec<'a> {
        let options = self.options;
        BundleSpec {
            program: self.program,
            told: options.told.as_deref(),
            own_name: options.own_name.as_deref().unwrap_or(OsStr::new(RUN)),
            bases,
            fixed: options.fixed,
            join: options.join,
            read_ahead,
            populate: options.populate.as_ref(),
            check: Check { kind: options.check, immutable: &options.immutable },
            carry: self.carry,
            plugins: plugins.tables(),
            set: options.environment.as_deref(),
            tool: options.tool.as_ref(),
        }
    }
}
