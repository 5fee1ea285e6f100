#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/cue/cli/program.h"

namespace tutti::cue {

// What a finished task adds to its value.
struct TaskResult {
  std::map<std::string, ast::Node*> fields;
  std::optional<LoadProblem> problem;
  std::vector<LoadProblem> problems;
};

// A task of a command, with its inputs read from the evaluated value: nothing here touches the evaluator, so that tasks
// can run side by side.
struct TaskInput {
  std::string kind;  // "tool/exec.Run"
  std::vector<std::string> command;
  std::string dir, text, filename, target;
  std::vector<std::string> environment;
  bool has_environment = false, capture_out = false, capture_err = false, must_succeed = true, parents = false,
       as_string = false, as_bool = false;
  std::optional<std::string> stdin_text;
  long permissions = 0;
  std::vector<std::pair<std::string, std::string>> names;  // fields of tool/os tasks: name and what is wanted
  // http
  std::string method, url, body, ca_cert;
  bool follow_redirects = true, verify = true;
  std::vector<std::pair<std::string, std::string>> headers;
};

// What it does, as plain data.
struct TaskOutput {
  std::string error;  // it failed
  std::map<std::string, std::string> strings, bytes, numbers;
  std::map<std::string, bool> bools;
  std::map<std::string, std::vector<std::string>> lists;
  std::map<std::string, std::vector<std::string>> headers, trailers;
};
TaskOutput run_task(const TaskInput& t);

}  // namespace tutti::cue
