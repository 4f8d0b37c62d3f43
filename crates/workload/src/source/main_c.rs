//! The parts that every program's C source has.

/// How a program begins and ends, without a C library.
pub(super) const FRAME: &str = r#"/* Exits with code 0 at the start of its code; with --call it does its work. */

static void __attribute__((noreturn)) leave(int code)
{
    for (;;)
        __asm__ volatile("syscall" : : "a"(231L), "D"((long)code) : "rcx", "r11", "memory");
}

/* Writes the number to stderr. */
static inline void __attribute__((noreturn)) fail(unsigned number)
{
    char text[16], *begin = text + sizeof text;
    long written;
    *--begin = '\n';
    do
        *--begin = '0' + number % 10;
    while (number /= 10);
    __asm__ volatile("syscall"
                     : "=a"(written)
                     : "a"(1L), "D"(2L), "S"(begin), "d"(text + sizeof text - begin)
                     : "rcx", "r11", "memory");
    leave(1);
}

static inline void only_with_call(long *stack)
{
    const char *argument = (const char *)stack[2], *call = "--call";
    if (stack[0] <= 1)
        leave(0);
    while (*argument == *call && *call)
        argument++, call++;
    if (*argument != *call)
        leave(2);
}

__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tcall begin\n");

#define CHECK(function, number) if ((function)() != (number)) fail(number)

"#;

/// Calls of imports, each of which returns its number from 1.
pub(super) fn calls(imports: &[String]) -> String {
    let declared: String = imports.iter().map(|name| format!("int {name}(void);\n")).collect();
    let checks = (1..).zip(imports).map(|(number, name)| format!("    CHECK({name}, {number});\n"));
    let checks: String = checks.collect();
    format!(
        "{FRAME}{declared}\nvoid begin(long *stack)\n{{\n    only_with_call(stack);\n{checks}    \
         leave(0);\n}}\n"
    )
}
