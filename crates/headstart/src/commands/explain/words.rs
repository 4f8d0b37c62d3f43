//! What can be done about what an explanation shows, in words of the command line.

#[cfg(target_os = "linux")]
use crate::commands::bundle_again;
use crate::phrases::SAY_WHEN_READY;
use explain::ExplainAdvice;
use model::quoted;
#[cfg(target_os = "linux")]
use std::path::Path;

/// What can be done, as the end of a sentence.
pub(super) fn in_words(advice: ExplainAdvice) -> String {
    match advice {
        ExplainAdvice::SayWhenReady => SAY_WHEN_READY.to_owned(),
        ExplainAdvice::CompareCold => {
            "compare headstart measure with headstart measure --cold".to_owned()
        }
        ExplainAdvice::CheckMachine => "headstart doctor says what keeps it busy".to_owned(),
        ExplainAdvice::Profile => "headstart explain --hot".to_owned(),
        ExplainAdvice::OrderProgram { command } => {
            format!("headstart order try --relink 'COMMAND with @ORDER@' -- {command}")
        }
        ExplainAdvice::OrderModule { command, module } => format!(
            "headstart trace --out start.trace -- {command}, then headstart order write --linker \
             lld --module {} start.trace",
            quoted(module)
        ),
        ExplainAdvice::VerifyBundle { folder } => {
            format!("headstart verify {} shows what has changed", quoted(folder))
        }
        ExplainAdvice::Rebase => "headstart pe rebase --auto --out DIR FILE…".to_owned(),
        ExplainAdvice::RepairHints => "headstart pe hints --out DIR FILE…".to_owned(),
        ExplainAdvice::Realign => {
            "headstart pe realign --file-alignment 4096 --out DIR FILE…".to_owned()
        }
        #[cfg(target_os = "linux")]
        ExplainAdvice::RenewBundle { folder, program, fixed } => {
            let [folder, program] = [&folder, &program].map(|path| model::text::name(path));
            bundle_again::of_folder(Path::new(&folder), Path::new(&program), fixed)
        }
        // Bundles are for Linux.
        #[cfg(not(target_os = "linux"))]
        ExplainAdvice::RenewBundle { folder, .. } => format!("make {} again", quoted(folder)),
    }
}

#[cfg(test)]
#[cfg(not(windows))]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_is_verified_where_it_is() {
        let folder = "/my bundles".to_owned();
        let verify = in_words(ExplainAdvice::VerifyBundle { folder });
        assert_eq!(verify, "headstart verify '/my bundles' shows what has changed");
    }
}
