#include <iostream>
#include <string>
#include <vector>
