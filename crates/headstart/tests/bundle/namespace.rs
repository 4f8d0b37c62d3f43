//! Libraries that packages own: they are replaced, upgraded and moved in a mount namespace of the
//! test's own, where /usr and /etc are overlays.

use crate::common::{stderr, stdout};
use crate::stage::command;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;
use testkit::WhenFree;
use testkit::cases::in_parallel;

/// What is the same in all scenes: overlays; a library in two versions, and one beside it; a
/// program that needs it. `show` prints what each of them does.
const PREPARE: &str = r#"
set -e
work=$1 headstart=$2
mount -t tmpfs none "$work/mnt" 2>/dev/null || exit 99
for folder in usr etc; do
    mkdir -p "$work/mnt/$folder/upper" "$work/mnt/$folder/work"
    mount -t overlay overlay -o "lowerdir=/$folder,upperdir=$work/mnt/$folder/upper,workdir=$work/mnt/$folder/work" "/$folder" 2>/dev/null || exit 99
done
lib=/usr/lib/x86_64-linux-gnu
[ -d $lib ] || lib=/usr/lib
name=libheadstarttest.so.1
install -m644 "$work/v1.so" $lib/$name.0
ln -s $name.0 $lib/$name
install -m755 "$work/program" /usr/bin/headstart-test
upgrade() { cp "$1" "$2.dpkg-new"; mv "$2.dpkg-new" "$2"; }
overwrite="dd if=$work/v2.so of=$lib/$name.0 conv=notrunc,fsync status=none"
show() {
    for one in /usr/bin/headstart-test "$work/mnt/out/run" "$work/mnt/fixed/run"; do
        SHOW_MAPS=1 "$one" 2>&1 || echo "status $?"
    done
}
told() {
    for one in out fixed; do
        "$headstart" verify --json "$work/mnt/$one" | tr -d '\n'; echo
        "$headstart" verify "$work/mnt/$one" | tr '\n' ' '; echo
    done
}
"#;
const BUNDLE: &str = r#"
"$headstart" bundle --out "$work/mnt/out" /usr/bin/headstart-test > /dev/null
"$headstart" bundle --fixed --out "$work/mnt/fixed" /usr/bin/headstart-test > /dev/null
sleep .02
show
echo ==
"#;
const LIBRARY: &str = "const char *version(void) { return VERSION; }";
const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>
const char *version(void);
int main(void) {
    char line[4096];
    const char *found = "merged";
    FILE *file = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, file))
        if (strstr(line, "/libheadstarttest.so")) found = "apart";
    fclose(file);
    return printf("%s %s\n", version(), found) < 0;
}
"#;

/// Name; what is done before the bundles are made, and after; what the original says then, and
/// whether bundles go on to run as themselves.
struct Scene(&'static str, &'static str, &'static str, &'static str, bool);

const SCENES: [Scene; 20] = [
    Scene("nothing", "ldconfig", "", "v1", true),
    Scene("the cache made again", "ldconfig", "ldconfig", "v1", true),
    Scene("another package", "ldconfig", "touch $lib/libother.so.1; ldconfig", "v1", true),
    Scene(
        "the file upgraded",
        "ldconfig",
        "upgrade $work/v2.so $lib/$name.0; ldconfig",
        "v2",
        false,
    ),
    Scene("without ldconfig", "ldconfig", "upgrade $work/v2.so $lib/$name.0", "v2", false),
    Scene(
        "another file behind the link",
        "ldconfig",
        "cp $work/v2.so $lib/$name.1; ln -sfn $name.1 $lib/$name; ldconfig",
        "v2",
        false,
    ),
    // What the start-up check does not see: it goes on with the former code, and verify says so.
    Scene("overwritten in its place", "ldconfig", "$overwrite", "v2", true),
    Scene("mounted over", "ldconfig", "mount --bind $work/v2.so $lib/$name.0", "v2", true),
    Scene(
        "overwritten, then another package",
        "ldconfig",
        "$overwrite; touch $lib/libother.so.1; ldconfig",
        "v2",
        false,
    ),
    Scene("installed again", "ldconfig", "upgrade $lib/$name.0 $lib/$name.0", "v1", false),
    Scene("removed", "ldconfig", "rm $lib/$name $lib/$name.0; ldconfig", "", false),
    Scene(
        "one in /usr/local",
        "ldconfig",
        "cp $work/v2.so /usr/local/lib/$name; ldconfig",
        "v2",
        false,
    ),
    Scene(
        "one in a new folder of the configuration",
        "ldconfig",
        "mkdir /usr/lib/new; cp $work/v2.so /usr/lib/new/$name; \
         echo /usr/lib/new > /etc/ld.so.conf.d/00-new.conf; ldconfig",
        "v2",
        false,
    ),
    Scene(
        "one in a folder that was configured and not there",
        "echo /usr/later > /etc/ld.so.conf.d/00-new.conf; ldconfig",
        "mkdir /usr/later; cp $work/v2.so /usr/later/$name; ldconfig",
        "v2",
        false,
    ),
    Scene(
        "alternatives",
        "mkdir $lib/a $lib/b; mv $lib/$name.0 $lib/a/$name; cp $work/v2.so $lib/b/$name; \
         ln -s $lib/a/$name /etc/alternatives/$name; ln -sfn /etc/alternatives/$name $lib/$name; \
         ldconfig",
        "ln -sfn $lib/b/$name /etc/alternatives/$name",
        "v2",
        false,
    ),
    Scene(
        "for this processor",
        "ldconfig",
        "mkdir -p $lib/glibc-hwcaps/x86-64-v2; cp $work/v2.so $lib/glibc-hwcaps/x86-64-v2/$name; \
         ldconfig",
        "v2",
        false,
    ),
    Scene(
        "for this processor, folder there",
        "mkdir -p $lib/glibc-hwcaps/x86-64-v2; ldconfig",
        "cp $work/v2.so $lib/glibc-hwcaps/x86-64-v2/$name; ldconfig",
        "v2",
        false,
    ),
    Scene(
        "preloaded for all",
        "ldconfig",
        "cp $work/v2.so $lib/$name.2; echo $lib/$name.2 > /etc/ld.so.preload",
        "v2",
        false,
    ),
    Scene(
        "the program upgraded",
        "ldconfig",
        "upgrade $work/other /usr/bin/headstart-test",
        "other v1",
        false,
    ),
    Scene(
        "without a cache",
        "ldconfig; cp /etc/ld.so.cache $work/mnt/; rm /etc/ld.so.cache",
        "cp $work/v2.so /usr/lib/$name; cp $work/mnt/ld.so.cache /etc/; ldconfig",
        "v1",
        false,
    ),
];

