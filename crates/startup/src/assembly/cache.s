# What the loader's cache has for the names for which it was asked. The cache is made again whenever a
# package with libraries comes or goes: that matters only where such a name leads to another file.

.set CACHE_COUNT, 20            # after the magic
.set CACHE_HEADER, 48
.set CACHE_ENTRY, 24            # flags, offset of the name, offset of the path, osversion, hwcap
.set CACHE_NAME, 4
.set CACHE_PATH, 8
.set CACHE_HWCAP, 16
.set CACHE_FLAGS, 0x0303        # libraries of glibc for x86-64
.set MOST_CACHE, 0x10000000

# Returns where each name still leads to the paths that it had, else it jumps to .Lstale. The file is
# mapped; offsets outside of it mean nothing, as for the loader. The last text must end in it: behind it there
# are zeros up to the end of the page, and nothing behind that.
.Lcheck_cache:
    cmp qword ptr [r15 + Header_cached_count], 0
    je .Lreturn
    lea rdi, [rip + .Ltext_cache]
    mov esi, 0x80000            # O_RDONLY | O_CLOEXEC
    xor edx, edx
    mov eax, 2                  # open
    syscall
    xor r9d, r9d                # entries: none where there is no cache
    mov [rbp + CACHE_SIZE], r9
    test eax, eax
    js .Lcompare_cached
    mov r8d, eax
    mov edi, eax
    lea rsi, [rbp + STAT]
    mov eax, 5                  # fstat
    syscall
    test eax, eax
    jnz .Lclose_cache
    mov rsi, [rbp + STAT + STAT_SIZE]
    cmp rsi, MOST_CACHE
    ja .Lclose_cache
    xor edi, edi
    mov edx, 1                  # PROT_READ
    mov r10d, 2                 # MAP_PRIVATE
    xor r9d, r9d
    mov eax, 9                  # mmap
    syscall
    cmp rax, -4096
    ja .Lclose_cache
    mov [rbp + CACHE_SIZE], rsi
    mov [rbp + CACHE], rax
.Lclose_cache:
    mov edi, r8d
    mov eax, 3                  # close
    syscall
    xor r9d, r9d
    mov rcx, [rbp + CACHE_SIZE]
    cmp rcx, CACHE_HEADER
    jb .Lcompare_cached
    mov rdi, [rbp + CACHE]
    test ecx, 4095
    jnz .Lcache_ends
    cmp byte ptr [rdi + rcx - 1], 0
    jne .Lcompare_cached
.Lcache_ends:
    lea rsi, [rip + .Ltext_cache_magic]
    call .Lskip_text
    jne .Lcompare_cached
    mov rdi, [rbp + CACHE]
    mov r9d, [rdi + CACHE_COUNT]
    lea rax, [rcx - CACHE_HEADER]
    xor edx, edx
    mov esi, CACHE_ENTRY
    div rsi
    cmp r9, rax
    jbe .Lcompare_cached
    xor r9d, r9d                # cut short

# r9 entries; r8: the name that is looked for, one of r10.
.Lcompare_cached:
    mov [rbp + CACHE_ENTRIES], r9
    mov r8, [r15 + Header_cached]
    add r8, rbx
    mov r10, [r15 + Header_cached_count]
.Lnext_cached:
    sub r10, 1
    jb .Lunmap_cache
    call .Lfind_cached
    call .Lcompare_paths
    jne .Lcached_differs
    add r8, Cached_SIZE
    jmp .Lnext_cached
.Lcached_differs:
    mov rax, [r8 + Cached_name]
    add rax, rbx
    mov [rbp + SUBJECT], rax
    lea rax, [rip + .Ltext_cached]
    mov [rbp + CAUSE], rax
    jmp .Lstale

.Lunmap_cache:
    mov rsi, [rbp + CACHE_SIZE]
    test rsi, rsi
    jz .Lreturn
    mov rdi, [rbp + CACHE]
    mov eax, 11                 # munmap
    syscall
    ret

# The first entry of the name at r8: its number in r9; behind the last where there is none. Names are
# sorted, the last one first. Changes all but r8, r10 and r12 to r15.
.Lfind_cached:
    xor r9d, r9d
    mov r11, [rbp + CACHE_ENTRIES]
