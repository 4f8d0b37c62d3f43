//! The pieces of work: programs with inputs that use what matters in a merged file, such as
//! exceptions, plug-ins, extension modules and processes of several kinds.

/// A piece of work. It runs in a folder with nothing but its input.
pub struct Work {
    pub program: &'static str,
    pub arguments: &'static [&'static str],
    /// Name and content of a file that it reads.
    pub input: (&'static str, &'static str),
    /// A file that it makes; what it prints is compared in any case.
    pub output: Option<&'static str>,
}

const DRAWING: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='200' height='200'>\
    <defs><linearGradient id='g'><stop stop-color='red'/><stop offset='1' stop-color='blue'/>\
    </linearGradient><filter id='f'><feGaussianBlur stdDeviation='3'/></filter></defs>\
    <circle cx='90' cy='90' r='70' fill='url(#g)' filter='url(#f)'/>\
    <text x='20' y='180' font-size='24'>headstart</text></svg>";
const CPP: &str = "#include <stdexcept>\n#include <string>\n#include <vector>\n\
    struct Wrong : std::runtime_error { using std::runtime_error::runtime_error; };\n\
    int at(const std::vector<std::string> &all, unsigned n) {\n\
    try { if (n >= all.size()) throw Wrong(\"far\"); return all[n].size(); }\n\
    catch (const Wrong &wrong) { return -1; } catch (const std::exception &) { throw; } }\n";
const PAGE: &str = "<p id=a>one</p><script>document.getElementById('a').textContent = \
    [1, 2, 3].map(n => n * n).join() + new Intl.NumberFormat('de').format(1234.5)</script>";
const PYTHON: &str = "import bz2, ctypes, decimal, hashlib, json, lzma, sqlite3, ssl, zlib\n\
    db = sqlite3.connect(':memory:')\n\
    print(ssl.OPENSSL_VERSION, db.execute('select sqlite_version(), 6 * 7').fetchall())\n\
    print(json.dumps({'a': decimal.Decimal(1).sqrt().__str__()}), hashlib.sha256(b'a').hexdigest())\n\
    data = bytes(range(256)) * 99\n\
    print(all(m.decompress(m.compress(data)) == data for m in (bz2, lzma, zlib)))\n\
    print(ctypes.CDLL('libm.so.6').abs(-3), ssl.create_default_context().verify_mode)\n";
const PERL: &str = "use POSIX; use Data::Dumper; use Digest::SHA 'sha256_hex'; use List::Util 'sum';\n\
    use Storable 'dclone'; use Encode; $Data::Dumper::Sortkeys = 1;\n\
    print sha256_hex('a'), ' ', sum(1 .. 9), ' ', POSIX::floor(2.5), \"\\n\";\n\
    print Dumper(dclone({a => [1, encode('UTF-8', \"\\x{e9}\")]})), eval { die \"caught\\n\" } // $@;\n";
const NODE: &str = "const z = require('zlib'), c = require('crypto');\n\
    console.log(z.gunzipSync(z.gzipSync('text')).toString(), [1, 2].map(n => n * n));\n\
    console.log(c.createHash('sha256').update('a').digest('hex'), new Intl.NumberFormat('de').format(1e6));\n\
    try { JSON.parse('{') } catch (e) { console.log(e.name) }\n";
const ELISP: &str = "(require 'json) (require 'xml)\n\
    (princ (json-encode '((a . [1 2 3]) (b . \"x\"))))\n\
    (princ (secure-hash 'sha256 \"a\"))\n\
    (princ (condition-case e (car 1) (error (format \"%S\" e))))\n\
    (with-temp-buffer (insert \"<a><b/></a>\") (princ (xml-parse-region (point-min) (point-max))))\n";

/// All of them.
pub const WORKS: [Work; 9] = [
    Work {
        program: "inkscape",
        arguments: &["--export-type=png", "--export-filename=out.png", "in.svg"],
        input: ("in.svg", DRAWING),
        output: Some("out.png"),
    },
    Work {
        program: "clang-19",
        arguments: &["--driver-mode=g++", "-O2", "-c", "in.cc", "-o", "out.o"],
        input: ("in.cc", CPP),
        output: Some("out.o"),
    },
    Work {
        program: "/usr/lib/chromium/chromium",
        arguments: &[
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--user-data-dir=profile",
            "--dump-dom",
            "in.html",
        ],
        input: ("in.html", PAGE),
        output: None,
    },
    Work {
        program: "/usr/lib/libreoffice/program/soffice.bin",
        arguments: &[
            "--headless",
            "-env:UserInstallation=file://FOLDER/profile",
            "--convert-to",
            "pdf",
            "in.txt",
        ],
        input: ("in.txt", "A text\nof two lines: äöü.\n"),
        output: Some("in.pdf"),
    },
    Work {
        program: "emacs",
        arguments: &["--batch", "-Q", "-l", "in.el"],
        input: ("in.el", ELISP),
        output: None,
    },
    Work {
        program: "/usr/bin/python3",
        arguments: &["in.py"],
        input: ("in.py", PYTHON),
        output: None,
    },
    Work {
        program: "git",
        arguments: &["diff", "--no-index", "--stat", "--patch", "/etc/passwd", "in"],
        input: ("in", "root:x:0:0\n"),
        output: None,
    },
    Work { program: "perl", arguments: &["in.pl"], input: ("in.pl", PERL), output: None },
    Work { program: "node", arguments: &["in.js"], input: ("in.js", NODE), output: None },
];
