#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
void *allocate(unsigned);
int helper();
int symbolic_result();
int own_choice() { return 1; }
int library_choice() { return own_choice(); }

/* The library calls what the program may have replaced. */
void user_runs() {
    std::printf("library: allocate %d helper %d symbolic %d choice %d\n", *(int *)allocate(4),
                helper(), symbolic_result(), library_choice());
    std::vector<std::string> words;
    for (int index = 0; index < 4; index++)
        words.push_back("a text that is too long for the small string");
    std::free(strdup("copied by libc"));
}
}
