//! What a gap costs: bytes that a run does not call, between two blocks that it calls.

/// A page: where it is the larger part of one, a gap parts two pages that are touched.
const PAGE: f32 = 4096.0;
/// What a read brings: behind a larger gap, the run has to read again.
const READ: f32 = 32.0 * PAGE;
/// What a read costs, in touched pages. Devices differ from a few pages (fast flash memory, where
/// a page costs a fault and its transfer) to thousands (disks); on real traces the orders are the
/// same from 1 to 16.
const READ_PAGES: f32 = 4.0;

/// The gap beyond which nothing gets worse.
pub(super) const LARGEST: f32 = READ;

/// The expected cost of a gap, in pages.
///
/// A block begins anywhere in a page. Two blocks of one run, taken together, share a page at the
/// seam; parted by a gap they do not, with a probability that grows with the gap up to a page. With
/// reads it is the same.
#[inline]
pub(super) fn cost(bytes: f32) -> f32 {
    (bytes / PAGE).min(1.0) + READ_PAGES * (bytes / READ).min(1.0)
}
