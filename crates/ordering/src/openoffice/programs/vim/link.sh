# link.sh ORDER OUT: links vim, with the functions that ORDER lists in front.
set -e
folder=$(dirname "$0")
. "$folder/linker.sh"
# shellcheck disable=SC2046
exec gcc -B "$(linker)" -fuse-ld=lld -Wl,--build-id -Wl,-z,now -Wl,--symbol-ordering-file="$1" \
    -Wl,--no-warn-symbol-ordering -o "$2" "$folder"/objects/*.o $(cat "$folder/libraries")
