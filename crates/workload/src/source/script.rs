//! `build.sh`.

/// Begins every script. Libraries bind references to their own functions themselves, so that the
/// addresses they store take relocations without look-ups, as in a DLL.
const BEGIN: &str = "#!/bin/sh
# Builds the images from these sources, in this folder.
set -e
cd \"$(dirname \"$0\")\"
CC=${CC:-gcc}
COMMON=\"-O0 -nostdlib -Wl,--hash-style=both -Wl,--no-as-needed -Wl,--enable-new-dtags\"
";

/// The lines of a script.
pub(super) struct Script(String);

impl Script {
    /// `lazy` leaves imports unbound until their first call.
    pub(super) fn new(lazy: bool) -> Script {
        let binding = if lazy { "lazy" } else { "now" };
        let more = format!(
            "LIBRARY=\"$COMMON -fPIC -shared -Wl,-Bsymbolic-functions -Wl,-z,{binding}\"\n\
             PROGRAM=\"$COMMON -fPIE -pie -Wl,-z,{binding} -Wl,-rpath-link,.\"\n\n"
        );
        Script(BEGIN.to_owned() + &more)
    }

    pub(super) fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// One library; `more` are sources, libraries and options.
    pub(super) fn library(&mut self, path: &str, more: &str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.line(&format!("$CC $LIBRARY -o {path} -Wl,-soname,{name} {more}"));
    }

    /// The program.
    pub(super) fn program(&mut self, name: &str, more: &str) {
        self.line(&format!("$CC $PROGRAM -o {name} {more}"));
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}

/// The option that sets DT_RUNPATH.
pub(super) fn runpath(folders: &str) -> String {
    format!("-Wl,-rpath,'{folders}'")
}
