#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

static int news, deletes, mallocs;
static bool counting;

/* libstdc++ and every library must come here. */
void *operator new(std::size_t size) {
    news += counting;
    return std::malloc(size);
}
void operator delete(void *place) noexcept {
    deletes += counting;
    std::free(place);
}
void operator delete(void *place, std::size_t) noexcept { operator delete(place); }

/* So must libc: a whole allocator, that never gives back. */
alignas(16) static char store[1 << 22];
static std::size_t used;
extern "C" {
void *malloc(std::size_t size) {
    mallocs += counting;
    std::size_t *place = (std::size_t *)(store + used);
    used += (size + 31) / 16 * 16;
    if (used > sizeof store)
        std::abort();
    *place = size;
    return (char *)place + 16;
}
void free(void *) {}
void *calloc(std::size_t count, std::size_t size) { return malloc(count * size); }
void *realloc(void *old, std::size_t size) {
    char *made = (char *)malloc(size);
    std::size_t kept = old ? *(std::size_t *)((char *)old - 16) : 0;
    for (std::size_t index = 0; index < kept && index < size; index++)
        made[index] = ((char *)old)[index];
    return made;
}

static int counted = 2;
void *allocate(unsigned) { return &counted; }
int own_choice() { return 3; }
int own_data = 500;
int helper();
void user_runs();
}

int main() {
    std::printf("program: helper %d\n", helper());
    counting = true;
    user_runs();
    counting = false;
    std::printf("program: new %d delete %d malloc %d\n", news > 4, news == deletes, mallocs > news);
    return 0;
}
