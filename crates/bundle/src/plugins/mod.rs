//! Plug-ins: libraries that the program opens while it runs, merged with what only they need.
//!
//! Each plug-in is a *group*. Of the libraries that plug-ins need and the program does not, those that the same
//! plug-ins need are another one. Each group becomes one shared library beside the bundle. So a library is in one
//! file, however many plug-ins need it; and who opens a plug-in loads just the groups with what that needs, and no
//! other plug-in. Groups need each other by DT_NEEDED. The loader does the rest, as for any library: counts, order,
//! unloading.
//!
//! - `choose`: which plug-ins are merged.
//! - `groups`: what is merged into one file.
//! - `alone`: each of them has the libraries that it has alone.
//! - `kinds`: what modules of one group have in common.
//! - `bind`: what each reference is bound to.
//! - `search`: in which order the files of a plug-in are searched.
//! - `thread_local`: storage for which the loader has little room.
//! - `unsuitable`: why a plug-in stays as it is.
//! - `file`: the file of a group.
//! - `told`: what the preamble of the bundle is told of them.
//! - `prove`: the finished files are opened in simulation, beside the finished bundle.

mod alone;
mod bind;
mod choose;
mod file;
mod groups;
mod kinds;
mod place;
mod prove;
mod search;
mod thread_local;
mod told;
mod unsuitable;

pub(crate) use choose::{Chosen, Wanted};
pub(crate) use place::{Made, Named, Purpose, Refused, What, make};
pub(crate) use prove::{Finished, prove};
pub(crate) use told::PluginTables;

use image::elf::{Loadable, spec};

/// Whether the loader never unloads a library (DF_1_NODELETE).
pub(crate) fn stays_loaded(image: &Loadable) -> bool {
    image.dynamic_value(spec::DT_FLAGS_1).is_some_and(|flags| flags & spec::DF_1_NODELETE != 0)
}
