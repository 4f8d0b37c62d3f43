//! What a bundle checks decides where it is used: on this machine, in copies of its files, where they never
//! change, and where they are not at all. What it does and what is told of it agree everywhere.

use crate::common::{stderr, stdout};
use crate::place::Place;
use crate::stage::run;
use std::path::Path;
use std::process::{Command, Output};
use testkit::WhenFree;
use testkit::cases::in_parallel;

/// In a mount namespace: a bundle of each check is made of the program in `$1/tree`, something happens (`$3`),
/// and all are started, by `$4` if that is set.
const SCRIPT: &str = r#"
set -e
tree="$1/tree"
unset LD_LIBRARY_PATH
scene=$(mktemp -d "$1/scene.XXXXXX")
chmod 755 "$1" "$scene"
mkdir "$scene/tree" "$scene/copy" "$scene/made"
cp -a "$tree/." "$scene/tree/"
mount --bind "$scene/tree" "$tree"
headstart=$2
for check in host image "immutable --immutable $tree" sealed; do
    made="$scene/made/${check%% *}"
    "$headstart" bundle --check $check --out "$made" "$tree/program" >/dev/null
    HEADSTART_TRACE=1 "$made/run" 2>&1 >/dev/null | grep -q 'the bundle is used'
done
cd "$scene"
eval "$3"
eval "by=\"$4\""
for check in host image immutable sealed; do
    HEADSTART_TRACE=1 $by made/$check/run > output 2> trace || true
    $by "$headstart" verify --json made/$check > verified || true
    grep -q 'own library' output || echo "$check: no output"
    said=original; grep -q 'the bundle is used' trace && said=bundle
    told=original; grep -q '"used": true' verified && told=bundle
    [ $said = $told ] || cat trace verified
    echo "$check: $said, $told"
done
"#;

/// What happens, by what all is started then, and which of the four bundles are used: host, image, immutable,
/// sealed.
const SCENES: [(&str, &str, &str, [bool; 4]); 15] = [
    ("nothing", ":", "", [true; 4]),
    ("cp -a", "cp -a $tree/. copy; mount --bind copy $tree", "", [false, true, true, true]),
    (
        "tar",
        "tar -C $tree -c . | tar -C copy -xp; mount --bind copy $tree",
        "",
        [false, true, true, true],
    ),
    (
        "a layer of a container",
        "mkdir upper work merged; tar -C $tree -c . | tar -C copy -xp;
         mount -t tmpfs none upper; mkdir upper/up upper/work;
         mount -t overlay -o lowerdir=copy,upperdir=upper/up,workdir=upper/work none merged;
         mount --bind merged $tree",
        "",
        [false, true, true, true],
    ),
    (
        "unpacked without times",
        "tar -C $tree -c . | tar -C copy -xpm; mount --bind copy $tree",
        "",
        [false, false, true, true],
    ),
    ("a library is touched", "touch $tree/lib/libown.so.1", "", [false, false, true, true]),
    ("another mode", "chmod 711 $tree/lib/libown.so.1", "", [false, true, true, true]),
    ("the program is moved", "mv $tree/program $tree/other", "", [false, false, true, true]),
    ("a library is gone", "rm $tree/lib/libown.so.1", "", [false, false, true, true]),
    (
        "a sooner library",
        "mkdir $tree/sooner; cp $tree/lib/libown.so.1 $tree/sooner",
        "",
        [false, false, true, true],
    ),
    ("nothing is there", "mount -t tmpfs none $tree", "", [false, false, true, true]),
    (
        "another build of the C library",
        r#"libc=$(ldconfig -p | sed -n 's/.*libc.so.6 .*x86-64.* => //p' | head -1); libc=$(readlink -f $libc)
           at=$(readelf -SW $libc | sed -n 's/.*note.gnu.build-id *NOTE *[0-9a-f]* \([0-9a-f]*\).*/\1/p')
           cp -p $libc libc; at=$((0x$at + 16)); printf '\377\376' | dd of=libc bs=1 seek=$at conv=notrunc 2>/dev/null
           touch -r $libc libc; mount --bind libc $libc"#,
        "",
        [true, false, true, false],
    ),
    ("another user", ":", "setpriv --reuid=65534 --clear-groups", [true; 4]),
    ("another root", "mkdir root; mount --rbind / root", "chroot root env -C $scene", [true; 4]),
    (
        "a variable of the loader",
        "mkdir nothing",
        "env LD_LIBRARY_PATH=$scene/nothing",
        [false, false, false, true],
    ),
];

