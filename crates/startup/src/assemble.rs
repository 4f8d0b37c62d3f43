//! The macro that defines what the preamble's assembly and its Rust share, and assembles the code with it.

/// Defines what is shared, and assembles the code with it.
macro_rules! shared {
    (
        structs { $(
            $(#[$doc:meta])*
            $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }
        )* }
        kinds { $($(#[$kind_doc:meta])* $kind:ident = $number:literal,)* }
        functions { $($function:ident = $symbol:literal,)* }
    ) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default)]
            #[repr(C)]
            pub(crate) struct $name { $($(#[$field_doc])* pub(crate) $field: $type,)* }

            const _: () = assert!($name::SIZE == 0 $(+ size_of::<$type>())*, "there is no padding");

            impl $name {
                pub(crate) const SIZE: usize = size_of::<$name>();

                pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
                    $(bytes.extend(self.$field.to_le_bytes());)*
                }

                #[allow(dead_code)] // Not all of them are read back.
                pub(crate) fn read(bytes: &[u8]) -> Option<$name> {
                    $(
                        let field = bytes.get(offset_of!($name, $field)..)?.first_chunk()?;
                        let $field = <$type>::from_le_bytes(*field);
                    )*
                    Some($name { $($field),* })
                }
            }
        )*

        /// Kinds of a [`Record`].
        pub(crate) mod kind {
            $($(#[$kind_doc])* pub(crate) const $kind: u32 = $number;)*
        }

        /// A function of the C library that the preamble can stand in for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum WrappedFunction { $(#[doc = concat!("`", $symbol, "`")] $function,)* }

        impl WrappedFunction {
            /// Every function, in the order of the directory and of the slots.
            pub const ALL: [WrappedFunction; [$($symbol),*].len()] = [$(WrappedFunction::$function),*];

            /// Its symbol.
            pub fn name(self) -> &'static str {
                match self { $(WrappedFunction::$function => $symbol,)* }
            }
        }

        core::arch::global_asm!(
            $($(concat!(".set ", stringify!($name), "_", stringify!($field), ", {}"),)*)*
            $(concat!(".set ", stringify!($name), "_SIZE, {}"),)*
            $(concat!(".set KIND_", stringify!($kind), ", ", stringify!($number)),)*
            $(concat!(".set SLOT_", $symbol, ", {}"),)*
            r#".section .rodata.headstart_preamble,"a",@progbits"#,
            ".balign 16",
            ".globl headstart_preamble_begin, headstart_preamble_end",
            ".hidden headstart_preamble_begin, headstart_preamble_end",
            "headstart_preamble_begin:",
            ".Lbegin:",
            ".long .Lcode - .Lbegin, .Lcode_end - .Lbegin, .Lentry - .Lbegin, .Lstart - .Lbegin",
            ".long .Lahead - .Lbegin, .Learly - .Lbegin, .Lplugin_entry - .Lbegin",
            $(concat!(".long .L", $symbol, " - .Lbegin"),)*
            include_str!("assembly/entry.s"),
            include_str!("assembly/loader.s"),
            include_str!("assembly/records.s"),
            include_str!("assembly/cache.s"),
            include_str!("assembly/names.s"),
            include_str!("assembly/builds.s"),
            include_str!("assembly/fill.s"),
            include_str!("assembly/memory.s"),
            include_str!("assembly/identity.s"),
            include_str!("assembly/trace.s"),
            include_str!("assembly/stale.s"),
            include_str!("assembly/start.s"),
            include_str!("assembly/tool.s"),
            include_str!("assembly/wrappers.s"),
            include_str!("assembly/companions.s"),
            include_str!("assembly/exec.s"),
            include_str!("assembly/modules.s"),
            include_str!("assembly/next.s"),
            include_str!("assembly/open.s"),
            include_str!("assembly/origin.s"),
            include_str!("assembly/loaded.s"),
            include_str!("assembly/plugins.s"),
            include_str!("assembly/ahead.s"),
            include_str!("assembly/early.s"),
            ".Lcode_end:",
            ".balign 16",
            ".Ltables:", // Struct Header, the slots, and all else that headstart writes.
            "headstart_preamble_end:",
            $($(const offset_of!($name, $field),)*)*
            $(const $name::SIZE,)*
            $(const WrappedFunction::$function as usize,)*
        );
    };
}
