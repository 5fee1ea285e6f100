#include "tree/path.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace tutti {
namespace {

bool plain_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '$' || c == '#' || c == '@' || static_cast<u8>(c) >= 0x80;
}

bool plain(std::string_view key) {
  if (key.empty() || (key[0] >= '0' && key[0] <= '9') || key[0] == '-') return false;
  for (char c : key) {
    if (!plain_byte(c)) return false;
  }
  return true;
}

}  // namespace

void append_path_key(std::string& out, std::string_view key, bool first) {
  if (!first) out += '.';
  if (plain(key)) {
    out += key;
    return;
  }
  out += '"';
  for (char c : key) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<u8>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string Path::text() const {
  if (steps_.empty()) return ".";
  std::string out;
  for (std::size_t i = 0; i < steps_.size(); i++) {
    if (steps_[i].is_key()) {
      append_path_key(out, steps_[i].key.text(), i == 0);
    } else {
      out += fmt::format("[{}]", steps_[i].index);
    }
  }
  return out;
}

std::optional<Path> Path::parse(std::string_view text) {
  Path path;
  if (text.empty() || text == ".") return path;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '[') {
      std::size_t close = text.find(']', at);
      if (close == std::string_view::npos || close == at + 1) return std::nullopt;
      u64 index = 0;
      for (std::size_t i = at + 1; i < close; i++) {
        if (text[i] < '0' || text[i] > '9' || index >= Step::kKey / 10) return std::nullopt;
        index = index * 10 + static_cast<u64>(text[i] - '0');
      }
      path.push(static_cast<u32>(index));
      at = close + 1;
      continue;
    }
    if (at > 0 || text[0] == '.') {
      if (text[at] != '.' || ++at == text.size()) return std::nullopt;
    }
    std::string key;
    if (text[at] == '"') {
      for (at++; at < text.size() && text[at] != '"'; at++) {
        if (text[at] != '\\') {
          key += text[at];
          continue;
        }
        if (++at == text.size()) return std::nullopt;
        switch (text[at]) {
          case 'n': key += '\n'; break;
          case 't': key += '\t'; break;
          case 'u': {
            if (at + 4 >= text.size()) return std::nullopt;
            char32_t c = 0;
            for (int i = 0; i < 4; i++) {
              char h = text[++at];
              int d = h >= '0' && h <= '9'   ? h - '0'
                      : h >= 'a' && h <= 'f' ? h - 'a' + 10
                      : h >= 'A' && h <= 'F' ? h - 'A' + 10
                                             : -1;
              if (d < 0) return std::nullopt;
              c = c * 16 + static_cast<char32_t>(d);
            }
            utf8::append(key, c);
            break;
          }
          default: key += text[at];
        }
      }
      if (at == text.size()) return std::nullopt;
      at++;
    } else {
      std::size_t start = at;
      while (at < text.size() && text[at] != '.' && text[at] != '[') at++;
      if (at == start) return std::nullopt;
      key = text.substr(start, at - start);
    }
    path.push(Symbol(key));
  }
  return path;
}

const Value* find(const Value& root, const Path& path) {
  const Value* v = &root;
  for (const Path::Step& step : path.steps()) {
    if (step.is_key()) {
      const Entry* e = v->find(step.key);
      if (e == nullptr) return nullptr;
      v = &e->value;
    } else {
      if (step.index >= v->items().size()) return nullptr;
      v = &v->items()[step.index];
    }
  }
  return v;
}

}  // namespace tutti
