#include "lang/puppet/hiera/story.h"

#include <algorithm>

#include "lang/puppet/types/value_text.h"

namespace tutti::puppet {
namespace {

void put_value(const Val& v, std::string& indent, std::string& out) {
  bool hash = v.is(VK::kHash);
  if (!hash && !v.is(VK::kArray)) {
    out += v.is(VK::kType) ? to_text(v) : ruby_inspect(v);
    return;
  }
  out += hash ? '{' : '[';
  bool first = true;
  indent += "  ";
  auto next = [&] {
    out += first ? "\n" : ",\n";
    out += indent;
    first = false;
  };
  if (hash) {
    for (const Pair& p : v.entries()) {
      next();
      put_value(p.key, indent, out);
      out += " => ";
      put_value(p.value, indent, out);
    }
  } else {
    for (const Val& item : v.items()) {
      next();
      put_value(item, indent, out);
    }
  }
  indent.resize(indent.size() - 2);
  if (!first) {
    out += '\n';
    out += indent;
  }
  out += hash ? '}' : ']';
}

}  // namespace

Story::Item& Story::current() {
  Item* item = &root_;
  for (std::size_t n : at_) item = &item->inside[n];
  return *item;
}

void Story::enter(std::string head) {
  Item& here = current();
  Item& fresh = here.inside.emplace_back();
  fresh.text = std::move(head);
  fresh.part = true;
  at_.push_back(here.inside.size() - 1);
}

void Story::enter_merge(std::string head) {
  enter(std::move(head));
  current().merge = true;
}

void Story::leave() { at_.pop_back(); }

void Story::line(std::string text) { current().inside.emplace_back().text = std::move(text); }

void Story::line(std::string text, const Val& value) {
  Item& fresh = current().inside.emplace_back();
  fresh.text = std::move(text);
  fresh.valued = true;
  fresh.value = value;
}

void Story::tell(const Item& item, std::string& indent, std::string& out) {
  if (item.merge) {
    auto is_part = [](const Item& i) { return i.part; };
    auto parts = std::count_if(item.inside.begin(), item.inside.end(), is_part);
    if (parts == 1) tell(*std::find_if(item.inside.begin(), item.inside.end(), is_part), indent, out);
    if (parts < 2) return;
  }
  out += indent;
  out += item.text;
  if (item.valued) put_value(item.value, indent, out);
  out += '\n';
  indent += "  ";
  for (const Item& i : item.inside) tell(i, indent, out);
  indent.resize(indent.size() - 2);
}

std::string Story::text() const {
  std::string out, indent;
  for (const Item& i : root_.inside) tell(i, indent, out);
  return out;
}

}  // namespace tutti::puppet
