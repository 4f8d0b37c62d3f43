//! Command lines that work as they stand, for `--help`. A test runs each block in an empty folder.

#[cfg(windows)]
mod windows;

/// Command lines of `headstart --help`, and what they do.
#[cfg(not(windows))]
pub const FIRST: [(&str, &str); 4] = [
    ("measure git --version", "how long git takes to start"),
    ("compare 'git --version' 'python3 --version'", "which of the two starts faster"),
    ("explain git --version", "where the time goes"),
    ("optimize --out git-fast -- git --version", "leaves the fastest verified form in git-fast/"),
];

#[cfg(windows)]
pub use windows::FIRST;

/// A program, in the shell's words.
const SOURCE: &str = "echo 'void f(void) {} int main(void) { f(); return 0; }' > p.c";
/// How it is linked.
const LINK: &str = "echo 'clang-19 -fuse-ld=lld -ffunction-sections p.c \"$@\"' > link.sh";

/// The lines of the verbs that order functions.
fn of_order(verb: &str) -> &'static [&'static str] {
    match verb {
        "write" => &[
            "headstart trace --out git.trace -- git --version",
            "headstart order write --linker lld --out git.order git.trace",
            "headstart order write --linker lld --out git.order --snippet cmake git.trace",
        ],
        "verify" => &[
            SOURCE,
            LINK,
            "sh link.sh -o old",
            "echo main > main.order",
            "sh link.sh -o new -Wl,--symbol-ordering-file=main.order",
            "headstart order verify --runs 3 --cold-runs 0 ./old ./new",
        ],
        "try" => &[
            SOURCE,
            LINK,
            "sh link.sh -o p",
            "echo 'sh link.sh -o p -Wl,--symbol-ordering-file=$1' > again.sh",
            "headstart order try -r 3 --relink 'sh again.sh @ORDER@' -- ./p",
        ],
        _ => &[],
    }
}

/// The lines of the verbs of the page cache.
fn of_cache(verb: &str) -> &'static [&'static str] {
    match verb {
        "status" => &[
            "headstart cache status /usr/bin/git",
            "headstart cache status /usr/lib/git-core",
            "headstart cache status -- git --version",
        ],
        "evict" => {
            &["headstart cache evict /usr/bin/git", "headstart cache evict --json -- git --version"]
        }
        _ => &[],
    }
}

