//! clang and lld-link.

use super::{Image, Machine};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tools that build an [`Image`].
#[derive(Clone, Debug)]
pub struct Tools {
    clang: PathBuf,
    lld: PathBuf,
    dlltool: PathBuf,
}

impl Tools {
    /// Where they are; `None`, after a loud line, where one is missing.
    pub fn find() -> Option<Tools> {
        let (clang, lld) = (crate::tool("clang-19")?, crate::tool("lld-link-19")?);
        Some(Tools { clang, lld, dlltool: crate::tool("llvm-dlltool-19")? })
    }

    /// Builds an image in a folder, a DLL with its import library beside it.
    ///
    /// # Panics
    /// With the tools' messages where they fail.
    pub fn build(&self, folder: &Path, image: &Image) -> PathBuf {
        let object = self.compile(folder, image);
        let mut command = Command::new(&self.lld);
        command.args(["/nodefaultlib", "/nologo"]).args(&image.link);
        command.arg(format!("/out:{}", image.name)).arg(object);
        if image.name.ends_with(".dll") {
            command.arg(format!("/implib:{}", import_library(&image.name)));
        }
        if !image.exports.is_empty() {
            let text = format!("LIBRARY {}\nEXPORTS\n{}", image.name, image.exports);
            crate::write(&folder.join(format!("{}.def", image.stem())), text.as_bytes());
            command.arg(format!("/def:{}.def", image.stem()));
        }
        command.args(image.libraries.iter().map(|dll| import_library(dll)));
        for (dll, functions) in &image.system {
            command.arg(self.import_library(folder, image, dll, functions));
        }
        run(command.current_dir(folder));
        folder.join(&image.name)
    }

    fn compile(&self, folder: &Path, image: &Image) -> PathBuf {
        let target = format!("--target={}", image.machine.target());
        let mut flags = vec![&*target, "-O1", "-ffreestanding", "-fno-builtin", "-c", "-w"];
        flags.extend(image.compile.iter().map(String::as_str));
        crate::compile(&self.clang, folder, &format!("{}.obj", image.name), &image.source, &flags)
    }

    /// The import library of functions of the system, made of their names alone.
    fn import_library(
        &self,
        folder: &Path,
        image: &Image,
        dll: &str,
        functions: &[String],
    ) -> String {
        let stem = format!("{}-{dll}", image.stem());
        let lines = functions.iter().map(|function| match function.split_once('#') {
            Some((name, ordinal)) => format!("{name} @{ordinal} NONAME\n"),
            None => format!("{function}\n"),
        });
        let text = format!("LIBRARY {dll}\nEXPORTS\n{}", lines.collect::<String>());
        crate::write(&folder.join(format!("{stem}.def")), text.as_bytes());
        let mut command = Command::new(&self.dlltool);
        command.args(["-m", image.machine.dlltool(), "-d", &format!("{stem}.def")]);
        // Names in the image are without the size of their arguments.
        command.args((image.machine == Machine::I686).then_some("-k"));
        command.args(["-l", &format!("{stem}.lib")]);
        run(command.current_dir(folder));
        format!("{stem}.lib")
    }
}

fn import_library(dll: &str) -> String {
    format!("{}.lib", dll.rsplit_once('.').map_or(dll, |(stem, _)| stem))
}

/// Runs a tool to its end.
pub(super) fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let messages = [output.stdout, output.stderr].concat();
    let messages = String::from_utf8_lossy(&messages);
    assert!(output.status.success(), "{command:?} failed:\n{messages}");
}
