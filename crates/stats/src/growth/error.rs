/// Why no law can be looked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GrowthError {
    /// A curve through so few sizes would fit anything.
    #[error(
        "a growth law needs at least {needed} different sizes, and there are {found}; add sizes, best with n = 0 and each twice the one before"
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
