#include "shared.h"
#include <iostream>
#include <typeinfo>

extern "C" void plugin_touches() {
    ++Counter::count;
    Holder<int>::value += 100;
    local_static() += 1;
}
extern "C" bool plugin_knows(Base *base) { return dynamic_cast<Inline *>(base) != nullptr; }
extern "C" bool plugin_same_type(const std::type_info &type) { return type == typeid(Fault); }
extern "C" void plugin_throws() { throw Fault("fault of the plug-in", 43); }
extern "C" int plugin_catches() {
    try {
        throws(0);
    } catch (const std::exception &error) {
        std::cout << "plug-in caught " << error.what() << '\n';
        return 1;
    }
    return 0;
}
