//! What the bars are tried on.

pub mod c_programs;
pub mod every_program;
pub mod file_systems;
pub mod pe_files;
pub mod relinked;
