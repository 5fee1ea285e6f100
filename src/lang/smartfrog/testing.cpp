#include "lang/smartfrog/testing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lang/smartfrog/eval/core.h"
#include "lang/smartfrog/levels.h"
#include "lang/smartfrog/syntax/parser.h"

namespace tutti::smartfrog {

std::string line_of(const Value& v) {
  std::string tag = v.tag().empty() || v.is(Kind::kMap) ? "" : fmt::format(":{}", v.tag().text());
  switch (v.kind()) {
    case Kind::kNull: return "null";
    case Kind::kBool: return v.as_bool() ? "true" : "false";
    case Kind::kInt:
    case Kind::kDecimal: return v.number_text() + tag;
    case Kind::kString: return fmt::format("\"{}\"", v.text()) + tag;
    case Kind::kBytes: return fmt::format("bytes({})", v.text().size());
    case Kind::kReference: return fmt::format("@{}", v.text());
    case Kind::kLazy: return fmt::format("~{}", v.text());
    case Kind::kList: {
      std::string out = "[";
      for (const Value& i : v.items()) out += (out.size() > 1 ? ", " : "") + line_of(i);
      return out + "]";
    }
    case Kind::kMap: {
      std::string out = "{";
      for (const Entry& e : v.entries())
        out += fmt::format("{}{}:{}", out.size() > 1 ? ", " : "", e.key.text(), line_of(e.value));
      return out + "}";
    }
    default: return fmt::format("?{}", v.text());
  }
}

Outcome run_text(const std::string& text, std::string_view level, bool vet, Limits limits, std::string_view out) {
  // A file and not a text alone, because a request names files.
  static int count = 0;
  std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("tutti-sf-test-{}-{}.sf", getpid(), count++)).string();
  std::ofstream(path, std::ios::binary) << text;
  Session session(limits);
  Request request;
  request.files = {path};
  request.concrete = true;
  request.options.add("level", std::string(level));
  if (!out.empty()) request.options.add("out", std::string(out));
  Outcome o;
  try {
    if (vet) {
      language().vet(session, request);
    } else if (auto v = language().evaluate(session, request)) {
      o.tree = line_of(*v);
      if (!out.empty()) {
        StringSink sink;
        if (language().write(session, *v, out, request.options, sink)) o.text = sink.take();
      }
    }
  } catch (const LimitError& e) {
    o.codes = e.code();
  }
  for (const Diagnostic& d : session.diagnostics.all()) o.codes += (o.codes.empty() ? "" : " ") + d.code;
  o.diagnostics = render(session.diagnostics, *session.sources, DiagnosticStyle::kLine, false);
  std::filesystem::remove(path);
  return o;
}

}  // namespace tutti::smartfrog
