/* The one function of Windows' bcryptprimitives.dll that programs in Rust need; Wine 8 has none. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(void *buffer, ULONG bytes);

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *buffer, SIZE_T bytes) {
  while (bytes > 0) {
    ULONG part = bytes > 0x10000 ? 0x10000 : (ULONG)bytes;
    SystemFunction036(buffer, part);
    buffer += part;
    bytes -= part;
  }
  return TRUE;
}
