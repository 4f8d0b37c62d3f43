# link.sh ORDER OUT: links `clang -cc1`, with the functions that ORDER lists in front.
set -e
folder=$(dirname "$0")
. "$folder/linker.sh"
# As Debian links its own. The archives need each other in circles, which ld.lld resolves by itself.
# shellcheck disable=SC2046
exec clang++-19 --ld-path="$(linker)/ld.lld" -pie -Wl,--gc-sections -Wl,--build-id=sha1 -Wl,-z,now \
    -Wl,--symbol-ordering-file="$1" -Wl,--no-warn-symbol-ordering -o "$2" "$folder/main.o" \
    -L/usr/lib/llvm-19/lib $(cat "$folder/libraries")
