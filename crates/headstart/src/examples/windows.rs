//! Command lines for Windows, where those for Linux would not work.

/// Command lines of `headstart --help`, and what they do.
pub const FIRST: [(&str, &str); 4] = [
    ("generate pietrek --format pe --out dlls", "a program with ten DLLs to try things on"),
    ("pe survey dlls", "how the DLLs in a folder affect each other"),
    (r"pe hints --out mended dlls\*", "repairs import hints, and writes the files to mended"),
    (r"inspect dlls\LoadTimeTest.exe", "what a program contains"),
];

/// Something to work on.
const DLLS: &str = "headstart generate pietrek --format pe --out dlls";

/// The lines of a verb, in the order in which they are to be typed.
pub fn of_verb(verb: &str) -> Option<&'static [&'static str]> {
    Some(match verb {
        "measure" => &[
            "headstart measure cmd /c exit",
            "headstart measure --until output:Windows cmd /c ver",
        ],
        "compare" => &[r#"headstart compare "cmd /c exit" "cmd /d /c exit""#],
        "explain" => &["headstart explain cmd /c exit"],
        "trace" => &[
            "headstart trace --out cmd.trace -- cmd /c exit",
            "headstart trace --functions -- cmd /c exit",
            "headstart trace --export openoffice cmd.trace",
        ],
        "load" => {
            &["echo user32.dll> list.txt", "echo ole32.dll>> list.txt", "headstart load list.txt"]
        }
        "inspect" => &[
            DLLS,
            r"headstart inspect dlls\LoadTimeTest.exe",
            r"headstart inspect --json dlls\LoadTimeTest.exe",
        ],
        "identify" => &[DLLS, "headstart identify dlls", r"headstart identify --is pe dlls\*.dll"],
        "simulate" => {
            &["headstart generate shape chain --n 3 --out chain", r"headstart simulate chain\main"]
        }
        "generate" => &[DLLS, r"headstart inspect dlls\LoadTimeDLL_1.dll"],
        "scale" => &[
            "headstart scale dawson --functions 0,100,200,400 --runs 5",
            "headstart scale pietrek --dlls 0,10,20,40 --runs 5",
        ],
        "experiment" => &["headstart experiment pietrek --dlls 2 --functions 10 --runs 10"],
        "rebase" => &[DLLS, r"headstart pe rebase --out rebased dlls\*.dll"],
        "bind" => &[
            DLLS,
            r"headstart pe rebase --out rebased dlls\*.dll dlls\*.exe",
            r"headstart pe bind --out bound rebased\*",
        ],
        "unbind" => &[
            DLLS,
            r"headstart pe bind --out bound dlls\*.dll dlls\*.exe",
            r"headstart pe unbind --out unbound bound\*",
        ],
        "hints" => &[
            "headstart generate pietrek --format pe --hints zero --out dlls",
            r"headstart pe hints --out mended dlls\*.exe dlls\*.dll",
        ],
        "ordinal" | "verify" => {
            &[DLLS, r"headstart pe ordinal --out by-ordinal dlls\*", "headstart verify by-ordinal"]
        }
        "realign" => &[DLLS, r"headstart pe realign --out aligned dlls\*.dll"],
        "flags" => &[
            DLLS,
            r"headstart pe flags dlls\*.exe",
            r"headstart pe flags --set nxcompat --out set dlls\*.exe",
        ],
        "no-pie" => &[
            "headstart generate pietrek --format elf --out elf",
            r"headstart elf no-pie --out elf\fixed elf\LoadTimeTest",
        ],
        // Their files are programs of others: headstart generates none for them.
        "relr" | "order-needed" | "selfbind" | "write" => &[],
        _ => return None,
    })
}
