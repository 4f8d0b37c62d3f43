//! C source of what a C library would bring along. For 32-bit x86 as well.

/// `say(text)` and `leave(code)`, by way of kernel32.dll.
pub const SPEAKING: &str = r"
__declspec(dllimport) void __stdcall ExitProcess(unsigned code);
__declspec(dllimport) void *__stdcall GetStdHandle(unsigned which);
__declspec(dllimport) int __stdcall WriteFile(void *, const void *, unsigned, unsigned *, void *);
static void say(const char *text) {
  unsigned length = 0, written;
  while (text[length]) length++;
  WriteFile(GetStdHandle(-11), text, length, &written, 0);
}
static void leave(unsigned code) { ExitProcess(code); }
";

/// What a delayed call asks for its function: there is none.
pub const DELAY_HELPER: &str = r"
void *__stdcall __delayLoadHelper2(const void *descriptor, void **slot) { return 0; }
";

/// A thread-local template of one number, and `TLS_CALLBACKS` callbacks, at most 9.
pub const TLS: &str = r#"
typedef void (__stdcall *tls_callback)(void *, unsigned, void *);
unsigned _tls_index;
#ifdef __i386__
__asm__(".globl __tls_array\n__tls_array = 44\n");
#endif
#pragma section(".tls", read, write)
#pragma section(".tls$ZZZ", read, write)
#pragma section(".CRT$XLA", read)
#pragma section(".CRT$XLB", read)
#pragma section(".CRT$XLZ", read)
__declspec(allocate(".tls")) char _tls_start = 0;
__declspec(allocate(".tls$ZZZ")) char _tls_end = 0;
__declspec(allocate(".CRT$XLA")) tls_callback __xl_a = 0;
__declspec(allocate(".CRT$XLZ")) tls_callback __xl_z = 0;
volatile int tls_calls;
static void __stdcall tls_call(void *module, unsigned reason, void *reserved) { tls_calls++; }
#if TLS_CALLBACKS > 0
#define ONE(n) __declspec(allocate(".CRT$XLB")) tls_callback __xl_b##n = tls_call;
ONE(1)
#if TLS_CALLBACKS > 1
ONE(2)
#endif
#if TLS_CALLBACKS > 2
ONE(3)
#endif
#endif
const struct {
  void *start, *end, *index, *callbacks;
  unsigned zero, flags;
} _tls_used = {&_tls_start, &_tls_end, &_tls_index, (&__xl_a) + 1, 0, 0};
__declspec(thread) int thread_number = 5;
int thread_next(void) { return ++thread_number; }
"#;

/// The load configuration with the tables of Control Flow Guard that the linker makes, and the
/// functions that checked calls go through.
pub const GUARD: &str = r#"
typedef unsigned guard_u32;
typedef __UINTPTR_TYPE__ guard_word;
void __guard_check_nop(void *target) {}
void *__guard_check_icall_fptr = (void *)__guard_check_nop;
#ifdef __x86_64__
__asm__(".globl __guard_dispatch_nop\n__guard_dispatch_nop: jmp *%rax\n");
void __guard_dispatch_nop(void);
void *__guard_dispatch_icall_fptr = (void *)__guard_dispatch_nop;
#else
void *__guard_dispatch_icall_fptr = 0;
#endif
extern char __guard_fids_table[], __guard_fids_count[];
extern char __guard_iat_table[], __guard_iat_count[];
extern char __guard_longjmp_table[], __guard_longjmp_count[];
extern char __guard_eh_cont_table[], __guard_eh_cont_count[];
const struct load_configuration {
  guard_u32 size, time_stamp;
  unsigned short major, minor;
  guard_u32 clear, set, critical_section;
  guard_word free_block, total_free, lock_table, allocation, memory, affinity;
  guard_u32 heap;
  unsigned short version, dependent;
  guard_word edit_list, cookie, handlers, handler_count;
  void *check, *dispatch, *functions, *function_count;
  guard_u32 flags;
  unsigned short integrity[2];
  guard_u32 integrity_words[2];
  void *imports, *import_count, *jumps, *jump_count;
  guard_word dynamic, hybrid, failure, failure_pointer;
  guard_u32 offset;
  unsigned short section, reserved;
  guard_word verify;
  guard_u32 hot_patch, reserved_3;
  void *enclave, *volatile_table, *continuations, *continuation_count;
} _load_config_used __attribute__((used)) = {
  .size = sizeof(struct load_configuration),
  .check = &__guard_check_icall_fptr, .dispatch = &__guard_dispatch_icall_fptr,
  .functions = __guard_fids_table, .function_count = __guard_fids_count,
  .flags = 0x10500,
  .imports = __guard_iat_table, .import_count = __guard_iat_count,
  .jumps = __guard_longjmp_table, .jump_count = __guard_longjmp_count,
  .continuations = __guard_eh_cont_table, .continuation_count = __guard_eh_cont_count,
};
"#;
