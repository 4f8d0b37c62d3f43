//! Programs are plain files here, in a tree and with a database of dpkg of their own. The work is ended
//! at every step, as if headstart were killed there.

mod diversions;
mod hooks;
mod links;
mod tree;
mod work;
