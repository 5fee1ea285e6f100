// layers: text
#include "text/secret_marks.h"

#include "text/diagnostic.h"
#include "text/source.h"

// What is marked lies within the text, in order; a line that is shown is as long as it was.
extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  using namespace tutti;
  std::string text(reinterpret_cast<const char*>(data), size);
  SecretMarks marks = secret_marks(text);
  u32 last = 0;
  for (auto [from, to] : marks.spans) {
    if (from < last || from >= to || to > size) __builtin_trap();
    last = from;
  }
  Sources sources;
  auto source = sources.add("f", text);
  if (!source) return 0;
  for (std::size_t at = 0; at <= size; at += 1 + size / 16) {
    Location where = sources.locate((*source)->pos(at));
    if (sources.masked_line((*source)->pos(at)).size() != where.text.size()) __builtin_trap();
  }
  return 0;
}
