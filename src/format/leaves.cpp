#include <fmt/format.h>

#include <utility>

#include "format/json.h"
#include "format/write.h"

namespace tutti {
namespace {

// Paths are written once per map: each level appends to the text of its parent and cuts it back.
class LeavesWriter {
 public:
  LeavesWriter(const Session& session, Sink& sink) : session_(session), sink_(sink) {}

  void walk(const Value& v) {
    bool outside = std::exchange(hidden_, hidden_ || v.secret());
    inside(v);
    hidden_ = outside;
  }

 private:
  void inside(const Value& v) {
    if (v.is(Kind::kMap) && v.size() > 0) {
      bool any = false;
      for (const Entry& e : v.entries()) {
        if (e.field == Field::kOptional || e.field == Field::kRequired) continue;
        any = true;
        std::size_t cut = enter();
        write_json_string(e.key.text(), false, piece_);
        path_ += piece_.take();
        walk(e.value);
        path_.resize(cut);
      }
      if (any) return;
    }
    if (v.is(Kind::kList) && v.size() > 0) {
      for (std::size_t i = 0; i < v.size(); i++) {
        std::size_t cut = enter();
        fmt::format_to(std::back_inserter(path_), "\"{}\"", i);
        walk(v.items()[i]);
        path_.resize(cut);
      }
      return;
    }
    leaf(v);
  }

  std::size_t enter() {
    std::size_t cut = path_.size();
    if (cut > 0) path_ += ',';
    return cut;
  }

  void leaf(const Value& v) {
    sink_.put("{\"path\":[");
    sink_.put(path_);
    sink_.put("],\"kind\":\"");
    sink_.put(word(v));
    sink_.put('"');
    if (v.is_scalar()) {
      sink_.put(",\"value\":");
      if (hidden_) {
        sink_.put("\"(secret)\"");
      } else {
        write_scalar(v);
      }
    } else if (!v.is(Kind::kMap) && !v.is(Kind::kList)) {
      sink_.put(",\"text\":");
      write_json_string(v.is(Kind::kResource) ? fmt::format("{}[{}]", v.tag().text(), v.text()) : std::string(v.text()),
                        false, sink_);
    }
    if (Pos pos = session_.origins.written(v.origin())) {
      sink_.put(",\"origin\":");
      write_json_string(session_.sources->show(pos), false, sink_);
    }
    sink_.put("}\n");
  }

  void write_scalar(const Value& v) {
    write_json(v, {.indent = 0}, piece_);
    std::string s = piece_.take();
    sink_.put(std::string_view(s).substr(0, s.size() - 1));
  }

  static std::string_view word(const Value& v) {
    switch (v.kind()) {
      case Kind::kMap: return "struct";
      case Kind::kList: return "list";
      case Kind::kOpen: return "type";
      case Kind::kError: return v.tag() == Symbol("incomplete") ? "incomplete" : "error";
      case Kind::kReference: return "reference";
      case Kind::kLazy: return "lazy";
      case Kind::kResource: return "resource";
      default: return "value";
    }
  }

  const Session& session_;
  Sink& sink_;
  bool hidden_ = false;  // within what is secret as a whole
  std::string path_;
  StringSink piece_;  // what is written before it is known where
};

}  // namespace

void write_leaves(const Value& value, const Session& session, Sink& sink) { LeavesWriter(session, sink).walk(value); }

}  // namespace tutti
