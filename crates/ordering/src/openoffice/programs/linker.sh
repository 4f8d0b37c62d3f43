# Where ld.lld is, by that name, for -B of a compiler.
linker() {
    for folder in "$(dirname "$(command -v ld.lld || echo /nowhere/ld.lld)")" $(ls -d /usr/lib/llvm-*/bin 2>/dev/null | sort -V -r); do
        if [ -x "$folder/ld.lld" ]; then
            echo "$folder"
            return
        fi
    done
    echo "there is no ld.lld: apt-get install lld" >&2
    exit 1
}
