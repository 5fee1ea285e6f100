#pragma once

#include <string>
#include <vector>

#include "lang/puppet/types/value.h"

namespace tutti::puppet {

// What a look-up did, as `puppet lookup --explain` tells it: a tree of what was searched, each part with what was found
// there.
class Story {
 public:
  // A part that what comes next is told within, until it is left. A merge of fewer than two parts is not told as one.
  void enter(std::string head);
  void enter_merge(std::string head);
  void leave();

  void line(std::string text);
  void line(std::string text, const Val& value);  // the text, then the value over as many lines as it takes

  std::string text() const;

 private:
  struct Item {
    std::string text;
    bool part = false, merge = false, valued = false;
    Val value;
    std::vector<Item> inside;
  };
  Item& current();
  static void tell(const Item& item, std::string& indent, std::string& out);

  Item root_;
  std::vector<std::size_t> at_;  // the way to the part that is being told
};

}  // namespace tutti::puppet
