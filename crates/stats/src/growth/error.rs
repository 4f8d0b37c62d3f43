//! Why no law can be looked for.

/// Why no law can be looked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GrowthError {
    /// A curve through so few sizes would fit anything.
    #[error(
        "a growth law needs at least {needed} different sizes, but there are {found}; add sizes, \
         ideally n = 0 and then each twice the previous one"
    )]
    TooFewSizes {
        /// Different sizes there are.
        found: usize,
        /// Different sizes needed.
        needed: usize,
    },
    /// Deviations relative to such a value have no meaning.
    #[error(
        "the value at n = {n} is {value}, and only values above zero can be fitted; measure that size again"
    )]
    NotPositive {
        /// The size.
        n: u64,
        /// The value found there.
        value: f64,
    },
}
