# prepare.sh FOLDER: makes the folder, which does not exist yet, of vim's source, downloaded from Debian and compiled
# with every function in a section of its own. apt's own sources are read; nothing of apt is changed.
set -e
folder=$1
new=$folder.new.$$
trap 'rm -rf "$new"' EXIT
trap 'exit 130' INT TERM

fail() {
    echo "$1" >&2
    exit 1
}
need() {
    command -v "$1" >/dev/null || fail "vim cannot be built without $1: apt-get install $2"
}
# What fails quietly is told in the end.
quietly() {
    "$@" >>"$new/log" 2>&1 || { tail -n 15 "$new/log" >&2; fail "failed: $*"; }
}
need apt-get apt
need dpkg-source dpkg-dev
need make make
need gcc gcc
echo '#include <curses.h>' | gcc -E - >/dev/null 2>&1 ||
    fail "vim cannot be built without curses.h: apt-get install libncurses-dev"

mkdir -p "$new/apt/parts" "$new/apt/lists" "$new/apt/cache" "$new/objects"
cd "$new"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] || continue
    sed 's/^Types:.*/Types: deb-src/; s/^deb /deb-src /' "$file" >"apt/parts/${file##*/}"
    # apt reads no file of this name there.
    [ "${file##*/}" != sources.list ] || mv apt/parts/sources.list apt/parts/main.list
done
apt() {
    apt-get -q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$new/apt/parts" \
        -o "Dir::State::lists=$new/apt/lists" -o "Dir::Cache=$new/apt/cache" \
        -o APT::Sandbox::User="$(id -un)" "$@"
}
quietly apt update
quietly apt source vim
cd vim-*/
quietly ./configure -q CFLAGS='-O2 -ffunction-sections' --with-features=huge --enable-gui=no \
    --without-x --disable-gpm --disable-selinux --disable-canberra --disable-libsodium \
    --disable-acl --disable-nls --disable-netbeans --with-compiledby=headstart
quietly make -C src -j "$(nproc)"
sed -n "s/^LIBS[[:space:]]*=[[:space:]]*//p" src/auto/config.mk >"$new/libraries"
cp src/objects/*.o "$new/objects"
mv runtime "$new/runtime"
cd "$new"
rm -rf apt vim-* vim_* log
mv "$new" "$folder"
