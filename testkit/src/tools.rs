//! The tools that tests and checks use, and the Debian packages that hold them.

/// A program of another project, and what it is here for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Name of the program, found along `PATH`; or the path of a file that is no program.
    pub name: &'static str,
    /// Debian package that holds it.
    pub package: &'static str,
    /// Who needs it.
    pub need: Need,
    /// What for.
    pub why: &'static str,
}

/// Who needs a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Tests; `cargo xtask test` installs it.
    Tests,
    /// Tests use it where it is installed, and `cargo xtask check-real` installs it: too large
    /// for every machine.
    Checks,
}

use Need::{Checks, Tests};

const fn tool(name: &'static str, package: &'static str, need: Need, why: &'static str) -> Tool {
    Tool { name, package, need, why }
}

/// Every tool. A package stands here only while something uses it.
pub const TOOLS: &[Tool] = &[
    tool("cc", "gcc libc6-dev", Tests, "builds the small programs of the tests"),
    tool("gcc", "gcc libc6-dev", Tests, "builds programs by options that only gcc has"),
    tool("g++", "g++", Tests, "builds the C++ cases of ELF rewriting"),
    tool("ld.bfd", "binutils", Tests, "links the cases of ELF rewriting"),
    tool("ld.lld-19", "lld-19", Tests, "links them in its own way"),
    tool("ld.gold", "binutils", Tests, "writes maps in its own way"),
    tool("ld64.lld-19", "lld-19", Tests, "reads orders of functions for macOS"),
    tool("llvm-nm-19", "llvm-19", Tests, "tells the order of functions in files for macOS"),
    tool("llvm-objcopy-19", "llvm-19", Tests, "a second reader of orders that rename sections"),
    tool("mold", "mold", Tests, "links them in its own way"),
    tool("strip", "binutils", Tests, "what rewritten files must survive"),
    tool("llvm-strip-19", "llvm-19", Tests, "what rewritten files must survive"),
    tool("objcopy", "binutils", Tests, "what bundles must survive"),
    tool("objdump", "binutils", Tests, "a third reader of PE images"),
    tool("addr2line", "binutils", Tests, "names of functions in bundles"),
    tool("unshare", "util-linux", Tests, "mounts of its own for a test"),
    tool("setcap", "libcap2-bin", Tests, "programs with capabilities"),
    tool("patchelf", "patchelf", Tests, "what rewritten files must survive"),
    tool("readelf", "binutils", Tests, "the oracle of everything inspect counts"),
    tool("llvm-readobj-19", "llvm-19", Tests, "a second reader of emitted images"),
    tool("lld-link-19", "lld-19", Tests, "links PE images that emitted ones are held against"),
    tool("osslsigncode", "osslsigncode", Tests, "signs PE images, and removes signatures"),
    tool("sn", "mono-devel", Checks, "judges strong names of .NET assemblies"),
    tool("openssl", "openssl", Tests, "makes the certificate that they are signed with"),
    tool("llvm-dlltool-19", "llvm-19", Tests, "import libraries of the PE images that tests build"),
    tool(
        "x86_64-w64-mingw32-gcc",
        "gcc-mingw-w64-x86-64-win32",
        Tests,
        "builds PE images with a C library",
    ),
    tool(
        "x86_64-w64-mingw32-g++",
        "g++-mingw-w64-x86-64-win32",
        Tests,
        "builds PE images with C++ names and exceptions",
    ),
    tool("i686-w64-mingw32-g++", "g++-mingw-w64-i686-win32", Tests, "builds these for 32 bits"),
    tool("i686-w64-mingw32-gcc", "gcc-mingw-w64-i686-win32", Tests, "builds them for 32 bits"),
    tool("file", "file", Checks, "the peer and oracle of identify"),
    tool("wine64", "wine64", Tests, "runs emitted PE images"),
    tool("setpriv", "util-linux", Tests, "tests as a user without privileges"),
    tool("setarch", "util-linux", Tests, "launches without randomised addresses"),
    tool("kill", "procps", Tests, "signals from outside, as a user sends them"),
    tool("valgrind", "valgrind", Tests, "counts the instructions of launches"),
    tool("strace", "strace", Tests, "the oracle of recorded file-system calls"),
    tool("musl-gcc", "musl-tools libc6-dev", Tests, "programs of another C library and loader"),
    tool("go", "golang-go", Tests, "programs that use no C library at all"),
    tool("python3", "python3-minimal", Tests, "an interpreter; serves a port in tests of --until"),
    tool("git", "git", Tests, "a small real program, the same everywhere"),
    tool("emacs", "emacs-nox", Tests, "a program with a large image of its own to load"),
    tool("clang-19", "clang-19", Tests, "a program with very many relocations"),
    tool("clang++-19", "clang-19", Tests, "builds the C++ cases of ELF rewriting"),
    tool("llvm-profdata-19", "llvm-19 libclang-rt-19-dev", Tests, "the oracle of .proftext files"),
    tool("uftrace", "uftrace", Tests, "a recorder whose data is read"),
    tool("nm", "binutils", Tests, "the oracle of linkers' maps, and read itself"),
    tool("cmake", "cmake", Tests, "builds programs with orders of functions"),
    tool("meson", "meson", Tests, "builds them in its own way"),
    tool("ninja", "ninja-build", Tests, "builds what cmake and meson have planned"),
    tool("make", "make", Tests, "builds them, too"),
    tool("inkscape", "inkscape", Checks, "a program with over a hundred libraries"),
    tool("soffice", "libreoffice-writer", Checks, "a script that starts a chain of programs"),
    tool("chromium", "chromium", Checks, "a very large image; many processes"),
    tool("perl", "perl-base", Checks, "an interpreter with modules in C"),
    tool("node", "nodejs", Checks, "a program at fixed addresses that makes code"),
    tool("gdb", "gdb", Checks, "a program with an interpreter inside"),
    tool("redis-server", "redis-server", Checks, "a server measured until its port answers"),
    tool("sccainfo", "libscca-utils", Tests, "the oracle of Windows' prefetch files"),
    tool("mksquashfs", "squashfs-tools", Tests, "a read-only file system to launch from"),
    tool("mkfs.btrfs", "btrfs-progs", Checks, "a compressed file system to launch from"),
    tool(
        "debootstrap",
        "debootstrap",
        Checks,
        "root file systems for bundles and installed programs",
    ),
    tool("rsync", "rsync", Checks, "copies such a root as administrators do"),
    tool("pip3", "python3-venv python3-pip", Checks, "packages with real PE files, and pefile"),
    tool("mvn", "maven", Checks, "a package with PE files for ARM"),
    tool(
        "/usr/lib/llvm-19/lib/libclangFrontendTool.a",
        "libclang-19-dev llvm-19-dev libpolly-19-dev llvm-19 libzstd-dev zlib1g-dev",
        Checks,
        "a program of 176,000 functions that is linked again in any order",
    ),
    tool(
        "/usr/lib/python3/dist-packages/numpy/__init__.py",
        "python3-numpy",
        Checks,
        "a package of many modules",
    ),
    tool("vmtouch", "vmtouch", Checks, "a peer of prefetch, which reads whole files"),
    tool("losetup", "mount", Checks, "a disk of its own for cold launches"),
    tool("mkfs.ext4", "e2fsprogs", Checks, "the file system on it"),
    tool("hyperfine", "hyperfine", Checks, "the peer whose figures stand beside ours"),
];

/// The tool of that name, if it is one of [`TOOLS`].
pub fn known(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_listed_once() {
        for (index, tool) in TOOLS.iter().enumerate() {
            assert_eq!(TOOLS.iter().position(|other| other.name == tool.name), Some(index));
            assert_eq!(known(tool.name), Some(tool));
        }
        assert_eq!(known("no-such-tool"), None);
    }
}