/// The lines of a verb, in the order in which they are to be typed; `word` is that of its group.
pub fn of_verb(word: &str, verb: &str) -> &'static [&'static str] {
    #[cfg(windows)]
    if let Some(lines) = windows::of_verb(verb) {
        return lines;
    }
    match verb {
        _ if word == "order" => of_order(verb),
        _ if word == "cache" => of_cache(verb),
        "measure" => &[
            "headstart measure git --version",
            "headstart measure --until output:ready sh -c 'echo ready; sleep 10'",
            "headstart measure --save kept -r 20 git --version",
            "headstart measure --resume kept -r 40",
        ],
        "compare" => &[
            "headstart compare 'git --version' 'python3 --version'",
            "headstart compare 'python3 -c 1' 'python3 -S -c 1' -n all -n no-site -r 20",
            "headstart compare -L code 0,1 'sh -c \"exit {code}\"' -i --export-markdown table.md",
        ],
        "explain" => &["headstart explain git --version"],
        "optimize" => {
            &["headstart optimize --out git-fast -- git --version", "git-fast/run --version"]
        }
        "bundle" => &[
            "headstart bundle git --out git-bundle",
            "git-bundle/run --version",
            "sudo headstart bundle --prefetch auto --out git-bundle -- git --version",
        ],
        "verify" => &["headstart bundle git --out git-bundle", "headstart verify git-bundle"],
        "rerandomize" => {
            &["headstart bundle --fixed git --out git-bundle", "headstart rerandomize git-bundle"]
        }
        "warm" => &["headstart bundle git --out git-bundle", "headstart warm git-bundle"],
        "install" => &["headstart install --user git", "headstart remove --user git"],
        "renew" => &["headstart renew --user"],
        "list" => &["headstart list", "headstart list --json"],
        "remove" => &["headstart install --user git", "headstart remove --user --all"],
        "record" => &[
            "headstart record -- git --version",
            "headstart record --out git.record -- git --version",
            "headstart record git.record",
        ],
        "prefetch" => &[
            "headstart record -- git --version",
            "headstart prefetch -- git --version",
            "headstart prefetch --only -- git --version",
            "headstart prefetch list",
            "headstart prefetch install --to fast-git git",
            "./fast-git --version",
            "headstart prefetch uninstall fast-git",
        ],
        "trace" => &[
            "headstart trace --out git.trace -- git --version",
            "headstart trace --functions -- git --version",
            "sudo headstart trace --pages -- git --version",
            "headstart trace --export openoffice git.trace",
        ],
        "load" => &[
            "headstart load --sample --out list.txt",
            "headstart load list.txt",
            "headstart load --cold --prefetch list.txt",
        ],
        "io" => &[
            "headstart io -- git --version",
            "sudo headstart io --all --csv reads.csv -- git --version",
        ],
        "inspect" => &["headstart inspect /usr/bin/git", "headstart inspect --json /usr/bin/git"],
        "identify" => &["headstart identify /usr/bin/git", "headstart identify /usr/bin/*git*"],
        "simulate" => &["headstart simulate git", "headstart simulate --bindings git"],
        "selfbind" => &[
            "headstart elf selfbind --out git-selfbound /usr/bin/git",
            "git-selfbound/run --version",
        ],
        "order-needed" => {
            &["headstart elf order-needed --out ./git /usr/bin/git", "./git --version"]
        }
        "no-pie" => &["headstart elf no-pie --out ./git /usr/bin/git", "./git --version"],
        "relr" => &["headstart elf relr --out ./git /usr/bin/git", "./git --version"],
        "rebase" => &[PE, "headstart pe rebase --out rebased dlls/*.dll"],
        "bind" => &[
            PE,
            "headstart pe rebase --out rebased dlls/*.dll dlls/*.exe",
            "headstart pe bind --out bound rebased/*",
        ],
        "unbind" => &[
            PE,
            "headstart pe bind --out bound dlls/*.dll dlls/*.exe",
            "headstart pe unbind --out unbound bound/*",
        ],
        "hints" => &[
            "headstart generate pietrek --format pe --hints zero --out dlls",
            "headstart pe hints --out mended dlls/*.exe dlls/*.dll",
        ],
        "ordinal" => {
            &[PE, "headstart pe ordinal --out by-ordinal dlls/*", "headstart verify by-ordinal"]
        }
        "realign" => &[PE, "headstart pe realign --out aligned dlls/*.dll"],
        "flags" => &[
            PE,
            "headstart pe flags dlls/*.exe",
            "headstart pe flags --set nxcompat --out set dlls/*.exe",
        ],
        "survey" => &[PE, "headstart pe survey dlls"],
        "generate" => {
            &["headstart generate pietrek --dlls 3 --out small", "small/LoadTimeTest --call"]
        }
        "scale" => &[
            "headstart scale shape dense --n 0,16,32,64 --runs 5",
            "headstart scale --n 1,10,20,30 --runs 5 -- sleep 0.0@N@",
        ],
        "experiment" => &[
            "headstart experiment pietrek --dlls 2 --functions 10 --runs 10 --warm-only",
            SOURCE,
            LINK,
            "echo 'sh link.sh -o $2 -Wl,--symbol-ordering-file=$1' > again.sh",
            "headstart load --sample --count 10 --out list.txt",
            "headstart experiment prefetch -r 3 list.txt",
            "headstart experiment pagein -r 2 --evict -- git --version",
            "headstart experiment probe -r 2 git --version",
            "headstart experiment openoffice --source . --build 'sh again.sh @ORDER@ @OUT@' --cold-runs 0",
        ],
        "sharing" => &[
            "headstart sharing --copies 4 -- cat",
            "headstart sharing $$",
            "headstart sharing --compare 'git --version' 'python3 --version' --copies 2",
        ],
        "doctor" => &["headstart doctor"],
        _ => &[],
    }
}

/// Something for the PE verbs to work on.
const PE: &str = "headstart generate pietrek --format pe --out dlls";
