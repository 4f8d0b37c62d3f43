//! What somebody has appended to an image: the archive of an installer, the files of a
//! single-file program. The program itself looks for it.

use model::figures;

pub(super) fn refusal(bytes: u64) -> String {
    format!(
        "{} were appended to it, as installers, self-extracting archives and single-file programs \
         do. They would move, and a program that expects them at a fixed offset would not find \
              them. --keep-overlay moves them with the end of the file; test the result",
        figures::bytes(bytes)
    )
}
