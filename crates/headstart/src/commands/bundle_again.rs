//! The command that makes a bundle again, with the options that it was made with.

use bundle::{BundleOptions, MakeAgain};
use model::Disk;
use model::bundle::BundleCheck;
use model::{quoted, text};
use std::path::Path;

/// The command, as one would type it; with what has to be recorded for it before. A tool of a toolchain is made again
/// with that.
pub fn command(again: &MakeAgain) -> String {
    let MakeAgain { program, options, reads_ahead, disk, populates, folder } = again;
    let outside = options.outside.iter();
    let outside = outside.map(|name| format!(" --outside {}", quoted(text::name(name))));
    let outside: String = outside.collect();
    let fixed = if options.fixed { " --fixed" } else { "" };
    let join = if options.join { " --join" } else { "" };
    let out = |folder: Option<&Path>| folder.map_or("NEW".to_owned(), quoted);
    let check = checked(options);
    let set = with_library_path(options);
    let how = format!("{outside}{fixed}{join}{check}");
    if let Some(tool) = &options.tool {
        let out = out(folder.as_deref().and_then(|folder| folder.parent()?.parent()));
        let (word, driver) = (tool.toolchain.word(), quoted(text::name(&tool.driver)));
        return format!("{set}headstart bundle --toolchain {word}{how} --out {out} {driver}");
    }
    let (record, prefetch) = recorded_again(reads_ahead.as_deref(), *disk, program);
    let (out, program) = (out(folder.as_deref()), quoted(program));
    let (populate, program) = match populates {
        None => ("", program),
        Some(launch) => (" --populate", format!("-- {program}{}", arguments(launch))),
    };
    format!("{record}{set}headstart bundle{how}{prefetch}{populate} --out {out} {program}")
}

/// The command for the bundle in this folder, of `program` as it is to be found now. One that stands in the
/// place of its program is renewed instead.
pub fn of_folder(folder: &Path, program: &Path, fixed: bool) -> String {
    let options = BundleOptions { fixed, ..BundleOptions::default() };
    let (program, folder) = (program.to_owned(), Some(folder.to_owned()));
    let none = MakeAgain::default();
    let plain = MakeAgain { program, options, folder, ..none };
    let Some(made) = plain.folder.as_deref().and_then(bundle::made) else {
        return format!("{}, with the other options that it had", command(&plain));
    };
    if made.options.told.is_some() || made.options.own_name.is_some() {
        let program = made.options.told.as_deref().unwrap_or(&made.program);
        return format!("headstart renew {}", quoted(program));
    }
    let options = BundleOptions { fixed, ..made.options };
    command(&MakeAgain { options, program: plain.program, folder: plain.folder, ..made })
}

/// The variable with which the bundle is used, before the command.
fn with_library_path(options: &BundleOptions) -> String {
    let path = options.environment.as_ref().and_then(|set| set.library_path.as_ref());
    path.map_or(String::new(), |path| format!("LD_LIBRARY_PATH={} ", quoted(path)))
}

/// The options for what is looked at when it is started.
fn checked(options: &BundleOptions) -> String {
    let check = match options.check {
        BundleCheck::Host => String::new(),
        check => format!(" --check {}", check.word()),
    };
    let immutable = options.immutable.iter();
    let immutable = immutable.map(|folder| format!(" --immutable {}", quoted(folder)));
    let include = options.include.iter();
    let include = include.map(|file| format!(" --include {}", quoted(file)));
    check + &immutable.chain(include).collect::<String>()
}

/// What comes before the command, and the option with which it uses that: the recorded launch of the
/// bundle is one of the program now.
fn recorded_again(launch: Option<&str>, disk: Option<Disk>, program: &Path) -> (String, String) {
    let Some(launch) = launch else { return (String::new(), String::new()) };
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let file = quoted(format!("{name}.record"));
    let arguments = arguments(launch);
    let disk = disk.map_or(String::new(), |disk| format!(" --disk {}", disk.name()));
    (
        format!("headstart record --out {file} -- {}{arguments} && ", quoted(program)),
        format!(" --prefetch {file}{disk}"),
    )
}

/// The arguments of a launch, each with a space in front of it.
fn arguments(launch: &str) -> String {
    let words = model::words(launch).unwrap_or_default();
    words.iter().skip(1).map(|word| format!(" {}", quoted(word))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_kept() {
        let options = BundleOptions {
            fixed: true,
            join: true,
            outside: vec!["libfoo".to_owned(), "/opt/my libs".to_owned()],
            check: BundleCheck::Immutable,
            immutable: vec!["/store".into()],
            include: ["/lib/plug.so".into()].into(),
            ..BundleOptions::default()
        };
        let again = MakeAgain {
            program: "/usr/bin/tool".into(),
            options,
            reads_ahead: Some("/usr/bin/tool -c 'a b'".to_owned()),
            disk: Some(Disk::MovingHead),
            populates: None,
            folder: Some("/my bundles".into()),
        };
        assert_eq!(
            command(&again),
            "headstart record --out tool.record -- /usr/bin/tool -c 'a b' && headstart bundle \
             --outside libfoo --outside '/opt/my libs' --fixed --join --check immutable --immutable \
             /store --include /lib/plug.so --prefetch tool.record --disk hdd --out '/my bundles' /usr/bin/tool"
        );
        let populates = Some("'/my bundles/run' -c 'a b'".to_owned());
        let (options, reads_ahead) = (BundleOptions::default(), None);
        assert_eq!(
            command(&MakeAgain { options, reads_ahead, populates, ..again }),
            "headstart bundle --populate --out '/my bundles' -- /usr/bin/tool -c 'a b'"
        );
    }

    /// A folder with the manifest of a bundle of /usr/bin/tool that says this, too.
    fn folder(more: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let manifest = format!(
            r#"{{"schema": 1, "headstart": "0", "program": "/usr/bin/tool", "fixed": false,
                "outside": ["libfoo"], "modules": [], {more}}}"#
        );
        std::fs::write(folder.path().join(bundle::MANIFEST), manifest).unwrap();
        folder
    }

    #[test]
    fn only_its_addresses_become_fixed() {
        let folder = folder(r#""check": "sealed", "include": ["/lib/plug.so"]"#);
        let told = of_folder(folder.path(), Path::new("/usr/bin/tool"), true);
        let expected = format!(
            "headstart bundle --outside libfoo --fixed --check sealed --include /lib/plug.so --out {} \
             /usr/bin/tool",
            folder.path().display()
        );
        assert_eq!(told, expected);
    }

    #[test]
    fn what_stands_in_the_place_of_its_program_is_renewed() {
        let folder = folder(r#""told": "/usr/bin/my tool", "own_name": "my tool""#);
        let told = of_folder(folder.path(), Path::new("/kept/tool"), false);
        assert_eq!(told, "headstart renew '/usr/bin/my tool'");
    }

    #[test]
    fn where_the_options_are_not_known_that_is_said() {
        let told = of_folder(Path::new("/not there"), Path::new("/opt/program"), true);
        let expected = "headstart bundle --fixed --out '/not there' /opt/program, with the other \
                        options that it had";
        assert_eq!(told, expected);
    }
}
