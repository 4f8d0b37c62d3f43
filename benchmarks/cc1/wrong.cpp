#include <string>
struct A { int value; private: A(int); };
template <class T> auto add(T a, T b) -> decltype(a + b) { return a + b; }
int main() { A a(3); std::string s = 5 + add(1, "x"); return a.vlaue + undefined(s) }
