//! What every bar works with: the built command, a scratch folder, and a processor.

use crate::headstart::Headstart;
use crate::hyperfine::Pinned;
use anyhow::{Context as _, Result, ensure};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use testkit::workspace::{built_headstart, cargo, succeeds};

/// Emacs, started and ended at once.
pub const EMACS: [&str; 5] = ["emacs", "--batch", "-Q", "--eval", "(kill-emacs)"];

/// What bars work with.
pub struct Context {
    /// The built command.
    pub headstart: Headstart,
    /// A folder that goes away afterwards.
    pub scratch: PathBuf,
    /// The CPU to which everything that is compared is pinned.
    pub cpu: u32,
}

impl Context {
    /// Builds headstart, and copies it to where every user can run it.
    ///
    /// # Errors
    /// It cannot be built or copied.
    pub fn new(scratch: &Path) -> Result<Context> {
        ensure!(
            succeeds(&mut cargo(&["build", "--release", "--package", "headstart"]))?,
            "no headstart"
        );
        let built = built_headstart()?;
        let scratch = scratch.to_owned();
        open_folder(&scratch)?;
        let program = scratch.join("headstart");
        std::fs::copy(&built, &program).with_context(|| format!("no {}", built.display()))?;
        let headstart = Headstart {
            program,
            scratch: scratch.clone(),
            as_nobody: false,
            empty_environment: false,
            environment: Vec::new(),
        };
        Ok(Context { headstart, scratch, cpu: os::host::quiet_cpu() })
    }

    /// hyperfine beside headstart.
    pub fn pinned(&self) -> Pinned<'_> {
        Pinned { scratch: &self.scratch, cpu: self.cpu, empty_environment: false }
    }

    /// The present user, and `nobody` where one may become that.
    ///
    /// # Errors
    /// There is no folder for `nobody`.
    pub fn users(&self) -> Result<Vec<(&'static str, Headstart)>> {
        let own = Headstart { as_nobody: false, ..self.headstart.clone() };
        if !rustix::process::geteuid().is_root() {
            return Ok(vec![("own user", own)]);
        }
        let scratch = self.scratch.join("nobody");
        open_folder(&scratch)?;
        let nobody = Headstart { scratch, as_nobody: true, ..own.clone() };
        Ok(vec![("root", own), ("nobody", nobody)])
    }

    /// This very program, run by the same user as `headstart`.
    ///
    /// # Errors
    /// It cannot be copied to where that user can run it.
    pub fn own_program(&self, headstart: &Headstart) -> Result<Headstart> {
        let program = self.scratch.join("benchmarks");
        if !program.exists() {
            std::fs::copy(std::env::current_exe()?, &program)?;
        }
        Ok(Headstart { program, ..headstart.clone() })
    }
}

/// A folder that everyone may write to.
fn open_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let everyone = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder, everyone)
        .with_context(|| format!("{} cannot be opened to all users", folder.display()))
}
