use image::ImageError;

/// Why a file is not rewritten.
#[derive(Debug, thiserror::Error)]
pub enum Declined {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] ImageError),
    /// It must not, or cannot be.
    #[error("{path}: {reason}")]
    Refused {
        /// The file.
        path: String,
        /// What was found, and what to do.
        reason: String,
    },
}

impl Declined {
    /// A refusal with its reason.
    pub fn refused(path: impl Into<String>, reason: impl Into<String>) -> Declined {
        Declined::Refused { path: path.into(), reason: reason.into() }
    }

    /// Why, without the file's path where that is told beside it.
    pub fn reason(&self) -> String {
        match self {
            Declined::Unreadable(error) => error.to_string(),
            Declined::Refused { reason, .. } => reason.clone(),
        }
    }
}
