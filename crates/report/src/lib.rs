//! Terminal views and exports: plain data in, text out.

pub mod inspect;
