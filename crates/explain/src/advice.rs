//! What can be done about what an explanation shows.

/// What can be done about what an explanation shows. The caller knows how it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExplainAdvice {
    /// Say when a program is ready that does not end by itself.
    SayWhenReady,
    /// Compare launches from memory with cold ones.
    CompareCold,
    /// Look for what keeps the machine busy.
    CheckMachine,
    /// Profile the program.
    Profile,
    /// Put a program's functions into another order, link it again and compare.
    OrderProgram {
        /// The launch that it is ordered for, as one would type it.
        command: String,
    },
    /// Put the functions of another module into another order.
    OrderModule {
        /// The launch that it is ordered for, as one would type it.
        command: String,
        /// The module's file name.
        module: String,
    },
    /// Look for what has changed since the bundle in this folder was made.
    VerifyBundle {
        /// The folder.
        folder: String,
    },
    /// Give DLLs preferred bases that do not collide.
    Rebase,
    /// Repair import hints.
    RepairHints,
    /// Align sections so that Wine can map them.
    Realign,
    /// Make a bundle again.
    RenewBundle {
        /// The folder that it is in.
        folder: String,
        /// The program that it was made of.
        program: String,
        /// Whether it has fixed addresses.
        fixed: bool,
    },
}

/// Puts advice into words: the end of a sentence, without its period.
pub type AdviceWords = fn(ExplainAdvice) -> String;

/// The advice itself, for tests.
#[cfg(test)]
pub(crate) fn unworded(advice: ExplainAdvice) -> String {
    format!("{advice:?}")
}
