#include "cli/run.h"

int main(int argc, char** argv) { return tutti::run(argc, argv); }
