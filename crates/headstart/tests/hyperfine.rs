//! Invocations of hyperfine, word for word, that `headstart compare` runs: one for each option and
//! some together, each with its effect.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, stderr, stdout};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What an invocation left behind.
struct Ran {
    folder: tempfile::TempDir,
    output: Output,
}

impl Ran {
    /// Runs `headstart VERB WORDS` in a folder of its own.
    fn verb(verb: &str, words: &[&str]) -> Ran {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("words"), "b\na\n").unwrap();
        let mut command = headstart(folder.path(), &[&[verb], words].concat());
        let output = command.current_dir(folder.path()).output().unwrap();
        Ran { folder, output }
    }

    fn code(&self) -> Option<i32> {
        self.output.status.code()
    }

    /// A file that it wrote.
    fn file(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| {
            panic!("{name}: {error}\n{}{}", stdout(&self.output), stderr(&self.output))
        })
    }

    /// One figure of each result of `--export-json x.json`.
    fn column(&self, name: &str) -> Vec<Value> {
        let file: Value = serde_json::from_str(&self.file("x.json")).unwrap();
        file["results"].as_array().unwrap().iter().map(|result| result[name].clone()).collect()
    }

    fn runs(&self) -> Vec<usize> {
        self.column("times").iter().map(|times| times.as_array().unwrap().len()).collect()
    }
}

