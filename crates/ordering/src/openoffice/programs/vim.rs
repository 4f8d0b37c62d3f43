//! vim, of Debian's source: 3 MB of code in some 5,700 functions.

use super::{Recipe, Task, arguments};
use std::ffi::OsString;
use std::path::Path;

/// How vim is made and launched.
pub const RECIPE: Recipe = Recipe {
    name: "vim",
    about: "vim of Debian's source package, compiled with -O2 -ffunction-sections",
    prepare: include_str!("vim/prepare.sh"),
    link: include_str!("vim/link.sh"),
    files: &[],
    launches,
    held_out,
};

/// No swap files, no history, no terminal; with the run-time files of its own source.
fn common(folder: &Path) -> Vec<OsString> {
    let mut runtime = OsString::from("let $VIMRUNTIME='");
    runtime.push(folder.join("runtime"));
    runtime.push("'");
    let mut all = arguments("-N -n -i NONE --not-a-term -T dumb --cmd");
    all.push(runtime);
    all
}

/// As people use it: with its defaults, which switch syntax highlighting on.
fn edits(folder: &Path, title: &str, file: &str, commands: &[&str]) -> Task {
    let runtime = folder.join("runtime");
    let mut all = common(folder);
    all.extend(["-u".into(), runtime.join("defaults.vim").into(), runtime.join(file).into()]);
    all.extend(commands.iter().flat_map(|command| ["-c".into(), OsString::from(command)]));
    all.extend(["-c".into(), "q!".into()]);
    Task { title: title.to_owned(), arguments: all }
}

fn launches(folder: &Path) -> Vec<Task> {
    let mut bare = common(folder);
    bare.extend(arguments("-u NONE -es -c q!"));
    let text = ["normal Gzt", "/Vim"];
    vec![
        edits(folder, "a C file", "tools/ccfilter.c", &[]),
        edits(folder, "a Python file", "tools/demoserver.py", &[]),
        edits(folder, "searching a text", "doc/intro.txt", &text),
        Task { title: "without defaults".to_owned(), arguments: bare },
        Task { title: "--version".to_owned(), arguments: arguments("--version") },
    ]
}

fn held_out(folder: &Path) -> Vec<Task> {
    let commands = ["normal ggddp", "%s/the/The/ge", "vsplit"];
    vec![
        edits(folder, "a shell script", "tools/vimspell.sh", &[]),
        edits(folder, "editing a C file", "tools/ccfilter.c", &commands),
    ]
}
