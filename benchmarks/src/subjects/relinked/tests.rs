//! The compiler is linked in two orders, and works in both.

use super::*;

#[test]
fn it_is_linked_in_the_order_that_is_asked_for_and_compiles() {
    if testkit::tool(ARCHIVE).is_none() || testkit::tool(COMPILER).is_none() {
        return;
    }
    let relinked = Relinked::prepare().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (order, program) = (folder.path().join("order"), folder.path().join("cc1"));
    let map = folder.path().join("map");
    fs::write(&order, "LLVMInitializeX86Target\nno_such_function\nmain\n").unwrap();
    let link = Link::ordered(&order).with_relr().with(format!("-Map={}", map.display()));
    relinked.link(&program, &link).unwrap();
    let addresses = ["LLVMInitializeX86Target", "main"].map(|name| address(&map, name));
    assert!(addresses[0] < addresses[1], "{addresses:x?}");
    assert!(addresses[1] - addresses[0] < 0x1000, "{addresses:x?}");
    let tasks = tasks(&folder.path().join("tasks")).unwrap();
    for name in ["h1", "h5", "c1", "e1", "v1"] {
        let task = tasks.iter().find(|task| task.name == name).unwrap();
        let output = Command::new(&program).args(&task.arguments).output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), !task.fails, "{name}: {messages}");
    }
}

#[test]
fn a_linker_that_fails_is_quoted() {
    if testkit::tool(ARCHIVE).is_none() || testkit::tool(COMPILER).is_none() {
        return;
    }
    let relinked = Relinked::prepare().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let link = Link::ordered(&folder.path().join("missing"));
    let error = relinked.link(&folder.path().join("cc1"), &link).unwrap_err().to_string();
    assert!(error.contains("missing") && error.contains("ld.lld"), "{error}");
}

/// Where a line of the map says that the symbol is.
fn address(map: &Path, symbol: &str) -> u64 {
    let text = fs::read_to_string(map).unwrap();
    let line = text.lines().find(|line| line.trim_end().ends_with(&format!(" {symbol}")));
    let word = line.and_then(|line| line.split_whitespace().next()).expect("it is in the map");
    u64::from_str_radix(word, 16).unwrap()
}
