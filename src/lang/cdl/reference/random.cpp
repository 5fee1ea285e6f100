// What the generator makes: lists that extend those before them and, seldom, any (recursion), properties that extend
// lists at every depth, attributes that meet; references by attribute and by element, several in one property and
// between texts, relative, absolute, into lists by name with and without a prefix, through what is inherited, with `.`
// and `..` anywhere, to nothing, to too much; lazy ones; expressions of every kind of result; the same name twice;
// documentation, comments, sections of character data and white space anywhere; a target namespace, a default one, a
// prefix that means another namespace further in; now and then many lists, or nestings of ten levels. What it does not
// make: imports, signatures and encryption (not of sections 7 and 11), types (they change no result).
#include "lang/cdl/reference/random.h"

#include <fmt/format.h>

#include <iterator>
#include <random>
#include <vector>

namespace tutti::cdl::reference {
namespace {

struct Draft {
  std::string name;
  std::string attributes, content;
  std::vector<Draft> children;
  bool leaf = false;
};

class Generator {
 public:
  explicit Generator(u64 seed) : random_(seed) {}

  std::string run() {
    bool target = chance(4), defaulted = chance(5);
    std::string out = "<cdl:cdl xmlns:cdl=\"http://www.gridforum.org/2004/12/CDDLM/XML-CDL/1.0\" xmlns:p=\"urn:p\"";
    if (target) out += " targetNamespace=\"urn:p\"";
    if (defaulted) out += " xmlns=\"urn:p\"";
    out += ">\n<cdl:configuration>\n";
    std::size_t lists = chance(150) ? 12 : pick(6);
    if (chance(150)) deepest_ = 10;
    for (std::size_t i = 0; i < lists; i++) names_.push_back(fmt::format("{}L{}", chance(6) ? "p:" : "", i));
    for (std::size_t i = 0; i < lists; i++) {
      Draft d = make(names_[i], 0, i);
      place(d, {}, d);
      write(out, d, 0);
    }
    out += "</cdl:configuration>\n<cdl:system>\n";
    Draft system{"", "", "", {}, false};
    std::size_t n = 1 + pick(3);
    for (std::size_t i = 0; i < n; i++) system.children.push_back(make(name(), 1, lists));
    place(system, {}, system);
    for (const Draft& d : system.children) write(out, d, 0);
    out += "</cdl:system>\n</cdl:cdl>\n";
    return out;
  }

 private:
  std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  bool chance(std::size_t one_in) { return pick(one_in) == 0; }
  std::string name() {
    static const char* const kNames[] = {"a", "b", "c", "d", "e", "p:a", "p:b"};
    return kNames[pick(chance(5) ? 7 : 5)];
  }

  // Structure and prototypes first: a list may extend those before it, seldom any.
  Draft make(std::string n, int depth, std::size_t extendable) {
    Draft d;
    d.name = std::move(n);
    if (chance(8)) d.attributes += fmt::format(" k{}=\"{}\"", pick(2), pick(9));
    if (chance(12)) d.attributes += chance(2) ? " cdl:use=\"required\"" : " cdl:type=\"p:t\"";
    if (!names_.empty() && chance(3)) {
      std::size_t limit = chance(40) ? names_.size() : std::min(extendable, names_.size());
      if (limit > 0) d.attributes += fmt::format(" cdl:extends=\"{}\"", names_[pick(limit)]);
    }
    if (depth >= deepest_ || (depth > 0 && chance(deepest_ > 4 ? 4 : 2))) {
      d.leaf = true;
      return d;
    }
    std::size_t n_children = deepest_ > 4 ? 1 + pick(2) : chance(200) ? 9 : pick(4);
    std::vector<std::string> used;
    for (std::size_t i = 0; i < n_children; i++) {
      std::string c = name();
      bool twice = false;
      for (const std::string& u : used) twice |= u == c;
      if (twice && !chance(12)) continue;
      used.push_back(c);
      d.children.push_back(make(c, depth + 1, extendable));
    }
    return d;
  }

  // A path to some property of the same list, relative or absolute; now and then any.
  std::string path(const Draft& root, const std::vector<std::string>& here) {
    if (chance(10)) {
      static const char* const kAny[] = {"a",   "../b",    "/a/b", "..",     ".",   "/",
                                         "a/b", "../../c", "./a",  "a/../b", "/c/", "p:a"};
      return kAny[pick(12)];
    }
    if (chance(12)) return detour(here);
    std::vector<std::string> to;
    const Draft* at = &root;
    while (!at->children.empty() && (to.empty() || !chance(3))) {
      at = &at->children[pick(at->children.size())];
      to.push_back(at->name);
    }
    std::string out;
    if (!to.empty() && chance(2)) {
      for (const std::string& s : to) out += "/" + s;
      return out;
    }
    for (std::size_t i = 1; i < here.size(); i++) out += "../";
    for (const std::string& s : to) out += s + "/";
    if (!out.empty()) out.pop_back();
    return out.empty() ? "." : out;
  }

