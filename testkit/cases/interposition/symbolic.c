int helper(void) { return 30; }
int own_data = 300;
int symbolic_result(void) { return helper() + own_data; }
