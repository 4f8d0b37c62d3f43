//! What people read: terminal views of results. Text goes out as a `String`; nothing is printed
//! here.

pub mod explain;
