//! A figure, or the reason why there is none.

use serde::{Deserialize, Serialize};

/// A figure, or the reason why there is none.
///
/// In JSON a value stands as itself; a missing one as `{"unavailable": reason, "remedy": …}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reading<T> {
    /// The figure could not be obtained.
    Unavailable {
        /// Why there is no figure.
        #[serde(rename = "unavailable")]
        reason: String,
        /// What would make it available; empty where nothing would.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        remedy: String,
    },
    /// The figure.
    Value(T),
}

impl<T> Reading<T> {
    /// A missing figure with its reason and what would make it available.
    pub fn unavailable(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Reading::Unavailable { reason: reason.into(), remedy: remedy.into() }
    }

    /// The figure, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Reading::Value(value) => Some(value),
            Reading::Unavailable { .. } => None,
        }
    }

    /// The reason for a missing figure.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Reading::Value(_) => None,
            Reading::Unavailable { reason, .. } => Some(reason),
        }
    }

    /// The same with a reference to the figure.
    pub fn as_ref(&self) -> Reading<&T> {
        match self {
            Reading::Value(value) => Reading::Value(value),
            Reading::Unavailable { reason, remedy } => Reading::unavailable(reason, remedy),
        }
    }

    /// Applies `f` to the figure and keeps a missing one as it is.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Reading::Value(value) => Reading::Value(f(value)),
            Reading::Unavailable { reason, remedy } => Reading::Unavailable { reason, remedy },
        }
    }
}

impl<T: Copy> Reading<T> {
    /// A copy of the figure, if there is one.
    pub fn get(&self) -> Option<T> {
        self.value().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_shapes_round_trip() {
        for (reading, json) in [
            (Reading::Value(3_u64), "3"),
            (Reading::unavailable("no", ""), r#"{"unavailable":"no"}"#),
            (Reading::unavailable("no", "do"), r#"{"unavailable":"no","remedy":"do"}"#),
        ] {
            assert_eq!(serde_json::to_string(&reading).unwrap(), json);
            assert_eq!(serde_json::from_str::<Reading<u64>>(json).unwrap(), reading);
        }
    }
}
