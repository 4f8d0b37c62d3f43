#include <algorithm>
#include <map>
#include <regex>
#include <string>
int main(int argc, char **argv) {
    std::map<std::string, int> counts;
    std::regex word("[a-z]+");
    std::string text = argc > 1 ? argv[1] : "one two one";
    for (std::sregex_iterator i(text.begin(), text.end(), word), end; i != end; ++i) ++counts[i->str()];
    return std::max_element(counts.begin(), counts.end(), [](auto &a, auto &b) { return a.second < b.second; })->second;
}
