//! Programs that a profile of AppArmor names (apparmor.d(5)).

/// Folders of texts that are not profiles of programs.
pub(crate) const OTHERS: [&str; 6] =
    ["abi", "abstractions", "cache", "disable", "force-complain", "tunables"];

/// Whether a line has a path whose last part may be `name`. In the line that begins a profile, patterns
/// count as well.
pub(crate) fn names(line: &str, name: &str) -> bool {
    let begins = line.trim_end().ends_with('{');
    let paths = line.split_whitespace().map(|word| word.trim_matches(['"', ',']));
    let mut paths = paths.filter(|word| word.contains('/'));
    paths.any(|path| {
        let last = last_part(path).trim_matches(['{', '}']);
        last.split(',').any(|part| part == name || (begins && fits(part, name)))
    })
}

/// What is behind the last `/` that is not in braces.
fn last_part(path: &str) -> &str {
    let mut depth = 0_u32;
    let mut last = 0;
    for (at, letter) in path.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '/' if depth == 0 => last = at + 1,
            _ => {}
        }
    }
    path.get(last..).unwrap_or_default()
}

/// Whether a name fits a pattern with `*` and `?`.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern.len() == name.len() && starts(pattern, name),
        Some((before, rest)) => {
            starts(before, name)
                && (before.len()..=name.len())
                    .filter_map(|at| name.get(at..))
                    .any(|end| fits(rest, end))
        }
    }
}

fn starts(pattern: &str, name: &str) -> bool {
    name.len() >= pattern.len()
        && pattern.bytes().zip(name.bytes()).all(|(p, n)| p == b'?' || p == n)
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn paths_of_programs_are_found_in_profiles() {
        let profile = "profile foo /usr/bin/tp* flags=(complain) {";
        for (line, name) in [
            ("  /usr/bin/{troff,tbl} rmCx -> &man_groff,", "tbl"),
            ("  /{,usr/}bin/foo ix,", "foo"),
            ("  @{bin}/foo rix,", "foo"),
            ("/usr/bin/man {", "man"),
            ("\"/opt/a b/c/x-2\" r,", "x-2"),
            (profile, "tprog"),
            ("/usr/bin/* {", "anything"),
        ] {
            assert!(names(line, name), "{line}: {name}");
        }
        for (line, name) in [
            ("  /usr/lib/python3/dist-packages/** r,", "python3"),
            ("  owner @{HOME}/.kde/env/ r,", "env"),
            ("  @{etc_ro}/locale/** r,", "locale"),
            ("  /** r,", "gs"),
            ("  /usr/bin/{troff,tbl} rmCx,", "tb"),
            ("  capability sys_admin,", "sys_admin"),
            (profile, "prog"),
        ] {
            assert!(!names(line, name), "{line}: {name}");
        }
    }
}
