# Right behind the code: the tables, which headstart writes.

.Lcode_end:
.balign 16
.Ltables:
.globl headstart_startup_guard_end
.hidden headstart_startup_guard_end
headstart_startup_guard_end:
