//! Desktop entries made up for this, in folders of our own.

use super::super::{made, remove, test_front};
use super::*;
use proptest::prelude::*;

const ENTRY: &str = "# A comment: Exec=no
[Desktop Entry]
Type=Application
Name=An editor
Name[de]=Ein Editor; Exec=x
Exec=sh -c \"echo \\\\$HOME\" %F
DBusActivatable=true
TryExec=sh
Actions=new;

[Desktop Action new]
Name=New
Exec = env A=1 B=\"2 3\" /bin/sh --new\r
";

fn entry(folder: &Path, text: &str) -> DesktopEntry {
    std::fs::write(folder.join("x.desktop"), text).unwrap();
    DesktopEntry { id: "x".to_owned(), path: folder.join("x.desktop"), hidden: false }
}

#[test]
fn commands_of_all_groups_have_headstart_in_front_and_the_rest_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own");
    let installed = install(&test_front(), &entry(folder.path(), ENTRY), &own, None).unwrap();
    let at = own.join("x.desktop");
    assert_eq!(installed, Installed { path: at.clone(), replaced: false });
    let text = std::fs::read_to_string(&at).unwrap();
    let before = "/opt/hs/headstart ahead -q -- ";
    let wanted = ENTRY
        .replace("Exec=sh -c", &format!("Exec={before}sh -c"))
        .replace("Exec = env A=1 B=\"2 3\" ", &format!("Exec=env A=1 B=\"2 3\" {before}"))
        .replace("DBusActivatable=true", "DBusActivatable=false")
        .replace(
            "[Desktop Entry]\n",
            &format!("[Desktop Entry]\nX-Headstart-Undo=headstart undo {}\n", at.display()),
        );
    assert_eq!(text, wanted);
    assert_eq!(made(&at).unwrap(), Some(InstalledKind::DesktopEntry));
    // Again, from the system's entry; from its own copy it would have headstart twice.
    assert!(install(&test_front(), &entry(folder.path(), ENTRY), &own, None).unwrap().replaced);
    assert_eq!(std::fs::read_to_string(&at).unwrap(), wanted);
    let copy = DesktopEntry { id: "y".to_owned(), path: at.clone(), hidden: false };
    assert!(install(&test_front(), &copy, &own, None).is_err());
    remove(&[at]).unwrap();
    assert_eq!(std::fs::read_dir(&own).unwrap().count(), 0);
    assert_eq!(std::fs::read_to_string(folder.path().join("x.desktop")).unwrap(), ENTRY);
}

#[test]
fn an_entry_of_the_users_own_and_commands_that_are_not_understood_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("x.desktop"), ENTRY).unwrap();
    let refused = install(&test_front(), &entry(folder.path(), ENTRY), &own, None).unwrap_err();
    assert!(refused.to_string().contains("not made"), "{refused}");
    assert_eq!(std::fs::read_to_string(own.join("x.desktop")).unwrap(), ENTRY);
    std::fs::remove_file(own.join("x.desktop")).unwrap();
    for (bad, words) in [
        ("[Desktop Entry]\nName=x\n[Desktop Action y]\nExec=sh\n", "D-Bus"),
        ("[Desktop Entry]\nExec=\n", "no program"),
        ("[Desktop Entry]\nExec=env A=1\n", "no program"),
        ("[Desktop Entry]\nExec=env -u A sh\n", "options to env"),
        ("[Desktop Entry]\nExec=\"sh\n", "not closed"),
        ("[Desktop Entry]\nExec=sh\n[Desktop Action y]\nExec='\n", "not closed"),
        ("", "D-Bus"),
    ] {
        let error = install(&test_front(), &entry(folder.path(), bad), &own, None).unwrap_err();
        assert!(error.to_string().contains(words), "{bad:?}: {error}");
        assert_eq!(std::fs::read_dir(&own).unwrap().count(), 0);
    }
}

#[test]
fn entries_are_found_by_program_and_by_id_in_the_first_folder_that_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, exec: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("[Desktop Entry]\nExec={exec}\n")).unwrap();
    };
    write("one/a.desktop", "no-such-program-x");
    write("two/a.desktop", "sh");
    write("two/b/c.desktop", "env A=1 /bin/sh %U\nNoDisplay=true");
    write("two/d.desktop", "/bin/cat");
    write("two/e.txt", "sh");
    let folders = ["one", "two", "gone"].map(|name| folder.path().join(name));
    let ids = |wanted: &dyn Fn(&DesktopEntry, Option<&Path>) -> bool| {
        let found = find(&folders, wanted).unwrap();
        found.into_iter().map(|entry| (entry.id, entry.hidden)).collect::<Vec<_>>()
    };
    let sh = Path::new("/bin/sh").canonicalize().unwrap();
    let by_program = ids(&|_, program| program == Some(&sh));
    assert_eq!(by_program, [("b-c".to_owned(), true)]);
    assert_eq!(ids(&|entry, _| entry.id == "a"), [("a".to_owned(), false)]);
    assert_eq!(ids(&|_, _| true).len(), 3);
}

/// What a launcher of menus makes of a value: unescaped, then divided, then field codes replaced.
fn understood(value: &str) -> Vec<String> {
    let words = words::divided(&words::unescaped(value.as_bytes())).unwrap();
    let text = |word: Word| String::from_utf8(word.bytes).unwrap().replace("%%", "%");
    words.into_iter().map(text).collect()
}

proptest! {
    #[test]
    fn a_quoted_word_is_understood_as_it_was(word in "[ -~é]{1,20}") {
        let value = format!("{} %F", quoted(OsStr::new(&word)).unwrap());
        prop_assert_eq!(understood(&value), [word, "%F".to_owned()]);
    }

    #[test]
    fn any_bytes_are_refused_or_rewritten_and_recognized(text in "(\\[Desktop Entry\\]|Exec=|env |[a\"'\\\\%=#\r\n \t\u{e9}]){0,30}") {
        let found = rewritten(text.as_bytes(), Change::Before(b"front -- "), b"undo");
        prop_assert!(found.is_err() || is_marked(&found.unwrap()));
    }
}

#[test]
fn what_is_no_text_is_not_quoted() {
    assert!(
        quoted(OsStr::from_bytes(b"/caf\xe9")).is_err() && quoted(OsStr::new("/a\nb")).is_err()
    );
}

#[test]
fn another_program_takes_the_place_of_that_of_all_commands() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own");
    let program = Path::new("/home/a user/.local/bin/sh");
    let entry = entry(folder.path(), &ENTRY.replace("Exec=sh -c", "Exec=\"/bin/s\\\\h\" -c"));
    let done = redirect(&entry, &own, program, "undo sh").unwrap();
    let text = std::fs::read_to_string(&done.path).unwrap();
    let word = "\"/home/a user/.local/bin/sh\"";
    let wanted = ENTRY
        .replace("Exec=sh -c", &format!("Exec={word} -c"))
        .replace("Exec = env A=1 B=\"2 3\" /bin/sh ", &format!("Exec=env A=1 B=\"2 3\" {word} "))
        .replace("TryExec=sh", &format!("TryExec={}", program.display()))
        .replace("DBusActivatable=true", "DBusActivatable=false")
        .replace("[Desktop Entry]\n", "[Desktop Entry]\nX-Headstart-Undo=undo sh\n");
    assert_eq!(text, wanted);
    assert_eq!(made(&done.path).unwrap(), Some(InstalledKind::DesktopEntry));
}
