//! What the dynamic loader would do with a program, without running it: which files it maps, in
//! which order, which definition every reference binds to, in which order initialisers run, and
//! how much work that is. The rules are those of glibc.

pub mod search;
