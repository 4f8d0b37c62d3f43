//! PE images.

use crate::{Dawson, Files, Pietrek, WorkloadError};

pub(crate) fn pietrek(_: &Pietrek) -> Result<Files, WorkloadError> {
    Err(missing())
}

pub(crate) fn dawson(_: &Dawson) -> Result<Files, WorkloadError> {
    Err(missing())
}

fn missing() -> WorkloadError {
    WorkloadError::unsupported("PE workloads are not built in yet", "use --format elf")
}
