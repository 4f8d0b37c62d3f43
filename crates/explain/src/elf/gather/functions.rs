//! The launch whose functions are recorded.

use super::{Recorder, reading};
use model::{CalledCode, Reading, Sample, Until};
use ordering::called_code::called_code;
use os::trace::{FunctionRequest, RecordUntil};

impl Recorder<'_> {
    /// Records which functions the launch calls, until it is complete: planting the breakpoints
    /// takes time, so the moment at which untraced launches are ready says nothing of this one.
    pub(super) fn functions(&self, until: &Until, untraced: &[Sample]) -> Reading<CalledCode> {
        let request = FunctionRequest {
            until: RecordUntil::Launch(until.clone()),
            first: None,
            count_limit: None,
            timeout: self.timeout,
            cpu: self.options.cpu,
            stdio: self.request.stdio.clone(),
        };
        let recorded = match os::trace::functions(self.command, &request) {
            Ok(recorded) => recorded,
            Err(error) => return reading(Err(error)),
        };
        let usual = untraced.iter().any(|sample| sample.launch.ending == recorded.ending);
        if !usual && !recorded.ready {
            let ending = recorded.ending.words();
            let other =
                format!("it {ending} while its functions were recorded, untraced it does not");
            return Reading::unavailable(other, "");
        }
        if recorded.planted == 0 {
            let nothing = "no function is known: the files have neither symbols nor unwind tables";
            return Reading::unavailable(nothing, "");
        }
        Reading::Value(called_code(recorded, self.command))
    }
}
