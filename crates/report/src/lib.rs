//! Terminal views and exports: text from plain data. Nothing here prints.

pub mod doctor;
