#include "shared.h"
#include <iostream>
#include <memory>
#include <typeinfo>
#include <vector>

static std::vector<std::string> words = {"one", "two"};
static const auto shown = [] {
    ++Counter::count;
    std::cout << "second library: " << words.size() << " words" << std::endl;
    return true;
}();

Base *make_inline() { return new Inline; }

int catches(const std::function<void()> &action) {
    try {
        action();
    } catch (const Fault &fault) {
        std::cout << "second library caught " << fault.what() << ' ' << fault.code << '\n';
        return 1;
    } catch (const std::logic_error &error) {
        std::cout << "second library caught a logic error: " << error.what() << '\n';
        return 2;
    } catch (int number) {
        std::cout << "second library caught " << number << '\n';
        throw;
    }
    return 0;
}

std::function<int(int)> adder(int amount) {
    auto kept = std::make_shared<int>(amount);
    return [kept](int number) { return number + *kept; };
}

PerThread::~PerThread() { std::cout << who << ": thread-local destroyed after " << uses << '\n'; }

void use_thread_local() {
    thread_local PerThread own("second library");
    ++own.uses;
}

const std::type_info &type_of_fault() { return typeid(Fault); }

void touch_shared() {
    ++Counter::count;
    Holder<int>::value += 10;
    local_static() += 1;
}
