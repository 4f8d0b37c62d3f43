//! Why a variant is not offered.

use model::Ending;

/// Why a variant is not offered: a sentence, to follow its name and a colon.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariantReason {
    /// What is wrong with it, or why it does not apply.
    #[error("{0}")]
    Found(String),
    /// It is at the same addresses at every launch, which is not allowed.
    #[error("every launch would have the same addresses, which helps attackers")]
    SameAddresses,
    /// Cold launches are not measured, and no others can gain from it.
    #[error("only cold launches can gain from it, and these are not measured")]
    OnlyCold,
    /// Only a test of the user's could tell whether it is right.
    #[error(
        "the unmodified program writes something different to {stream} at each launch, so it cannot \
         be shown to do the same"
    )]
    Incomparable {
        /// `stdout` or `stderr`.
        stream: &'static str,
    },
    /// The user's test fails.
    #[error("{command}: it {}{output}", .ending.words())]
    Test {
        /// The test.
        command: String,
        /// How it ended.
        ending: Ending,
        /// What it wrote last.
        output: String,
    },
    /// It cannot be started any more after the user's test.
    #[error("after {command}, {problem}")]
    AfterTest {
        /// The test.
        command: String,
        /// What is wrong with the variant.
        problem: String,
    },
}

impl From<String> for VariantReason {
    fn from(found: String) -> VariantReason {
        VariantReason::Found(found)
    }
}
