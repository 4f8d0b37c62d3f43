#pragma once
#include <functional>
#include <stdexcept>
#include <string>

struct Base {
    virtual ~Base();
    virtual std::string name() const;
};
struct Derived : Base {
    std::string name() const override;
};
/* Without a key function: every module has its own vtable and type_info, and one must win. */
struct Inline : Base {
    std::string name() const override { return "inline"; }
};
struct Fault : std::runtime_error {
    explicit Fault(const std::string &what, int code) : std::runtime_error(what), code(code) {}
    int code;
};
struct Counter {
    inline static int count = 0;
};
template <class T> struct Holder {
    static T value;
};
template <class T> T Holder<T>::value = T();
inline int &local_static() {
    static int number = 1000;
    return number;
}

struct PerThread {
    explicit PerThread(const char *who) : who(who) {}
    ~PerThread();
    const char *who;
    int uses = 0;
};

Base *make_derived();
Base *make_inline();
void throws(int kind);
int catches(const std::function<void()> &action);
std::function<int(int)> adder(int amount);
void use_thread_local();
const std::type_info &type_of_fault();
void touch_shared();
