//! Pieces of build files that make a build use an order of functions, as they are asked for.

use crate::args::choice;
use crate::exit::Usage;
use anyhow::Result;
use clap::builder::{PossibleValue, TypedValueParser};
use model::quoted;
use ordering::snippets::{BuildSystem, link_words, snippet, unfit};
use ordering::write::Linker;
use std::path::Path;

/// Name of the order file where it goes to standard output.
const UNNAMED: &str = "program.order";

/// What is printed behind the summary.
#[derive(Debug, clap::Args)]
pub struct SnippetArgs {
    /// Also print the lines with which a build system passes the order file to the linker
    #[arg(long, value_name = "NAME", value_parser = build_system(), help_heading = "Output")]
    snippet: Option<BuildSystem>,
}

fn build_system() -> impl TypedValueParser<Value = BuildSystem> {
    let named = |name, help| PossibleValue::new(name).help(help);
    choice([
        (named("cmake", "For CMakeLists.txt"), BuildSystem::CMake),
        (named("meson", "For meson.build"), BuildSystem::Meson),
        (named("cargo", "For build.rs of a Rust package"), BuildSystem::Cargo),
        (named("make", "For a makefile of GNU make"), BuildSystem::Make),
        (named("shell", "For a shell and configure scripts"), BuildSystem::Shell),
    ])
}

impl SnippetArgs {
    /// Whether the piece exists: better said before the work. `linker` is none for LLVM's profile.
    ///
    /// # Errors
    /// It does not, and why, and what does.
    pub fn check(&self, linker: Option<Linker>, file: Option<&Path>) -> Result<()> {
        self.text(linker, file).map(|_| ())
    }

    /// The piece that was asked for, if any.
    ///
    /// # Errors
    /// There is none for this linker.
    pub fn text(&self, linker: Option<Linker>, file: Option<&Path>) -> Result<Option<String>> {
        let Some(build) = self.snippet else { return Ok(None) };
        let Some(file) = file.unwrap_or(Path::new(UNNAMED)).to_str() else {
            let text = "the path of the order file is not UTF-8, so it cannot be written into a \
                        build file; choose another path";
            return Err(Usage(text.to_owned()).into());
        };
        let text = linker.and_then(|linker| Some((linker, snippet(build, linker, file)?)));
        let Some((linker, text)) = text else {
            return Err(Usage(missing(linker).to_owned()).into());
        };
        match unfit(build, linker, file) {
            Some(sign) => Err(Usage(unusable(build, file, sign)).into()),
            None => Ok(Some(text)),
        }
    }

    /// What stands behind the summary: the piece, if it was asked for; else, where there is a
    /// file, how its linker takes it.
    ///
    /// # Errors
    /// The piece does not exist.
    pub fn below(&self, linker: Option<Linker>, file: Option<&Path>) -> Result<String> {
        let text = self.text(linker, file)?;
        Ok(match (self.snippet, text, file) {
            (Some(build), Some(text), _) => format!("\n{}\n\n{text}", heading(build, file)),
            // A name that is no UTF-8 has no place in a line that is to be copied.
            (_, _, file) => file
                .and_then(Path::to_str)
                .map_or(String::new(), |file| format!("\n{}\n", how_taken(linker, file))),
        })
    }
}

/// Why there is no such piece, and what there is.
fn missing(linker: Option<Linker>) -> &'static str {
    match linker {
        None => {
            "an LLVM profile has to be converted with llvm-profdata before linking, for which \
             there is no --snippet; choose --linker lld, which has snippets for all build systems"
        }
        Some(Linker::Objcopy) => {
            "objcopy has to run between compiling and linking, where this build system runs \
             nothing; choose --linker ld-script, which works with every version of GNU ld, or \
             --snippet make or shell"
        }
        Some(_) => {
            "Rust advises against gold, so there is no --snippet cargo for it; choose --linker \
             lld or bfd"
        }
    }
}

/// Why an order file of that name has no piece.
fn unusable(build: BuildSystem, file: &str, sign: char) -> String {
    let place = place(build).0;
    let sign = match sign {
        ' ' => "a blank".to_owned(),
        ',' => "a comma".to_owned(),
        sign => format!("{sign:?}"),
    };
    format!(
        "the path of the order file, {}, has {sign}, with which it cannot be passed to the linker from \
         {place}; give a path of letters, digits and the signs _ - . / only",
        quoted(file)
    )
}