  // To where it stands, up and down again, over steps that say nothing.
  std::string detour(const std::vector<std::string>& here) {
    std::string out;
    std::size_t up = here.size() > 1 ? pick(here.size() - 1) : 0;
    for (std::size_t i = 0; i < up; i++) out += chance(3) ? ".././" : "../";
    for (std::size_t i = here.size() - up - 1; i > 0 && i < here.size(); i++)
      out += here[i] + (chance(4) ? "/./" : "/");
    if (chance(2)) out += name() + "/..";
    if (out.ends_with('/')) out.pop_back();
    return out.empty() ? "." : out;
  }

  std::string reference(const Draft& root, const std::vector<std::string>& here, const char* prefix) {
    std::string out;
    if (!names_.empty() && chance(4)) {
      static const char* const kIn[] = {"/a", "/b", "a/b", "/c", "/a/b", "/", "d", "b"};
      out = fmt::format(" {}refroot=\"{}\" {}ref=\"{}\"", prefix, chance(30) ? "Q" : names_[pick(names_.size())],
                        prefix, kIn[pick(8)]);
    } else {
      out = fmt::format(" {}ref=\"{}\"", prefix, path(root, here));
    }
    if (chance(9)) out += " cdl:lazy=\"true\"";
    return out;
  }

  std::string expression(const Draft& root, const std::vector<std::string>& here) {
    // Not name(): which of two prefixes for a namespace a copied element has is left open.
    static const char* const kTwo[] = {"$x + $y",
                                       "concat($x, '-', $y)",
                                       "$x = $y",
                                       "$x &lt; $y or not($x)",
                                       "count($x | $y)",
                                       "string($y | $x)",
                                       "($x | $y | $x)[last()]",
                                       "string($x) = $y",
                                       "sum($x) - 1",
                                       "substring($x, 2)",
                                       "translate($y, '12', 'ab')",
                                       "$x != $y",
                                       "($x * 2) mod 7",
                                       "boolean($x) = $y",
                                       "local-name($x)",
                                       "$x[1]",
                                       "normalize-space(concat(' ', $x, '  ', $y))",
                                       "starts-with($x, '1') and $y &gt;= 3",
                                       "round($x div 4)",
                                       "string-length($x) + count($y | $x)"};
    std::size_t which = pick(std::size(kTwo));
    return fmt::format(
        "<cdl:expression value-of=\"{}\"><cdl:variable name=\"x\"{}/><cdl:variable name=\"y\"{}/></cdl:expression>",
        kTwo[which], reference(root, here, ""), reference(root, here, ""));
  }

  // Values and references, once the structure is there to be referred to.
  void place(Draft& d, std::vector<std::string> here, const Draft& root) {
    for (Draft& c : d.children) {
      std::vector<std::string> below = here;
      below.push_back(c.name);
      place(c, below, root);
    }
    if (&d == &root) {
      if (!d.name.empty() && chance(8)) d.content = fmt::format("<cdl:ref{}/>", reference(root, here, ""));
      return;
    }
    if (d.leaf) {
      switch (pick(10)) {
        case 0:
        case 1:
        case 2: d.attributes += reference(root, here, "cdl:"); return;
        case 3: d.attributes += " cdl:lazy=\"true\""; return;
        case 4: d.content = expression(root, here); return;
        case 5:
          d.content =
              fmt::format("{}<cdl:ref{}/>{}", chance(2) ? "t" : "", reference(root, here, ""), chance(2) ? "u" : "");
          if (chance(4)) d.content += fmt::format("<cdl:ref{}/>", reference(root, here, ""));
          return;
        case 6: return;
        case 7: {
          static const char* const kTexts[] = {"text",        "a &lt; b", "<![CDATA[1 < 2]]>", " 7 ", "-1.5",
                                               "<!-- c -->x", "&#228;"};
          d.content = kTexts[chance(2) ? 0 : pick(std::size(kTexts))];
          return;
        }
        default: d.content = fmt::format("{}", pick(20)); return;
      }
    }
    if (chance(10)) d.content = fmt::format("<cdl:ref{}/>", reference(root, here, ""));
    if (d.children.empty() && d.content.empty() && chance(3)) d.content = "v";
  }

  void write(std::string& out, const Draft& d, std::size_t depth) {
    if (chance(40)) out += "<!-- between -->\n";
    out.append(2 * depth, ' ');
    out += fmt::format("<{}{}", d.name, d.attributes);
    // A prefix of ours that means something else from here on; or the same once more.
    if (chance(60)) out += chance(2) ? " xmlns:p=\"urn:p\"" : " xmlns:z=\"urn:z\"";
    if (d.children.empty() && d.content.empty()) {
      out += "/>\n";
      return;
    }
    out += ">" + d.content;
    if (!d.children.empty()) {
      out += "\n";
      if (chance(40)) out += "<cdl:documentation>what it is <b>for</b></cdl:documentation>\n";
      for (const Draft& c : d.children) write(out, c, depth + 1);
      out.append(2 * depth, ' ');
    }
    out += fmt::format("</{}>\n", d.name);
  }

  std::mt19937_64 random_;
  std::vector<std::string> names_;
  int deepest_ = 4;
};

}  // namespace

std::string random_document(u64 seed) { return Generator(seed).run(); }

}  // namespace tutti::cdl::reference
