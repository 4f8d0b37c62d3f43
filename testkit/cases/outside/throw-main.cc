extern "C" void program_throws(), first_throws();
int main() {
    program_throws();
    first_throws();
}
