//! What the preamble's assembly and its Rust share: structs, kinds of records, and functions.
//!
//! There is no second list. The assembly knows the offset of a field by the names of the struct and
//! the field (`Header_must`), the size of a struct (`Header_SIZE`), a kind (`KIND_ENTER`), the number
//! of a function's slot (`SLOT_dlopen`), and the directory comes from the same list of functions.

use std::mem::offset_of;

const _: () = assert!(
    offset_of!(Look, path) == offset_of!(Part, path)
        && offset_of!(Look, modified_nanoseconds) == offset_of!(Part, modified_nanoseconds),
    "the code opens both in one way"
);

shared! {
    structs {
        /// Right behind the code; behind it is a slot for each function. A list is the offset of its
        /// first item and the number of items. Offsets count from the preamble's first byte.
        Header {
            original: u64,
            original_length: u64,
            /// The original's name without its folder.
            original_base: u64,
            /// The original's path with links followed.
            file: u64,
            file_length: u64,
            file_base: u64,
            /// What is started where the bundle is stale; 0 where that is the original by its own path.
            instead: u64,
            /// What that file has to be for a program that executes itself: one of the kinds.
            file_kind: u64,
            file_inode: u64,
            file_size: u64,
            file_modified_seconds: i64,
            file_modified_nanoseconds: i64,
            /// Where the bundle's file begins.
            image: i64,
            own_name: u64,
            variables: u64,
            variable_count: u64,
            must: u64,
            must_count: u64,
            hints: u64,
            hint_count: u64,
            all: u64,
            all_count: u64,
            /// Names in the loader's cache, which count where all records do.
            cached: u64,
            cached_count: u64,
            builds: u64,
            build_count: u64,
            /// What is said where the bundle is used.
            used: u64,
            relro: u64,
            relro_count: u64,
            names: i64,
            dynamic: i64,
            program: i64,
            initializers: i64,
            initializer_count: u64,
            finalizers: i64,
            finalizer_count: u64,
            finish: i64,
            /// Stubs of functions outside, each of 32 bytes, and the table through which they jump.
            stubs: i64,
            stub_count: u64,
            stub_table: i64,
            /// What the first entries of the table are to be, and the libraries that have it.
            fills: u64,
            fill_count: u64,
            fill_libraries: u64,
            fill_library_count: u64,
            /// Pages with the table.
            table_pages: i64,
            table_bytes: u64,
            /// The bundle's dynamic table, and where the program has the value of DT_DEBUG.
            debug: i64,
            debug_copy: i64,
            modules: u64,
            module_count: u64,
            carried: u64,
            carried_count: u64,
            /// What a tool of a toolchain has: other names, programs that are bundles beside it, and what
            /// LD_LIBRARY_PATH may lead to.
            named: u64,
            named_count: u64,
            companions: u64,
            companion_count: u64,
            searched: u64,
            searched_count: u64,
            /// 1 where a first argument that begins with a plus sign chooses another program.
            chosen_by_argument: u64,
            plugins: u64,
            plugin_count: u64,
            plugin_files: u64,
            plugin_file_count: u64,
            /// Names for the loader of what was merged in those files.
            plugin_chains: i64,
            /// How many modules the global scope has, while nothing is opened into it.
            scope: u64,
            /// `dl_iterate_phdr` within the C library.
            iterate: u64,
            /// What is read ahead, or 0.
            ahead: i64,
            /// Pages that these write to, which are copied before; the first ones are large pages.
            written: i64,
            written_count: u64,
            written_large_count: u64,
            /// Pages that a recorded launch used: first those that are only read.
            recorded: i64,
            recorded_read_count: u64,
            recorded_written_count: u64,
            /// Packed relocations that the preamble applies, and their words.
            packed: i64,
            packed_count: u64,
            /// The preamble's own address before the bundle is moved.
            own_address: u64,
        }

        /// What is read ahead; it is elsewhere in the bundle, and offsets of lists count from here.
        Ahead {
            samples: u64,
            sample_count: u64,
            looks: u64,
            look_count: u64,
            parts: u64,
            part_count: u64,
            /// How many of them are asked for before the program goes on.
            before_count: u64,
        }

        /// A page that tells whether the bundle is in memory: where it is mapped, and in the file.
        Sample {
            offset: i64,
            file_offset: u64,
        }

        /// A byte of another file that tells whether that is in memory. It begins as a `Part` does.
        Look {
            path: u64,
            inode: u64,
            size: u64,
            modified_seconds: i64,
            modified_nanoseconds: i64,
            file_offset: u64,
        }

        /// Ranges of the bundle's file, or of another one if it is still this one.
        Part {
            /// 0 for that of the bundle, of which nothing else is told.
            path: u64,
            inode: u64,
            size: u64,
            modified_seconds: i64,
            modified_nanoseconds: i64,
            ranges: u64,
            range_count: u64,
        }

        /// A variable of the environment.
        Variable {
            name_with_equals_sign: u64,
            name: u64,
            expected: u64,
            /// 1 where it must be there.
            is_expected: u64,
        }

        /// What must be at a path; or a folder to enter.
        Record {
            path: u64,
            kind: u32,
            /// How much of the whole path stands before `path`.
            prefix: u32,
            /// Of a link: offset of its target.
            inode: u64,
            /// Of a link: length of its target.
            size: u64,
            modified_seconds: i64,
            modified_nanoseconds: i64,
            changed_seconds: i64,
            changed_nanoseconds: i64,
        }

        /// A name in the loader's cache, and the paths that it leads to: an array of their offsets.
        Cached {
            name: u64,
            paths: u64,
            path_count: u64,
        }

        /// A loaded file, by its name without a folder, and its build-id.
        Build {
            name: u64,
            id: u64,
            length: u64,
        }

        /// A path of a file that the bundle carries, and the name by which the loader finds that.
        Carried {
            path: u64,
            name: u64,
        }

        /// A name by which the bundle is started, and the path of the original that is meant then.
        Named {
            name: u64,
            path: u64,
            length: u64,
            base: u64,
        }

        /// A program, by its path and what it was, and the bundle that is executed in its place: a path from
        /// this bundle's folder. Inode 0 where it may be a copy.
        Companion {
            path: u64,
            run: u64,
            inode: u64,
            size: u64,
            modified_seconds: i64,
            modified_nanoseconds: i64,
        }

        /// What may be found by a name in a folder of LD_LIBRARY_PATH, as of a `Companion`; a time that no file
        /// has where nothing may be there.
        Searched {
            name: u64,
            inode: u64,
            size: u64,
            modified_seconds: i64,
            modified_nanoseconds: i64,
        }

        /// A plug-in, or a library that is merged with one.
        Plugin {
            inode: u64,
            size: u64,
            modified_seconds: i64,
            modified_nanoseconds: i64,
            /// The `PluginFile` that it is in.
            file: u64,
            /// A name by which the loader knows the library where that file is loaded; 0 for a plug-in.
            alias: u64,
            /// The `PluginFile`s that are loaded with it, its own first: an array of their offsets.
            needs: u64,
            need_count: u64,
            /// The folder that a path to a plug-in has to lead through; 0 where any may.
            folder: u64,
            /// All that these were made of.
            records: u64,
            record_count: u64,
        }

        /// A file of merged plug-ins and libraries.
        PluginFile {
            /// What the loader is asked for, and the name without the folder.
            path: u64,
            base: u64,
            /// Names of what was merged, from `plugin_chains` on.
            chain: u64,
            chain_count: u64,
            /// Names of files, without folders, that are not loaded themselves where this one is: an array of
            /// their offsets.
            loaded: u64,
            loaded_count: u64,
            /// Its preamble, from where it is loaded.
            preamble: u64,
        }

        /// Memory that becomes read-only, or a range of a file.
        Range {
            offset: i64,
            length: u64,
        }

        /// A merged module.
        Module {
            start: i64,
            end: i64,
            /// Of the module's own address 0.
            base: i64,
            /// Its thread-local storage, from the thread pointer.
            thread: i64,
            /// Its path; 0 for the program.
            name: u64,
            /// DT_GNU_HASH or 0.
            hash: i64,
            symbols: i64,
            symbol_count: u64,
            strings: i64,
            /// DT_VERSYM or 0.
            versions: i64,
            /// DT_VERDEF or 0.
            definitions: i64,
            /// 1 where a module that is not merged stands right before it in the scope.
            behind_outside: u64,
            /// 0 where the file may be a copy, which has another inode, and whole seconds.
            inode: u64,
            size: u64,
            modified_seconds: i64,
            modified_nanoseconds: i64,
        }
    }

    kinds {
        ABSENT = 0,
        FILE = 1,
        FOLDER = 2,
        /// A folder to which the paths of the records behind it are relative.
        ENTER = 3,
        /// A file of this size and time in whole seconds, wherever it is.
        COPY = 4,
        /// Such a file, or nothing.
        COPY_OR_ABSENT = 5,
        /// A link, by its target.
        LINK = 6,
    }

    functions {
        Readlink = "readlink",
        Readlinkat = "readlinkat",
        ReadlinkChk = "__readlink_chk",
        ReadlinkatChk = "__readlinkat_chk",
        Realpath = "realpath",
        RealpathChk = "__realpath_chk",
        CanonicalizeFileName = "canonicalize_file_name",
        Dladdr = "dladdr",
        Dladdr1 = "dladdr1",
        Dlsym = "dlsym",
        Dlvsym = "dlvsym",
        Dlopen = "dlopen",
        Dlmopen = "dlmopen",
        Dlinfo = "dlinfo",
        Execve = "execve",
        Execv = "execv",
        Execvp = "execvp",
        Execvpe = "execvpe",
        PosixSpawn = "posix_spawn",
        PosixSpawnp = "posix_spawnp",
    }
}
