#pragma once

#include <functional>

// Signals while something runs. They are taken in a thread of their own, because what is told to stop takes locks.
// The first lets what runs come to its end and starts nothing more, the second ends what runs, the third ends us.
namespace tutti {

// From now on signals call `stop`, with true when what runs is to be ended too. One that came before is told at once.
void stop_on_signals(std::function<void(bool)> stop);

// The run is over: signals mean again what they always mean.
void end_interrupts();

}  // namespace tutti
