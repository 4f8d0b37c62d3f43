//! Whether an image is a bundle, which is not rewritten.

use image::elf::Loadable;

/// Why it is not, with the program that it was made from; `None` where it is none.
#[cfg(target_os = "linux")]
pub fn is_bundle(image: &Loadable) -> Option<String> {
    bundle::is_already(image)
}

/// Why it is not; `None` where it is none.
#[cfg(not(target_os = "linux"))]
pub fn is_bundle(image: &Loadable) -> Option<String> {
    image::elf::preamble(image)?;
    Some("it is already a bundle; name the program that it was made from".to_owned())
}
