#define N 64
typedef float v4 __attribute__((vector_size(16)));
static int table[N]; double sum; v4 a, b, c;
static int compare(const void *x, const void *y) { return *(int *)x - *(int *)y; }
void sort(int *v, int n) {
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            if (compare(v + i, v + j) > 0) { int t = v[i]; v[i] = v[j]; v[j] = t; }
}
int f(int x) { switch (x) { case 1: return 5; case 2: return 99; case 3: return 7; case 4: return x * x; case 9: return 1; default: return 0; } }
int main(int argc, char **argv) {
    for (int i = 0; i < N; i++) table[i] = i * f(i % 5);
    sort(table, N);
    for (int i = 0; i < N; i++) sum += table[i] * 0.5;
    c = a * b + c;
    return (int)sum;
}