/// What is wrong with what `verify` says: a line of JSON and one of words for each bundle.
fn fault_of_verify(told: &str, merged: bool, changed: bool) -> Option<String> {
    let lines: Vec<&str> = told.lines().collect();
    let [_, _, _, _] = lines.as_slice() else { return Some(format!("verify: {told}")) };
    for pair in lines.chunks(2) {
        let found: serde_json::Value = serde_json::from_str(pair[0]).unwrap_or_default();
        let starts = if merged { "bundle" } else { "original" };
        let words = pair[1];
        let says_original = words.contains("original") && !words.contains("does not notice");
        let notices = !(words.contains("does not notice this, and still uses the merged code"));
        let right = (found["starts"] == starts || (!merged && found["starts"] == "nothing"))
            && (!changed || found["current"] == false)
            && (says_original != merged || found["starts"] == "nothing")
            && notices != (merged && changed);
        if !right {
            return Some(format!("verify: {found}\n{words}"));
        }
    }
    None
}

struct Work {
    folder: TempDir,
    unshare: PathBuf,
}

fn work() -> Option<Work> {
    let (unshare, cc) = (testkit::tool("unshare")?, testkit::tool("cc")?);
    let folder = tempfile::tempdir().unwrap();
    let library = |name: &str, version: &str| {
        let define = format!("-DVERSION=\"{version}\"");
        let flags = ["-shared", "-fPIC", &define, "-Wl,-soname,libheadstarttest.so.1"];
        testkit::compile(&cc, folder.path(), name, LIBRARY, &flags)
    };
    let v1 = library("v1.so", "v1");
    library("v2.so", "v2");
    let v1 = v1.to_str().unwrap();
    testkit::compile(&cc, folder.path(), "program", PROGRAM, &[v1]);
    let other = PROGRAM.replace("\"%s %s\\n\"", "\"other %s %s\\n\"");
    testkit::compile(&cc, folder.path(), "other", &other, &[v1]);
    fs::create_dir(folder.path().join("mnt")).unwrap();
    Some(Work { folder, unshare })
}

impl Work {
    /// What is wrong; `Err` where nothing can be mounted.
    fn fault(
        &self,
        Scene(name, before, after, says, merged): &Scene,
    ) -> Result<Option<String>, ()> {
        let script = format!("{PREPARE}{before}\n{BUNDLE}{after}\nshow\necho ==\ntold");
        let mut command = command(&self.unshare);
        command.args(["-m", "sh", "-c", &script, "sh"]);
        command.arg(self.folder.path()).arg(env!("CARGO_BIN_EXE_headstart"));
        let output = command.output_when_free();
        if output.status.code() == Some(99) || stderr(&output).starts_with("unshare") {
            return Err(());
        }
        let said = format!("{name}:\n{}{}", stdout(&output), stderr(&output));
        let text = stdout(&output);
        let parts: Vec<&str> = text.split("==\n").collect();
        let &[first, then, told] = parts.as_slice() else { return Ok(Some(said)) };
        let state = |merged: bool| if merged { "merged" } else { "apart" };
        let right_first = first == "v1 apart\nv1 merged\nv1 merged\n";
        let changed = !says.is_empty() && *says != "v1";
        let said = said + &fault_of_verify(told, *merged, changed).unwrap_or_default();
        let right = fault_of_verify(told, *merged, changed).is_none();
        let right = right
            && if says.is_empty() {
                // All three end alike.
                let lines: Vec<&str> = then.lines().collect();
                let part = lines.len() / 3;
                part > 0
                    && lines[..part] == lines[part..2 * part]
                    && lines[..part] == lines[2 * part..]
            } else {
                let own = state(*merged);
                // Where the change is not seen, what was merged runs on.
                let own_says = if *merged { "v1" } else { says };
                then == format!("{says} apart\n{own_says} {own}\n{own_says} {own}\n")
            };
        Ok((!right_first || !right).then_some(said))
    }
}

#[test]
fn libraries_of_packages() {
    let Some(work) = work() else { return };
    let found = in_parallel(&SCENES, |scene| work.fault(scene));
    let Ok(faults) = found.into_iter().collect::<Result<Vec<_>, ()>>() else {
        return testkit::skip("overlays are only mounted by root, in a mount namespace");
    };
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