/// The words of one invocation, and whether it had its effect.
type Case = (&'static str, &'static [&'static str], fn(&Ran) -> bool);

fn check(cases: &[Case]) {
    for (what, words, had_effect) in cases {
        let ran = Ran::verb("compare", words);
        let said = format!("{}{}", stdout(&ran.output), stderr(&ran.output));
        assert!(had_effect(&ran), "{what}: {words:?}: {:?}\n{said}", ran.code());
    }
}

fn is_done(ran: &Ran) -> bool {
    ran.code() == Some(0)
}

#[test]
fn shells() {
    check(&[
        ("-N passes all words on", &["-N", "-r2", "echo a | b", "--output", "./out"], |ran| {
            is_done(ran) && ran.file("out") == "a | b\n"
        }),
        ("--shell=none", &["--shell=none", "-r2", "echo $HOME", "--output=./out"], |ran| {
            is_done(ran) && ran.file("out") == "$HOME\n"
        }),
        ("-S", &["-S", "bash --norc", "-r2", "echo $BASH_VERSION", "--output", "./out"], |ran| {
            is_done(ran) && ran.file("out").starts_with(|c: char| c.is_ascii_digit())
        }),
        ("--shell default", &["--shell", "default", "-r2", "echo $0", "--output=./out"], |ran| {
            is_done(ran) && ran.file("out") == "sh\n"
        }),
        (
            "the last --shell counts",
            &["-S", "no", "-S", "sh", "-r2", "echo $0", "--output=./out"],
            |ran| is_done(ran) && ran.file("out") == "sh\n",
        ),
        ("sh where a line needs it", &["-r2", "echo a | tr a b", "--output", "./out"], |ran| {
            let said = stderr(&ran.output);
            is_done(ran)
                && ran.file("out") == "b\n"
                && said.contains("note: sh runs 'echo a | tr a b'")
        }),
        ("a word of the shell's own", &["-r2", "exit 0"], |ran| is_done(ran)),
        ("no note where no shell runs", &["-r2", "true"], |ran| {
            is_done(ran) && stderr(&ran.output).is_empty()
        }),
        ("-N and --shell exclude each other", &["-N", "-S", "sh", "true"], |ran| {
            ran.code() == Some(2)
        }),
    ]);
}

#[test]
fn numbers_of_launches() {
    const COUNT: &str = "echo $HYPERFINE_ITERATION >> log";
    check(&[
        ("-w and -r", &["-w", "2", "-r", "3", COUNT], |ran| {
            is_done(ran) && ran.file("log") == "warmup-0\nwarmup-1\n0\n1\n2\n"
        }),
        ("--warmup 0, --runs", &["--warmup", "0", "--runs", "2", COUNT], |ran| {
            is_done(ran) && ran.file("log") == "0\n1\n"
        }),
        ("-m", &["-m", "33", "true", "--export-json", "x.json"], |ran| ran.runs() == [33]),
        ("--min-runs", &["--min-runs", "2", "true", "--export-json", "x.json"], |ran| {
            ran.runs()[0] >= 2
        }),
        ("-M", &["-M", "4", "true", "--export-json", "x.json"], |ran| ran.runs() == [4]),
        ("--max-runs", &["--max-runs", "5", "-m", "2", "true", "--export-json", "x.json"], |ran| {
            ran.runs() == [5]
        }),
        ("-m above -M", &["-m", "9", "-M", "5", "true"], |ran| ran.code() == Some(2)),
        ("-r with -m", &["-m", "9", "-r", "9", "true"], |ran| ran.code() == Some(2)),
        (
            "--min-benchmarking-time",
            &[
                "--min-benchmarking-time",
                "0.2",
                "-m",
                "1",
                "-w0",
                "sleep 0.05",
                "--export-json=x.json",
            ],
            |ran| (3..=4).contains(&ran.runs()[0]),
        ),
        (
            "--min-benchmarking-time within -M",
            &["--min-benchmarking-time", "9", "-M", "3", "sleep 0.01", "--export-json=x.json"],
            |ran| ran.runs() == [3],
        ),
    ]);
}

#[test]
fn parameters() {
    check(&[
        ("-L", &["-r2", "-L", "word", "a,b", "echo {word}", "--export-json", "x.json"], |ran| {
            ran.column("command") == ["echo a", "echo b"]
                && ran.column("parameters")[1] == serde_json::json!({"word": "b"})
        }),
        (
            "--parameter-list twice multiplies",
            &[
                "-r2",
                "--parameter-list",
                "x",
                "1,2",
                "-L",
                "y",
                r"a\,b,c",
                "echo {x} {y}",
                "--export-json=x.json",
            ],
            |ran| ran.column("command") == ["echo 1 a,b", "echo 2 a,b", "echo 1 c", "echo 2 c"],
        ),
        (
            "with several commands",
            &["-r2", "-L", "x", "1,2", "echo {x}", "printf {x}", "--export-json", "x.json"],
            |ran| ran.column("command") == ["echo 1", "printf 1", "echo 2", "printf 2"],
        ),
        ("-P", &["-r2", "-P", "n", "1", "3", "echo {n}", "--export-json", "x.json"], |ran| {
            ran.column("command") == ["echo 1", "echo 2", "echo 3"]
        }),
        (
            "-P and -D",
            &[
                "-r2",
                "-P",
                "t",
                "0.001",
                "0.003",
                "-D",
                "0.001",
                "sleep {t}",
                "--export-json=x.json",
            ],
            |ran| ran.column("command") == ["sleep 0.001", "sleep 0.002", "sleep 0.003"],
        ),
        (
            "--parameter-scan, --parameter-step-size, shell arithmetic",
            &[
                "-r2",
                "--parameter-scan",
                "n",
                "-1",
                "1",
                "--parameter-step-size",
                "2",
                "test $((2+{n})) -gt 0",
                "--export-json",
                "x.json",
            ],
            |ran| is_done(ran) && ran.column("parameters")[0] == serde_json::json!({"n": "-1"}),
        ),
        (
            "parameters that a command does not mention",
            &["-r2", "-L", "x", "1,2", "true", "--export-markdown", "x.md"],
            |ran| ran.file("x.md").contains("`true (x = 2)`"),
        ),
        (
            "around launches",
            &[
                "-r1",
                "-w0",
                "-L",
                "x",
                "1,2",
                "cat {x}.txt",
                "-s",
                "touch {x}.txt",
                "-c",
                "rm {x}.txt",
            ],
            |ran| is_done(ran) && !ran.folder.path().join("1.txt").exists(),
        ),
        ("-L with -P", &["-L", "x", "1", "-P", "y", "1", "2", "true"], |ran| ran.code() == Some(2)),
        ("-D without -P", &["-D", "1", "true"], |ran| ran.code() == Some(2)),
        ("a name twice", &["-L", "x", "1", "-L", "x", "2", "true"], |ran| ran.code() == Some(2)),
    ]);
}

#[test]
fn names_and_references() {
    check(&[
        (
            "-n",
            &[
                "-r2",
                "-n",
                "one",
                "--command-name",
                "two",
                "true",
                "sh -c :",
                "--export-json=x.json",
            ],
            |ran| ran.column("command") == ["one", "two"],
        ),
        (
            "-n with a parameter",
            &["-r2", "-n", "with {x}", "-L", "x", "1,2", "echo {x}", "--export-json=x.json"],
            |ran| ran.column("command") == ["with 1", "with 2"],
        ),
        (
            "-n for each combination",
            &["-r2", "-n", "a", "-n", "b", "-L", "x", "1,2", "echo {x}", "--export-json=x.json"],
            |ran| ran.column("command") == ["a", "b"],
        ),
        ("too many -n", &["-n", "a", "-n", "b", "true"], |ran| {
            let said = "2 names are given, but there is 1 command; give each command one name";
            ran.code() == Some(2) && stderr(&ran.output).contains(said)
        }),
        (
            "--reference",
            &["-r2", "--reference", "sleep 0.02", "true", "--json", "--export-json", "x.json"],
            |ran| {
                let found: Value = serde_json::from_str(&stdout(&ran.output)).unwrap();
                ran.column("command") == ["sleep 0.02", "true"]
                    && found["effects"][0]["baseline"] == "sleep"
            },
        ),
        (
            "--reference-name",
            &["-r2", "--reference", "sh -c :", "--reference-name", "base", "true", "--json"],
            |ran| {
                serde_json::from_str::<Value>(&stdout(&ran.output)).unwrap()["effects"][0]["baseline"]
                    == "base"
            },
        ),
    ]);
}

#[test]
fn commands_around_launches() {
    const LOG: [&str; 4] =
        ["echo setup >> log", "echo prepare >> log", "echo conclude >> log", "echo cleanup >> log"];
    check(&[
        (
            "-s -p -C -c, in order",
            &[
                "-w1",
                "-r1",
                "-s",
                LOG[0],
                "-p",
                LOG[1],
                "-C",
                LOG[2],
                "-c",
                LOG[3],
                "echo run >> log",
            ],
            |ran| {
                let one = "prepare\nrun\nconclude\n";
                is_done(ran) && ran.file("log") == format!("setup\n{one}{one}cleanup\n")
            },
        ),
        (
            "--setup --prepare --conclude --cleanup, for two commands",
            &[
                "-w0",
                "-r2",
                "--setup",
                LOG[0],
                "--prepare",
                LOG[1],
                "--conclude",
                LOG[2],
                "--cleanup",
                LOG[3],
                "true",
                "sh -c :",
            ],
            |ran| {
                let log = ran.file("log");
                let one = "prepare\nconclude\n".repeat(4);
                log == format!("setup\n{one}cleanup\n") && stderr(&ran.output).contains("--setup")
            },
        ),
        (
            "-p once for each command",
            &["-w0", "-r1", "-p", "touch a", "-p", "touch b", "rm a", "rm b"],
            |ran| is_done(ran),
        ),
        ("-p for a wrong number", &["-p", "true", "-p", "true", "a", "b", "c"], |ran| {
            ran.code() == Some(2) && stderr(&ran.output).contains("--prepare is given 2 times")
        }),
        (
            "a server that --prepare starts",
            &["-r2", "-p", "sleep 9 & echo $! > pid", "sh -c 'kill -0 $(cat pid)'"],
            |ran| is_done(ran),
        ),
        ("a failing --prepare", &["-r2", "-p", "echo why >&2; exit 3", "true"], |ran| {
            let said = stderr(&ran.output);
            ran.code() == Some(4) && said.contains("exit code 3") && said.contains("| why")
        }),
        ("a failing --setup", &["-r2", "-s", "exit 3", "true"], |ran| {
            ran.code() == Some(4) && stderr(&ran.output).contains("--setup")
        }),
    ]);
}

#[test]
fn many_launches_with_commands_around_them_need_no_more_open_files() {
    let script = "ulimit -n 128; exec \"$0\" compare -w 0 -r 70 --style none \"$@\"";
    for words in
        [&["-p", "true", "-C", "true", "true"][..], &["sh -c 'exit $((HYPERFINE_ITERATION < 0))'"]]
    {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_headstart")]).args(words);
        command.env("XDG_CACHE_HOME", folder.path()).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    }
}

#[test]
fn failures() {
    check(&[
        ("none ignored", &["-r2", "exit 3"], |ran| ran.code() == Some(4)),
        ("-i", &["-i", "-r2", "exit 3", "--export-json", "x.json"], |ran| {
            is_done(ran) && ran.column("exit_codes")[0] == serde_json::json!([3, 3])
        }),
        ("--ignore-failure", &["--ignore-failure", "-r2", "exit 3"], |ran| is_done(ran)),
        ("-i=CODES", &["-i=1,3", "-r2", "exit 3"], |ran| is_done(ran)),
        ("-i=all-non-zero", &["-i=all-non-zero", "-r2", "exit 3"], |ran| is_done(ran)),
        ("--ignore-failure=CODES", &["--ignore-failure=1,2", "-r2", "exit 3"], |ran| {
            ran.code() == Some(4)
        }),
    ]);
}

#[test]
fn streams() {
    check(&[
        ("--input", &["-r2", "--input", "words", "sort", "--output", "./out"], |ran| {
            is_done(ran) && ran.file("out") == "a\nb\n"
        }),
        ("--input null", &["-r2", "--input", "null", "cat", "--output", "./out"], |ran| {
            is_done(ran) && ran.file("out").is_empty()
        }),
        ("no such --input", &["--input", "no", "cat"], |ran| ran.code() == Some(2)),
        (
            "--output pipe",
            &["-r2", "--output", "pipe", "sh -c 'test -p /dev/stdout && seq 99999'"],
            |ran| is_done(ran),
        ),
        ("--output null", &["-r2", "--output", "null", "sh -c 'test -c /dev/stdout'"], |ran| {
            is_done(ran)
        }),
        ("--output inherit", &["-r2", "--output", "inherit", "echo hello"], |ran| {
            stdout(&ran.output).starts_with("hello\n")
        }),
        (
            "--output for each",
            &["-r2", "--output", "./a", "--output", "./b", "echo 1", "echo 2"],
            |ran| ran.file("a") == "1\n" && ran.file("b") == "2\n",
        ),
        ("--output without a folder", &["--output", "out", "true"], |ran| {
            ran.code() == Some(2) && stderr(&ran.output).contains("./out")
        }),
        ("--show-output", &["-r2", "--show-output", "echo hello"], |ran| {
            stdout(&ran.output).starts_with("hello\n")
        }),
    ]);
}

#[test]
fn looks() {
    check(&[
        ("--style none", &["-r2", "--style", "none", "true", "exit 0"], |ran| {
            is_done(ran) && ran.output.stdout.is_empty() && ran.output.stderr.is_empty()
        }),
        ("--style color", &["-r2", "--style", "color", "true"], |ran| {
            stdout(&ran.output).contains('\u{1b}')
        }),
        ("--style full", &["-r2", "--style=full", "true"], |ran| {
            stdout(&ran.output).contains('\u{1b}')
        }),
        ("--style basic", &["-r2", "--style", "basic", "true"], |ran| {
            is_done(ran) && !stdout(&ran.output).contains('\u{1b}')
        }),
        ("--style nocolor", &["-r2", "--style", "nocolor", "true"], |ran| {
            is_done(ran) && !stdout(&ran.output).contains('\u{1b}')
        }),
        ("--style auto", &["-r2", "--style", "auto", "true"], |ran| {
            is_done(ran) && !stdout(&ran.output).contains('\u{1b}')
        }),
        (
            "-u second",
            &["-r2", "-u", "second", "true", "sh -c :", "--export-markdown=x.md"],
            |ran| {
                stdout(&ran.output).contains("times in s ") && ran.file("x.md").contains("Mean [s]")
            },
        ),
        (
            "--time-unit millisecond",
            &["-r2", "--time-unit", "millisecond", "true", "sh -c :"],
            |ran| stdout(&ran.output).contains("times in ms "),
        ),
        ("-u microsecond", &["-r2", "-u", "microsecond", "true", "sleep 0.01"], |ran| {
            stdout(&ran.output).contains("times in µs ")
        }),
        (
            "--sort mean-time",
            &["-r2", "--sort", "mean-time", "sleep 0.3", "true", "--export-markdown=x.md"],
            |ran| {
                let table = ran.file("x.md");
                let rows: Vec<&str> = table.lines().skip(2).collect();
                rows[0].contains("`true`")
                    && rows[0].ends_with("1.00 |")
                    && rows[1].contains("sleep")
            },
        ),
        (
            "--sort command",
            &["-r2", "--sort", "command", "sleep 0.03", "true", "--export-orgmode=x.org"],
            |ran| {
                ran.file("x.org").find("=sleep").unwrap()
                    < ran.file("x.org").find("=true=").unwrap()
            },
        ),
        (
            "--sort auto",
            &["-r2", "--sort", "auto", "sleep 0.03", "true", "--export-csv=x.csv"],
            |ran| ran.file("x.csv").lines().nth(1).unwrap().starts_with("sleep 0.03,"),
        ),
    ]);
}

#[test]
fn exports() {
    check(&[
        ("--export-json", &["-r2", "true", "--export-json", "x.json"], |ran| ran.runs() == [2]),
        (
            "the old name of --export-json",
            &["-r2", "true", "--export-hyperfine", "x.json"],
            |ran| ran.runs() == [2],
        ),
        ("--export-csv", &["-r2", "-L", "x", "1,2", "echo {x}", "--export-csv", "x.csv"], |ran| {
            let table = ran.file("x.csv");
            let head = "command,mean,stddev,median,user,system,min,max,parameter_x\n";
            table.starts_with(head) && table.lines().nth(2).unwrap().ends_with(",2")
        }),
        ("--export-markdown", &["-r2", "true", "--export-markdown", "x.md"], |ran| {
            let table = ran.file("x.md");
            table.starts_with("| Command | Mean [")
                && table.contains("|:---|---:|---:|---:|---:|\n| `true` |")
        }),
        ("--export-asciidoc", &["-r2", "true", "--export-asciidoc", "x.adoc"], |ran| {
            ran.file("x.adoc").starts_with("[cols=\"<,>,>,>,>\"]\n|===\n| Command \n| Mean [")
        }),
        ("--export-orgmode", &["-r2", "true", "--export-orgmode", "x.org"], |ran| {
            ran.file("x.org").contains("|--+--+--+--+--|\n| =true=  |  ")
        }),
        (
            "a folder that is not there is said before anything is launched",
            &["-r2", "-s", "touch launched", "true", "--export-json", "gone/x.json"],
            |ran| {
                let text = stderr(&ran.output);
                let said = text.contains("gone/x.json: its folder does not exist; create it");
                ran.code() == Some(6) && said && !ran.folder.path().join("launched").exists()
            },
        ),
        ("- is standard output", &["-r2", "true", "--style=none", "--export-json", "-"], |ran| {
            let file: Value = serde_json::from_str(&stdout(&ran.output)).unwrap();
            file["results"][0]["command"] == "true"
        }),
    ]);
}

#[test]
fn all_together() {
    check(&[(
        "as in a script",
        &[
            "--warmup",
            "1",
            "--min-runs",
            "3",
            "--max-runs",
            "4",
            "--shell=none",
            "-i=1",
            "--parameter-list",
            "program",
            "true,false",
            "--command-name",
            "{program}",
            "--setup",
            "touch {program}.made",
            "--cleanup",
            "rm {program}.made",
            "--prepare",
            "test -e {program}.made",
            "--style",
            "basic",
            "--sort",
            "mean-time",
            "--time-unit",
            "millisecond",
            "--input",
            "null",
            "--output",
            "pipe",
            "--export-json",
            "x.json",
            "--export-csv",
            "x.csv",
            "--export-markdown",
            "x.md",
            "{program}",
        ],
        |ran| {
            is_done(ran)
                && ran.column("command") == ["true", "false"]
                && ran.column("exit_codes")[1] == serde_json::json!([1, 1, 1, 1])
                && ran.file("x.md").contains("Mean [ms]")
                && !ran.folder.path().join("true.made").exists()
        },
    )]);
}

/// The number of variants of a run, and the command of the first.
fn measured(words: &[&str]) -> (usize, String) {
    let ran = Ran::verb("measure", &[&["-r2", "--json"], words].concat());
    assert!(is_done(&ran), "{words:?}: {}", stderr(&ran.output));
    let found: Value = serde_json::from_str(&stdout(&ran.output)).unwrap();
    let variants = found["variants"].as_array().unwrap();
    (variants.len(), variants[0]["command"].as_str().unwrap().to_owned())
}

#[test]
fn measure_takes_words_or_lines() {
    let one = |command: &str| (1, command.to_owned());
    assert_eq!(measured(&["sh", "-c", "exit 0"]), one("sh -c 'exit 0'"));
    assert_eq!(measured(&["sh -c 'exit 0'"]), one("sh -c 'exit 0'"));
    assert_eq!(measured(&["true", "a b", "c"]), one("true 'a b' c"));
    assert_eq!(measured(&["sh -c :", "true"]), (2, "sh -c :".to_owned()));
    // Options may stand behind lines, as in hyperfine; behind words they are the program's.
    assert_eq!(measured(&["sh -c :", "true", "--warmup", "0"]), (2, "sh -c :".to_owned()));
    assert_eq!(measured(&["true", "--warmup", "0"]), one("true --warmup 0"));
    // Options that make sense for lines alone.
    assert_eq!(measured(&["-L", "x", "1,2", "true", "sh -c 'test {x}'"]).0, 4);
    assert_eq!(measured(&["-n", "a", "-n", "b", "true", "false", "-i"]), (2, "true".to_owned()));
    assert_eq!(measured(&["-S", "sh", "true"]), one("sh -c true"));
    assert_eq!(measured(&["--reference", "sh", "true"]), (2, "sh".to_owned()));
}

/// A file whose name has spaces is a program, not a line.
#[test]
fn a_program_with_spaces_in_its_name_is_words() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("my program");
    std::os::unix::fs::symlink(Path::new("/bin/true"), &program).unwrap();
    let program = program.to_str().unwrap();
    let (count, command) = measured(&[program, "x"]);
    assert_eq!((count, command), (1, format!("'{program}' x")));
}
