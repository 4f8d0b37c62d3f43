//! What files are, by files made for it, by files of this machine, and by other tools' answers.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

mod built;
mod elf;
mod hostile;
mod made;
mod pe;
mod real;
