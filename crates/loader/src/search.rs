//! Where a library is found.