#[test]
fn a_check_decides_where_a_bundle_is_used() {
    let Some(place) = Place::new() else { return };
    let tools = ["unshare", "tar", "readelf", "setpriv", "chroot"].map(testkit::tool);
    let Some(unshare) = tools[0].clone().filter(|_| tools.iter().all(Option::is_some)) else {
        return;
    };
    std::fs::create_dir_all(place.path("tree/lib")).unwrap();
    let flags = ["-shared", "-fPIC", "-Wl,-soname,libown.so.1"];
    let source = "const char *own(void) { return \"own library\"; }";
    place.built("tree/lib/libown.so.1", source, &flags);
    let source =
        "#include <stdio.h>\nconst char *own(void); int main(void) { return puts(own()) < 0; }";
    let flags = ["tree/lib/libown.so.1", "-Wl,-rpath,$ORIGIN/sooner:$ORIGIN/lib"];
    place.built("tree/program", source, &flags);
    let faults = in_parallel(&SCENES, |(name, change, by, used)| {
        let output = scene(&unshare, place.folder.path(), change, by);
        if stderr(&output).contains("not permitted") {
            testkit::skip("needs root: mounting");
            return None;
        }
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let right =
            ["host", "image", "immutable", "sealed"].iter().zip(used).all(|(check, used)| {
                let what = if *used { "bundle" } else { "original" };
                told.contains(&format!("{check}: {what}, {what}"))
            });
        (!output.status.success() || !right).then(|| format!("{name}: {told}{}", stderr(&output)))
    });
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), SCENES.len(), faults.join("\n"));
}

fn scene(unshare: &Path, root: &Path, change: &str, by: &str) -> Output {
    let mut command = Command::new(unshare);
    command.args(["-m", "sh", "-c", SCRIPT, "sh"]).arg(root);
    command.args([env!("CARGO_BIN_EXE_headstart"), change, by]).output_when_free()
}

/// A library with a variant for some processors, found by the program's search path.
#[test]
fn the_loader_chooses_variants_where_a_bundle_may_come_to_another_processor() {
    let Some(place) = Place::new() else { return };
    let v3 = "lib/glibc-hwcaps/x86-64-v3";
    std::fs::create_dir_all(place.path(v3)).unwrap();
    for (path, kind) in [("lib", "baseline"), (v3, "newer")] {
        let source = format!("const char *own(void) {{ return \"{kind}\"; }}");
        let flags = ["-shared", "-fPIC", "-Wl,-soname,libown.so.1"];
        place.built(&format!("{path}/libown.so.1"), &source, &flags);
    }
    let source =
        "#include <stdio.h>\nconst char *own(void); int main(void) { return puts(own()) < 0; }";
    place.built("program", source, &["lib/libown.so.1", "-Wl,-rpath,$ORIGIN/lib"]);
    let said = |program: &str, tunables: &str| {
        let mut command = Command::new(place.path(program));
        command.env_remove("LD_LIBRARY_PATH").env("GLIBC_TUNABLES", tunables);
        String::from_utf8_lossy(&command.output_when_free().stdout).trim().to_owned()
    };
    let older = "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable";
    let original = [said("program", ""), said("program", older)];
    if original != ["newer", "baseline"] {
        testkit::skip(
            "needs a processor of x86-64-v3, and a loader that can be told to do without",
        );
        return;
    }
    let (program, folder) = (place.path("program"), place.folder.path().display().to_string());
    let (program, folder) = (program.display().to_string(), folder.as_str());
    for check in [&["image"][..], &["immutable"], &["immutable", "--immutable", folder]] {
        let out = place.path("out").display().to_string();
        let mut bundle = Command::new(env!("CARGO_BIN_EXE_headstart"));
        bundle.args(["bundle", "--check"]).args(check).args(["--out", &out, &program]);
        let made = bundle.env_remove("LD_LIBRARY_PATH").output_when_free();
        assert!(made.status.success(), "{check:?}: {}", stderr(&made));
        assert_eq!([said("out/run", ""), said("out/run", older)], original, "{check:?}");
    }
}

/// A folder that is searched sooner has a variant for processors that there are not yet.
#[test]
fn a_variant_in_a_folder_that_is_searched_sooner() {
    let Some(place) = Place::new() else { return };
    for folder in ["lib", "sooner/glibc-hwcaps/x86-64-v9"] {
        std::fs::create_dir_all(place.path(folder)).unwrap();
    }
    let source = "const char *own(void) { return \"own library\"; }";
    place.built("lib/libown.so.1", source, &["-shared", "-fPIC", "-Wl,-soname,libown.so.1"]);
    let source =
        "#include <stdio.h>\nconst char *own(void); int main(void) { return puts(own()) < 0; }";
    let search = "-Wl,-rpath,$ORIGIN/sooner:$ORIGIN/lib";
    let program = place.built("program", source, &["lib/libown.so.1", search]);
    let (out, program) = (place.path("out").display().to_string(), program.display().to_string());
    for (variant, outside) in
        [(None, false), (Some("libother.so.1"), false), (Some("libown.so.1"), true)]
    {
        if let Some(name) = variant {
            place.file(&format!("sooner/glibc-hwcaps/x86-64-v9/{name}"), b"a library");
        }
        let made = run(&["bundle", "--check", "image", "--out", &out, &program]);
        assert!(made.status.success(), "{}", stderr(&made));
        let said = stdout(&made).split_whitespace().collect::<Vec<_>>().join(" ");
        let sentence = "libown.so.1 (the loader selects a variant of it by processor)";
        assert_eq!(said.contains(sentence), outside, "{said}");
        let made = run(&["bundle", "--sealed", "--out", &out, &program]);
        assert_eq!(made.status.success(), !outside, "{}", stderr(&made));
    }
}

