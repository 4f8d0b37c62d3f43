/* Loads the DLLs that it is given; with --wait it stays until its input ends. */
#include <stdio.h>
#include <string.h>
#include <windows.h>

int main(int count, char **words) {
  int failed = 0, wait = 0;
  for (int at = 1; at < count; at++) {
    if (!strcmp(words[at], "--wait")) {
      wait = 1;
    } else if (!LoadLibraryA(words[at])) {
      failed++;
      printf("%s: error %lu\n", words[at], GetLastError());
    }
  }
  printf("failed: %d\n", failed);
  fflush(stdout);
  if (wait) getchar();
  return failed != 0;
}
