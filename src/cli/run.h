#pragma once

namespace tutti {

// The whole program: reads the command line, does what it says, returns the exit code (`tutti help exit-codes`).
int run(int argc, char** argv);

}  // namespace tutti
