//! What is launched: six programs, each at a start that ends at once, and at real work.

/// A launch.
pub struct Task {
    /// Short, unique, and good as the name of a file.
    pub name: &'static str,
    /// The command; `HOME` stands for the folder in which it finds and leaves its files.
    pub words: &'static [&'static str],
    /// Name and content of a file in that folder.
    pub input: Option<(&'static str, &'static str)>,
}

const fn start(name: &'static str, words: &'static [&'static str]) -> Task {
    Task { name, words, input: None }
}

/// Starts that end at once.
pub const STARTS: [Task; 6] = [
    start("emacs", &["emacs", "--batch", "-Q", "--eval", "(kill-emacs)"]),
    start("chromium", &["chromium", "--version", "--no-sandbox"]),
    start("soffice", &["soffice", "--version"]),
    start("inkscape", &["inkscape", "--version"]),
    start("clang", &["clang-19", "--version"]),
    start("python", &["/usr/bin/python3", "-c", "import numpy"]),
];

/// What is bundled: a program, not the script that starts it.
pub const BUNDLED: Task =
    start("chromium-itself", &["/usr/lib/chromium/chromium", "--no-sandbox", "--version"]);

const DRAWING: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='200' height='200'>\
    <circle cx='90' cy='90' r='70' fill='red'/>\
    <text x='20' y='180' font-size='24'>headstart</text></svg>";
const ELISP: &str = "(require 'json) (require 'org)\n\
    (defun f (x) (json-encode (list x)))\n\
    (byte-compile 'f) (princ (f 1))\n";
const CPP: &str = "#include <string>\n#include <vector>\n\
    int f(const std::vector<std::string> &all) { return all.at(0).size(); }\n";
const PAGE: &str = "<p id=a>one</p><script>document.getElementById('a').textContent = \
    [1, 2, 3].map(n => n * n).join()</script>";
const PYTHON: &str = "import json, numpy, sqlite3\n\
    a = numpy.arange(12.0).reshape(3, 4)\n\
    print(json.dumps(numpy.linalg.svd(a)[1].tolist()), sqlite3.sqlite_version)\n";

/// Real work in a home in which the program has never been.
pub const WORKS: [Task; 6] = [
    Task {
        name: "emacs-compile",
        words: &["emacs", "--batch", "-Q", "-l", "HOME/in.el"],
        input: Some(("in.el", ELISP)),
    },
    Task {
        name: "chromium-page",
        words: &[
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--dump-dom",
            "file://HOME/in.html",
        ],
        input: Some(("in.html", PAGE)),
    },
    Task {
        name: "soffice-pdf",
        words: &["soffice", "--headless", "--convert-to", "pdf", "--outdir", "HOME", "HOME/in.txt"],
        input: Some(("in.txt", "A text\nof two lines.\n")),
    },
    Task {
        name: "inkscape-png",
        words: &["inkscape", "--export-type=png", "--export-filename=HOME/out.png", "HOME/in.svg"],
        input: Some(("in.svg", DRAWING)),
    },
    Task {
        name: "clang-object",
        words: &["clang-19", "-x", "c++", "-O2", "-c", "HOME/in.cc", "-o", "HOME/out.o"],
        input: Some(("in.cc", CPP)),
    },
    Task {
        name: "python-script",
        words: &["/usr/bin/python3", "HOME/in.py"],
        input: Some(("in.py", PYTHON)),
    },
];

/// The Debian packages of all of them, and of what they are compared with.
pub const PACKAGES: [&str; 10] = [
    "emacs-nox",
    "chromium",
    "libreoffice-writer",
    "inkscape",
    "clang-19",
    "libstdc++-12-dev",
    "python3-numpy",
    "vmtouch",
    "util-linux",
    "bash",
];
