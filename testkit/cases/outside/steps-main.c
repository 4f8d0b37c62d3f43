void program_walks(void), first_walks(void);
int main(void) {
    program_walks();
    first_walks();
    return 0;
}
