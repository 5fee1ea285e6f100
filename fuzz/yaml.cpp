#include "format/yaml.h"

#include <cstring>

#include "format/yaml_events.h"
#include "reader.h"

namespace {

bool same(const yaml_mark_t& a, const yaml_mark_t& b) {
  return a.index == b.index && a.line == b.line && a.column == b.column;
}
bool same(const char* a, const char* b) { return a && b ? std::strcmp(a, b) == 0 : a == b; }

// What is read by lines must be what libyaml reads alone, to the last mark and error.
void compare_events(std::string_view text) {
  tutti::YamlEvents lines(text, YAML_ANY_ENCODING), library(text, YAML_ANY_ENCODING, false);
  tutti::YamlEvent a, b;
  do {
    bool read = lines.next(a);
    if (read != library.next(b)) __builtin_trap();
    if (!read) {
      const yaml_parser_t &p = lines.parser(), &q = library.parser();
      if (p.error != q.error || !same(p.problem, q.problem) || !same(p.problem_mark, q.problem_mark)) __builtin_trap();
      return;
    }
    if (a.type != b.type || a.style != b.style || a.flow != b.flow || a.value != b.value || !same(a.tag, b.tag) ||
        !same(a.anchor, b.anchor) || !same(a.start, b.start) || !same(a.end, b.end))
      __builtin_trap();
  } while (a.type != YAML_STREAM_END_EVENT);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  compare_events({reinterpret_cast<const char*>(data), size});
  return tutti::fuzz_reader(data, size, [](tutti::Session& session, const tutti::Source& source) {
    return tutti::read_yaml(session, source);
  });
}
