# prepare.sh FOLDER: makes the folder, which does not exist yet, of what `clang -cc1` is linked from:
# clang's and LLVM's static archives, as Debian packs them, stay where they are.
set -e
folder=$1
new=$folder.new.$$
trap 'rm -rf "$new"' EXIT
trap 'exit 130' INT TERM
llvm=/usr/lib/llvm-19

[ -f "$llvm/lib/libclangFrontendTool.a" ] && [ -f "$llvm/lib/libPolly.a" ] &&
    command -v clang++-19 >/dev/null || {
    echo "clang's archives are missing: apt-get install clang-19 libclang-19-dev llvm-19-dev libpolly-19-dev libzstd-dev zlib1g-dev" >&2
    exit 1
}
mkdir -p "$new"
cp "$(dirname "$0")"/*.c "$(dirname "$0")"/*.cpp "$new"
clang++-19 -c -O2 -std=c++17 -ffunction-sections -fdata-sections -D__STDC_CONSTANT_MACROS \
    -D__STDC_LIMIT_MACROS -I "$llvm/include" "$new/main.cpp" -o "$new/main.o"
# Those of clang's run-time libraries have small letters, or another place.
for archive in "$llvm"/lib/libclang[A-Z]*.a; do
    name=${archive##*/lib}
    echo "-l${name%.a}"
done >"$new/libraries"
"$llvm/bin/llvm-config" --link-static --libs --system-libs all >>"$new/libraries"
mv "$new" "$folder"
