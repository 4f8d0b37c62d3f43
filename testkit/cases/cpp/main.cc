#include "shared.h"
#include <dlfcn.h>
#include <iostream>
#include <memory>
#include <thread>
#include <typeinfo>

static const auto constructed = [] {
    std::cout << "program: constructed after " << Counter::count << std::endl;
    return true;
}();

static void exceptions() {
    try {
        throws(0);
    } catch (const std::runtime_error &error) {
        std::cout << "program caught " << error.what() << '\n';
    }
    int caught = catches([] { throws(0); });
    caught += 10 * catches([] { throws(1); });
    caught += 100 * catches([] { throws(3); });
    try {
        catches([] { throws(2); });
    } catch (int number) {
        caught += 1000 * number;
    }
    std::cout << "caught " << caught << '\n';
}

static void types() {
    std::unique_ptr<Base> derived(make_derived()), other(make_inline());
    Inline own;
    std::cout << derived->name() << ' ' << other->name() << '\n';
    std::cout << "casts " << (dynamic_cast<Derived *>(derived.get()) != nullptr)
              << (dynamic_cast<Inline *>(other.get()) != nullptr)
              << (dynamic_cast<Inline *>(derived.get()) != nullptr) << '\n';
    std::cout << "types " << (typeid(own) == typeid(*other)) << (typeid(Fault) == type_of_fault())
              << (&typeid(Fault) == &type_of_fault()) << '\n';
}

template <class F> static F *symbol(void *plugin, const char *name) {
    return reinterpret_cast<F *>(dlsym(plugin, name));
}

static int with_plugin(const char *path) {
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
        std::cout << "no plug-in\n";
        return 1;
    }
    symbol<void()>(plugin, "plugin_touches")();
    std::unique_ptr<Base> made(make_inline());
    int caught = symbol<int()>(plugin, "plugin_catches")();
    std::cout << "plug-in casts " << symbol<bool(Base *)>(plugin, "plugin_knows")(made.get())
              << " types "
              << symbol<bool(const std::type_info &)>(plugin, "plugin_same_type")(typeid(Fault))
              << " catches " << caught << '\n';
    try {
        symbol<void()>(plugin, "plugin_throws")();
    } catch (const Fault &fault) {
        std::cout << "program caught " << fault.what() << ' ' << fault.code << '\n';
    }
    return 0;
}

int main(int, char **arguments) {
    exceptions();
    types();
    std::cout << "function " << adder(5)(6) << '\n';
    std::thread([] {
        use_thread_local();
        use_thread_local();
    }).join();
    use_thread_local();
    touch_shared();
    Holder<int>::value += 1;
    local_static() += 1;
    int failed = with_plugin(arguments[1]);
    std::cout << "shared " << Counter::count << ' ' << Holder<int>::value << ' ' << local_static()
              << std::endl;
    return failed;
}
