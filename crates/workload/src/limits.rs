//! Sizes that the formats have no room for, found before anything is made.

use crate::{Size, WorkloadError};

/// Libraries, or other things that each become a file, a name or an entry beside the others.
pub(crate) const MOST: u32 = 65_535;
/// Code reaches its data by signed 32-bit distances, and PE images have signed sizes.
pub(crate) const IMAGE_BYTES: u128 = 1 << 31;

/// At most [`MOST`] of `many`.
pub(crate) fn number(count: u32, many: &str, sizes: &'static [Size]) -> Result<(), WorkloadError> {
    if count <= MOST {
        return Ok(());
    }
    Err(WorkloadError::TooLarge { what: format!("{count} {many}"), limit: MOST.to_string(), sizes })
}

/// An image below 2 GiB: the product of `items` and `each` bytes, beside 64 KiB of headers.
pub(crate) fn image(
    items: u128,
    each: u128,
    what: &str,
    sizes: &'static [Size],
) -> Result<(), WorkloadError> {
    let bytes = items.saturating_mul(each).saturating_add(1 << 16);
    if bytes < IMAGE_BYTES {
        return Ok(());
    }
    Err(WorkloadError::TooLarge {
        what: format!("{what} would take about {} MiB", bytes >> 20),
        limit: "2 GiB per image".to_owned(),
        sizes,
    })
}
