#include <iostream>
#include <string>
#include <vector>
int main(int argc, char **argv) {
    std::vector<std::string> words(argv, argv + argc);
    for (const auto &word : words) std::cout << word.size() << ' ' << word << '\n';
}
