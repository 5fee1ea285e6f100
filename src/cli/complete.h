#pragma once

#include <span>
#include <string>
#include <vector>

// What could stand where the cursor is in a line of a shell. The scripts for the shells only ask (`tutti completion
// words`), so that all shells know the same, and what is recorded (runs, components, systems) is looked up when it is
// asked for.
namespace tutti {

struct Completions {
  std::vector<std::string> words;  // not yet narrowed to what has been typed
  bool files = false;              // names of files too
};

// `line`: the words after `tutti`; the last one is being typed and may be empty.
Completions complete(std::span<const std::string> line);

}  // namespace tutti
