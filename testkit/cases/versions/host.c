#include <dlfcn.h>
#include <stdio.h>
int foo(void), odd(void);

static int call(void *handle, const char *name) {
    int (*found)(void) = handle ? (int (*)(void))dlsym(handle, name) : 0;
    return found ? found() : -1;
}

int main(int count, char **arguments) {
    printf("program %d %d\n", foo(), odd());
    for (int index = 1; index < count; index++) {
        void *handle = dlopen(arguments[index], RTLD_NOW);
        if (!handle)
            printf("%s\n", dlerror());
        const char *names[] = {"first_foo", "second_foo", "plain_foo", "third_odd"};
        printf("plug-in %d:", index);
        for (int name = 0; name < 4; name++)
            printf(" %d", call(handle, names[name]));
        printf("\n");
    }
    return 0;
}
