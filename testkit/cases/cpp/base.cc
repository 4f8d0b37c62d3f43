#include "shared.h"
#include <iostream>
#include <typeinfo>

Base::~Base() = default;
std::string Base::name() const { return "base"; }
std::string Derived::name() const { return "derived"; }

namespace {
struct Announce {
    Announce() {
        ++Counter::count;
        std::cout << "base library: constructed" << std::endl;
    }
    ~Announce() { std::cout << "base library: destroyed" << std::endl; }
} announce;
} // namespace

Base *make_derived() { return new Derived; }

void throws(int kind) {
    if (kind == 0)
        throw Fault("fault of the base library", 42);
    if (kind == 1)
        throw std::out_of_range("range of the base library");
    if (kind == 2)
        throw 7;
}