/// In a root of its own, where links in the root folder lead into a store: what happens, and what the program
/// says then.
const ROOT_LINKS: &str = r#"
set -e
root="$1/root"
mount -t tmpfs none "$root"
for each in /*; do
    if [ -L "$each" ]; then cp -a "$each" "$root/"
    elif [ -d "$each" ]; then mkdir "$root$each"; mount --rbind "$each" "$root$each"; fi
done
[ -L "$root/bin" ] || exit 99
store="$root/nix/store"
for each in old new; do
    mkdir -p "$store/$each/bin" "$store/$each/lib"
    cp -a "$1/program-$each" "$store/$each/bin/hello"
done
touch -d @1000000000 "$store/new/bin/hello"
cp -a "$1/libown.so.1" "$store/new/lib/"
mkdir "$store/own"
cp -a "$1/first/libown.so.1" "$store/own/"
ln -sfn /nix/store/old/bin "$root/bin"
ln -s /nix/store/old/lib "$root/mylibs"
unset LD_LIBRARY_PATH
told() {
    for check in host immutable image; do
        HEADSTART_TRACE=1 /usr/sbin/chroot "$root" "/made/$check/run" > "$1/output" 2> "$1/trace"
        /usr/sbin/chroot "$root" "$headstart" verify --json "/made/$check" > "$1/verified" || true
        said=original; grep -q 'the bundle is used' "$1/trace" && said=bundle
        used=original; grep -q '"used": true' "$1/verified" && used=bundle
        echo "$2, $check: $(cat "$1/output") ($said, $used)"
    done
}
headstart=$2
for check in host immutable image; do
    /usr/sbin/chroot "$root" "$headstart" bundle --check "$check" --out "/made/$check" /bin/hello >/dev/null
done
told "$1" made
touch "$root/another"
told "$1" another
ln -sfn /nix/store/new/bin "$root/bin"
told "$1" program
ln -sfn /nix/store/old/bin "$root/bin"
told "$1" back
ln -sfn /nix/store/new/lib "$root/mylibs"
told "$1" library
"#;

#[test]
fn a_link_in_the_root_that_leads_elsewhere_is_noticed() {
    let Some(place) = Place::new() else { return };
    let Some(unshare) = testkit::tool("unshare") else { return };
    for name in ["root", "first"] {
        std::fs::create_dir(place.path(name)).unwrap();
    }
    for (name, text) in [("first/libown.so.1", "own library"), ("libown.so.1", "new library")] {
        let source = format!("const char *own(void) {{ return \"{text}\"; }}");
        place.built(name, &source, &["-shared", "-fPIC", "-Wl,-soname,libown.so.1"]);
    }
    for each in ["old", "new"] {
        let source = format!(
            "#include <stdio.h>\nconst char *own(void);
            int main(void) {{ return printf(\"{each} %s\", own()) < 0; }}"
        );
        let flags = ["first/libown.so.1", "-Wl,-rpath,/mylibs:/nix/store/own"];
        place.built(&format!("program-{each}"), &source, &flags);
    }
    let mut command = Command::new(unshare);
    command.args(["-m", "sh", "-c", ROOT_LINKS, "sh"]).arg(place.folder.path());
    let output = command.arg(env!("CARGO_BIN_EXE_headstart")).output_when_free();
    if output.status.code() == Some(99) || stderr(&output).contains("not permitted") {
        return testkit::skip("needs root, for mounting, and a /bin that is a link");
    }
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut expected = String::new();
    for (when, says, starts) in [
        ("made", "old own library", "bundle"),
        ("another", "old own library", "bundle"),
        ("program", "new own library", "original"),
        ("back", "old own library", "bundle"),
        ("library", "old new library", "original"),
    ] {
        for check in ["host", "immutable", "image"] {
            expected += &format!("{when}, {check}: {says} ({starts}, {starts})\n");
        }
    }
    assert_eq!(told, expected, "{}", stderr(&output));
}