.Lhalve_entries:                # the first is one from r9 on and before r11, or r11
    cmp r9, r11
    jae .Lreturn
    lea rcx, [r9 + r11]
    shr rcx, 1
    push rcx
    call .Lcompare_entry
    pop rcx
    jg .Llater_name
    mov r11, rcx                # the name or one that is sorted behind it
    jmp .Lhalve_entries
.Llater_name:
    lea r9, [rcx + 1]
    jmp .Lhalve_entries

# How the name of the entry rcx is sorted, held against that at r8: greater, equal or less.
.Lcompare_entry:
    imul rcx, rcx, CACHE_ENTRY
    mov rdi, [rbp + CACHE]
    mov eax, [rdi + rcx + CACHE_HEADER + CACHE_NAME]
    call .Lcache_text
    mov rdi, [r8 + Cached_name]
    add rdi, rbx
    jmp .Lcompare_names

# The text at the offset eax of the cache: rsi; an empty one where that is outside. Changes rdi.
.Lcache_text:
    lea rsi, [rip + .Ltext_nothing]
    cmp rax, [rbp + CACHE_SIZE]
    jae .Lreturn
    mov rsi, [rbp + CACHE]
    add rsi, rax
    ret

# Whether the entries from r9 on have the paths of r8, in order, up to the first that is for all
# processors: ZF.
.Lcompare_paths:
    mov r11, [r8 + Cached_paths]
    add r11, rbx
    mov rdx, [r8 + Cached_path_count]
.Lnext_entry_of_name:
    cmp r9, [rbp + CACHE_ENTRIES]
    jae .Lno_more_entries
    mov rcx, r9
    push rdx
    call .Lcompare_entry
    pop rdx
    jne .Lno_more_entries
    imul rcx, r9, CACHE_ENTRY
    mov rdi, [rbp + CACHE]
    lea rcx, [rdi + rcx + CACHE_HEADER]
    inc r9
    cmp dword ptr [rcx], CACHE_FLAGS
    jne .Lnext_entry_of_name
    sub rdx, 1
    jb .Lpath_differs           # one more
    mov eax, [rcx + CACHE_PATH]
    call .Lcache_text
    mov rdi, [r11]
    add rdi, rbx
    add r11, 8
    call .Lis_text
    jne .Lreturn
    cmp qword ptr [rcx + CACHE_HWCAP], 0
    jne .Lnext_entry_of_name
.Lno_more_entries:
    test rdx, rdx
    ret
.Lpath_differs:
    or eax, -1                  # clears ZF
    ret

# Compares the texts at rsi and rdi as the cache sorts them (_dl_cache_libcmp): runs of digits count as
# numbers, and stand above all else. Signed flags. Changes rax, rcx, rdx, rsi and rdi.
.Lcompare_names:
    movsx eax, byte ptr [rsi]
    movsx ecx, byte ptr [rdi]
    test eax, eax
    jz .Lsorted
    lea edx, [rax - 0x30]
    cmp edx, 9
    lea edx, [rcx - 0x30]
    ja .Lis_letter
    cmp edx, 9
    ja .Labove
    call .Lcache_number
    xchg rsi, rdi
    mov ecx, eax
    call .Lcache_number
    xchg rsi, rdi
    cmp ecx, eax
    je .Lcompare_names
    ret
.Lis_letter:
    cmp edx, 9
    jbe .Lbelow
    inc rsi
    inc rdi
    cmp eax, ecx
    je .Lcompare_names
    ret
.Labove:
    mov eax, 1
    test eax, eax
    ret
.Lbelow:
    or eax, -1
    ret
.Lsorted:
    cmp eax, ecx
    ret

# The number at rsi, behind which rsi stands then: eax. Changes rdx.
.Lcache_number:
    xor eax, eax
.Lnext_cache_digit:
    movzx edx, byte ptr [rsi]
    sub edx, 0x30
    cmp edx, 9
    ja .Lreturn
    imul eax, eax, 10
    add eax, edx
    inc rsi
    jmp .Lnext_cache_digit
