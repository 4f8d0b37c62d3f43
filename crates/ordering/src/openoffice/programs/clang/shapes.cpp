extern "C" int puts(const char *);
template <class T> struct Holder { T value; explicit Holder(T v) : value(v) {} ~Holder() { puts("gone"); } };
struct Shape { virtual ~Shape() = default; virtual double area() const = 0; };
struct Square : Shape { double side; explicit Square(double s) : side(s) {} double area() const override { return side * side; } };
struct Circle : Shape { double radius; explicit Circle(double r) : radius(r) {} double area() const override { return 3.14 * radius * radius; } };
template <class... T> double total(const T &...shapes) { return (shapes.area() + ...); }
int main(int argc, char **) {
    Holder<int> holder(argc);
    try {
        auto check = [&](int n) { if (n > 3) throw n; return n; };
        check(argc);
        return total(Square(argc), Circle(2)) > 10;
    } catch (int n) { return n; }
}