/// What the piece is for, and from where it looks for the order file.
fn heading(build: BuildSystem, file: Option<&Path>) -> String {
    let (place, from) = place(build);
    match file {
        Some(file) if file.is_absolute() => format!("For {place}:"),
        Some(_) => format!("For {place}; the path of the order file is relative to {from}:"),
        None => format!("For {place}, with the order in {UNNAMED}, relative to {from}:"),
    }
}

/// Where the piece belongs, and where it looks for the order file.
fn place(build: BuildSystem) -> (&'static str, &'static str) {
    match build {
        BuildSystem::CMake => ("CMakeLists.txt", "its folder"),
        BuildSystem::Meson => ("meson.build", "its folder"),
        BuildSystem::Cargo => ("build.rs", "the folder of Cargo.toml"),
        BuildSystem::Make => ("a makefile", "the folder where make runs"),
        BuildSystem::Shell => ("a shell", "the folder where the linker runs"),
    }
}

/// How the linker takes the file, in one line.
fn how_taken(linker: Option<Linker>, file: &str) -> String {
    let Some(linker) = linker else {
        return "Convert it with llvm-profdata merge; ld.lld takes the profile with --irpgo-profile \
                and --bp-startup-sort=function."
            .to_owned();
    };
    let words = link_words(linker, file).unwrap_or_default();
    let with_file = words.iter().position(|word| word.contains(file));
    // All of the words, if there is one for each part of the option.
    let first = words.iter().position(|word| word == "-Xlinker").or(with_file);
    match first.zip(with_file) {
        Some((first, last)) => format!(
            "{} takes the order with {}; --snippet NAME prints the lines for a build system.",
            name(linker),
            words[first..=last].iter().map(quoted).collect::<Vec<_>>().join(" ")
        ),
        None => format!(
            "For each object file: objcopy {} in.o out.o; --snippet make or shell prints the lines \
             for a build.",
            quoted(format!("@{file}"))
        ),
    }
}

fn name(linker: Linker) -> &'static str {
    match linker {
        Linker::Lld => "ld.lld",
        Linker::Gold => "gold",
        Linker::Bfd | Linker::Script | Linker::Objcopy => "GNU ld",
        Linker::Ld64 => "ld64",
        Linker::Msvc => "Microsoft's linker",
        Linker::LldLink => "lld-link",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Linker; 8] = [
        Linker::Lld,
        Linker::Gold,
        Linker::Bfd,
        Linker::Script,
        Linker::Objcopy,
        Linker::Ld64,
        Linker::Msvc,
        Linker::LldLink,
    ];

    #[test]
    fn what_does_not_exist_is_refused_with_what_does() {
        let check = |build, linker| SnippetArgs { snippet: Some(build) }.check(linker, None);
        let mut refused = 0;
        for build in BuildSystem::ALL {
            for linker in ALL {
                let exists = snippet(build, linker, "x").is_some();
                let Err(error) = check(build, Some(linker)) else {
                    assert!(exists);
                    continue;
                };
                assert!(!exists);
                let words = match linker {
                    Linker::Objcopy => ["objcopy", "--linker ld-script"],
                    _ => ["gold", "--linker lld"],
                };
                assert!(words.iter().all(|word| error.to_string().contains(word)), "{error}");
                refused += 1;
            }
            let error = check(build, None).unwrap_err().to_string();
            assert!(error.contains("llvm-profdata") && error.contains("--linker lld"), "{error}");
        }
        assert_eq!(refused, 4);
    }

    /// The words are those of the table in docs/order.md.
    #[test]
    fn the_line_has_the_option_of_the_linker() {
        let line = |linker| how_taken(linker, "FILE");
        let document = include_str!("../../../../../docs/order.md");
        for linker in ALL {
            let text = line(Some(linker));
            // cmd has commas quoted.
            let text = text.replace("--snippet", "").replace('"', "");
            let is_option = |word: &&str| word.contains("FILE");
            let option = text.split([' ', ';']).find(is_option).unwrap().to_owned();
            let option = if linker == Linker::LldLink { option.to_lowercase() } else { option };
            let option = option.replace("@file", "@FILE");
            let command = format!("`objcopy {option}");
            let found = document.contains(&format!("`{option}`")) || document.contains(&command);
            assert!(found, "{option}");
        }
        assert!(line(None).contains("--irpgo-profile"));
        let odd = how_taken(Some(Linker::Lld), "a b");
        assert!(odd.contains(&quoted("-Wl,--symbol-ordering-file=a b")), "{odd}");
        let commas = how_taken(Some(Linker::Script), "a,b");
        assert!(commas.replace('"', "").contains(" with -Xlinker -T -Xlinker a,b;"), "{commas}");
    }
}
