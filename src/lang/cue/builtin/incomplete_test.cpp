// A call whose arguments are not decided is not wrong: it waits. For every function there is a call that has a value,
// and every argument of it is then left open in every way (a type, an optional field, a condition, a slice, an element,
// a field of it): no such call may be in error, and when what was left open is filled in the value is that of the call.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "lang/cue/builtin/registry.h"
#include "lang/cue/load/instance.h"

namespace tutti::cue {
namespace {

// One call a line.
const std::pair<const char*, const char*> kCalls[] = {
    {"crypto/ed25519",
     "Valid('12345678901234567890123456789012', 'm', "
     "'0123456789012345678901234567890123456789012345678901234567890123')"},
    {"crypto/hmac", "Sign(\"MD5\", 'k', 'd')"},
    {"crypto/md5", "Sum('a')"},
    {"crypto/sha1", "Sum('a')"},
    {"crypto/sha256", "Sum256('a')\nSum224('a')"},
    {"crypto/sha512", "Sum512('a')\nSum384('a')\nSum512_224('a')\nSum512_256('a')"},
    {"encoding/base64", "EncodedLen(null, 4)\nDecodedLen(null, 4)\nEncode(null, 'ab')\nDecode(null, \"YWI=\")"},
    {"encoding/csv", "Encode([[\"a\", 1], [\"b\", {c: 2}]])\nDecode('a,b')"},
    {"encoding/hex", "EncodedLen(4)\nDecodedLen(4)\nDecode(\"6162\")\nDump('ab')\nEncode('ab')"},
    {"encoding/json", R"x(Valid("{}")
Compact("{ }")
Indent("{}", "", " ")
HTMLEscape("<")
Marshal({a: [1, "x"]})
MarshalStream([{a: 1}, [2]])
UnmarshalStream("1 2")
Unmarshal("[1]")
Validate("{\"a\": 1}", {a: int}))x"},
    {"encoding/openapi", R"x(MarshalSchema({version: "3.0.0", info: {title: "t", version: "v1"}}, {#A: int}))x"},
    {"encoding/toml", "Marshal({a: [1], b: {c: \"x\"}})\nUnmarshal(\"a = 1\")"},
    {"encoding/yaml", R"x(Marshal({a: [1, {b: "x"}]})
MarshalStream([{a: 1}, [2]])
Unmarshal("a: 1")
UnmarshalStream("1")
Validate("a: 1", {a: int})
ValidatePartial("a: 1", {a: int}))x"},
    {"html", "Escape(\"<\")\nUnescape(\"&lt;\")"},
    {"list", R"x(Drop([1, 2, 3], 1)
FlattenN([1, [2, [3]]], 1)
Repeat([1, 2], 2)
Concat([[1, 2], [], [3]])
Take([1, 2, 3], 1)
Slice([1, 2, 3], 0, 2)
Reverse([1, 2])
MinItems([1, 2], 1)
MaxItems([1, 2], 2)
UniqueItems([1, 2])
Contains([1, "a"], "a")
MatchN([1, 2], 2, int)
Avg([1, 3])
Max([1, 3])
Min([1, 3])
Product([2, 3])
Range(0, 6, 2)
Sum([1, 2])
Sort([2, 1], {x: _, y: _, less: x < y})
SortStable([2, 1], {x: _, y: _, less: x < y})
SortStrings(["b", "a"])
IsSorted([1, 2], {x: _, y: _, less: x < y})
IsSortedStrings(["a", "b"]))x"},
    {"math/bits",
     "Lsh(1, 2)\nRsh(4, 1)\nAt(5, 0)\nSet(4, 0, 1)\nAnd(5, 4)\nOr(5, 2)\nXor(5, 1)\nClear(5, 1)\nOnesCount(5)\nLen(5)"},
    {"math", R"x(Jacobi(2, 7)
Floor(1.5)
Ceil(1.5)
Trunc(1.5)
Round(1.5)
RoundToEven(1.5)
MultipleOf(4, 2)
Abs(-1)
Acosh(1.5)
Asin(0.5)
Acos(0.5)
Asinh(0.5)
Atan(0.5)
Atan2(1.0, 2.0)
Atanh(0.5)
Cbrt(8.0)
Copysign(1.0, -1.0)
Dim(3.0, 1.0)
Erf(0.5)
Erfc(0.5)
Erfinv(0.5)
Erfcinv(0.5)
Exp(1.0)
Exp2(1.0)
Expm1(1.0)
Gamma(2.0)
Hypot(3.0, 4.0)
J0(1.0)
Y0(1.0)
J1(1.0)
Y1(1.0)
Jn(1, 1.0)
Yn(1, 1.0)
Ldexp(1.0, 2)
Log(2.0)
Log10(2.0)
Log2(2.0)
Log1p(2.0)
Logb(2.0)
Ilogb(2.0)
Mod(5.0, 3.0)
Pow(2, 3)
Pow10(2)
Remainder(5.0, 3.0)
Signbit(-1.0)
Cos(1.0)
Sin(1.0)
Sinh(1.0)
Cosh(1.0)
Sqrt(4.0)
Tan(1.0)
Tanh(1.0))x"},
    {"net", R"x(SplitHostPort("a:80")
JoinHostPort("a", "80")
JoinHostPort([127, 0, 0, 1], 80)
FQDN("a.example.com")
ParseIP("127.0.0.1")
IPv4([127, 0, 0, 1])
IPv6("::1")
IP("::1")
IPCIDR("10.0.0.0/8")
LoopbackIP([127, 0, 0, 1])
MulticastIP([224, 0, 0, 1])
InterfaceLocalMulticastIP("ff01::1")
LinkLocalMulticastIP("ff02::1")
LinkLocalUnicastIP("fe80::1")
GlobalUnicastIP("8.8.8.8")
UnspecifiedIP("0.0.0.0")
ToIP4("1.2.3.4")
ToIP16([1, 2, 3, 4])
IPString([1, 2, 3, 4])
AddIP("1.2.3.4", 1)
AddIPCIDR("10.0.0.0/8", 1)
ParseCIDR("10.0.0.0/8")
InCIDR([10, 0, 0, 1], "10.0.0.0/8")
CompareIP("1.2.3.4", [1, 2, 3, 5])
PathEscape("a b")
PathUnescape("a%20b")
QueryEscape("a b")
QueryUnescape("a+b")
URL("http://a/")
AbsURL("http://a/"))x"},
    {"path", R"x(Split("a/b", "unix")
SplitList("a:b", "unix")
Join(["a", "b"], "unix")
Match("a*", "ab", "unix")
Clean("a//b", "unix")
ToSlash("a", "unix")
FromSlash("a", "unix")
Ext("a.b", "unix")
Resolve("/a", "b", "unix")
Rel("/a", "/a/b", "unix")
Base("a/b", "unix")
Dir("a/b", "unix")
IsAbs("/a", "unix")
VolumeName("c:/x", "windows"))x"},
    {"regexp", R"x(Find("a+", "baa")
FindAll("a", "aa", -1)
FindAllNamedSubmatch("(?P<x>a)", "aa", -1)
FindAllSubmatch("(a)", "aa", -1)
FindNamedSubmatch("(?P<x>a)", "aa")
FindSubmatch("(a)", "aa")
ReplaceAll("a", "aa", "b")
ReplaceAllLiteral("a", "aa", "b")
Valid("a")
Match("a", "aa")
QuoteMeta("a.b"))x"},
    {"strconv", R"x(Unquote("\"a\"")
ParseBool("true")
FormatBool(true)
ParseFloat("1.5", 64)
ParseNumber("1Ki")
ParseUint("7", 10, 64)
ParseInt("-7", 10, 64)
Atoi("7")
FormatFloat(1.5, "f", 2, 64)
FormatUint(7, 2)
FormatInt(7, 2)
Quote("a")
QuoteToASCII("a")
QuoteToGraphic("a")
QuoteRune(65)
QuoteRuneToASCII(65)
QuoteRuneToGraphic(65)
IsPrint(65)
IsGraphic(65))x"},
    {"strings", R"x(ByteAt("abc", 1)
ByteSlice("abc", 0, 2)
Runes("ab")
Repeat("a", 2)
MinRunes("abc", 2)
MaxRunes("abc", 4)
ToTitle("a b")
ToCamel("A b")
SliceRunes("abc", 0, 2)
Compare("a", "b")
Count("aa", "a")
Contains("ab", "a")
ContainsAny("ab", "xa")
LastIndex("aa", "a")
IndexAny("ab", "b")
LastIndexAny("ab", "b")
SplitN("a,b", ",", 2)
SplitAfterN("a,b", ",", 2)
Split("a,b", ",")
SplitAfter("a,b", ",")
Fields("a b")
Join(["a", "b"], ",")
HasPrefix("ab", "a")
HasSuffix("ab", "b")
ToUpper("a")
ToLower("A")
Trim("xax", "x")
TrimLeft("xa", "x")
TrimRight("ax", "x")
TrimSpace(" a ")
TrimPrefix("ab", "a")
TrimSuffix("ab", "b")
Replace("aa", "a", "b", 1)
Index("ab", "b"))x"},
    {"struct", "MinFields({a: 1, b: 2}, 1)\nMaxFields({a: 1}, 2)"},
    {"text/tabwriter", "Write([\"a\\tb\", \"c\\td\"])\nWrite(\"a\\tb\")"},
    {"text/template", "Execute(\"{{.a}}\", {a: [1, \"x\"]})\nHTMLEscape(\"<\")\nJSEscape(\"'\")"},
    {"time", R"x(Duration("1h")
FormatDuration(3600000000000)
ParseDuration("1h")
Time("2020-01-02T03:04:05Z")
Format("2020-01-02T03:04:05Z", "2006-01-02T15:04:05Z07:00")
FormatString("2006", "2020-01-02T03:04:05Z")
Parse("2006", "2020")
Unix(1, 0)
ToUnix("2020-01-02T03:04:05Z")
ToUnixNano("2020-01-02T03:04:05Z")
Split("2020-01-02T03:04:05Z"))x"},
    {"uuid", R"x(Valid("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
Parse("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
URN("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
FromInt(7)
ToInt("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
Variant("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
Version("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
SHA1("6ba7b810-9dad-11d1-80b4-00c04fd430c8", 'a')
MD5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", 'a'))x"},
    {"", "len([1, 2])\nlen({a: 1})\nlen(\"ab\")\nand([>0, 1])\nor([1, 2])\ndiv(5, 2)\nmod(5, 2)\nquo(5, 2)\nrem(5, 2)"},
};

// The parts of `text` between commas that are in no bracket and no quotes.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote) {
      if (c == '\\') out.back() += text[i++];
      if (text[i] == quote && c != '\\') quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{' || c == '(') {
      ++depth;
    } else if (c == ']' || c == '}' || c == ')') {
      --depth;
    } else if (c == ',' && depth == 0) {
      out.emplace_back();
      continue;
    }
    if (out.back().empty() && text[i] == ' ') continue;
    out.back() += text[i];
  }
  if (out.size() == 1 && out[0].empty()) out.clear();
  return out;
}

std::string joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ", ")); }

// A way to leave a value open: what stands for it, what is declared beside it, and what fills it in.
struct Opening {
  std::string expression, declarations, filling;
};

std::string type_of(std::string_view value) {
  switch (value[0]) {
    case '"': return "string";
    case '\'': return "bytes";
    case '[': return "[...]";
    case '{': return "{...}";
    case 't': return "bool";
    default: return value.find('.') == std::string_view::npos ? "int" : "number";
  }
}

std::vector<Opening> openings(const std::string& value) {
  std::vector<Opening> out = {
      {"_v", "_v: _\n", "_v: " + value},
      {"_v", "_v?: _\n", "_v: " + value},
      {"[if _b {" + value + "}][0]", "_b: bool\n", "_b: true"},
      {"[(" + value + "), 0][_n]", "_n: int\n", "_n: 0"},
  };
  // A comparer is open itself, and no branch to choose; definitions of a choice are not seen.
  if (value.find("less:") == std::string::npos && value.find('#') == std::string::npos)
    out.push_back({"_v", "_v: (" + value + ") | false\n", "_v: " + value});
  if (value == "null" || value.starts_with('>')) return out;
  // Of an open list or struct something is there already: the call may have its answer.
  if (value[0] != '[' && value[0] != '{') out.push_back({"_v", "_v: " + type_of(value) + "\n", "_v: " + value});
  bool list = value[0] == '[', fields = value[0] == '{';
  if (list) {
    out.push_back({value + "[_n:]", "_n: int\n", "_n: 0"});
    out.push_back({"[for x in _v {x}]", "_v: _\n", "_v: " + value});
    out.push_back({"[if _b for x in " + value + " {x}]", "_b: bool\n", "_b: true"});
  }
  if (!list && !fields) return out;
  std::vector<std::string> all = parts_of(std::string_view(value).substr(1, value.size() - 2));
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t colon = fields ? all[i].find(": ") + 2 : 0;
    std::string label = all[i].substr(0, colon), part = all[i].substr(colon);
    if (label.starts_with("#") || part == "_" || part == "int" || part.starts_with("x <")) continue;
    for (const Opening& o : openings(part)) {
      std::vector<std::string> with = all;
      with[i] = label + o.expression;
      out.push_back({(list ? "[" : "{") + joined(with) + (list ? "]" : "}"), o.declarations, o.filling});
    }
  }
  return out;
}

// What `path` is: its JSON-like text, or the error that the whole has.
std::string evaluated(const std::string& text, std::string_view path) {
  Session session;
  auto source = session.sources->add("test.cue", text);
  Instance instance(session);
  const Source* one[] = {*source};
  if (!instance.load_sources(one)) return "not compiled";
  Vertex* root = instance.evaluate();
  if (Bottom* b = root->bottom(); b && !b->incomplete()) return "wrong: " + flatten(b)[0].message;
  Vertex* v = root;
  for (std::size_t at = 0; v && at < path.size();) {
    std::size_t dot = std::min(path.find('.', at), path.size());
    v = v->deref_value()->find_raw(Label::string(path.substr(at, dot - at)));
    at = dot + 1;
  }
  return v ? compact(v) : "not there";
}

struct Case {
  std::string head, call, name;
  std::vector<std::string> args;
};

std::vector<Case> all_calls() {
  std::vector<Case> out;
  for (auto& [package, lines] : kCalls) {
    std::string_view path = package, rest = lines;
    std::string prefix = path.empty() ? "" : std::string(path.substr(path.rfind('/') + 1)) + ".";
    while (!rest.empty()) {
      std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      std::size_t open = line.find('(');
      Case c;
      if (!path.empty()) c.head = fmt::format("import \"{}\"\n", path);
      c.name = fmt::format("{}.{}", path, line.substr(0, open));
      c.call = prefix + std::string(line.substr(0, open));
      c.args = parts_of(line.substr(open + 1, line.size() - open - 2));
      out.push_back(std::move(c));
    }
  }
  return out;
}

TEST(CueIncompleteArguments, EveryFunctionHasACall) {
  std::set<std::string> called;
  for (const Case& c : all_calls()) called.insert(c.name);
  std::size_t functions = 0;
  for (std::string_view path : builtin_package_paths()) {
    if (path.starts_with("tool/")) continue;
    for (auto& [name, b] : find_package(path)->functions) {
      ++functions;
      EXPECT_TRUE(called.contains(fmt::format("{}.{}", path, name))) << path << "." << name;
    }
  }
  EXPECT_EQ(functions, 259u);
}

TEST(CueIncompleteArguments, WaitForWhatIsOpen) {
  std::size_t tried = 0;
  for (const Case& c : all_calls()) {
    std::string complete = fmt::format("{}({})", c.call, joined(c.args));
    std::string wanted = evaluated(c.head + "out: " + complete, "out");
    ASSERT_FALSE(wanted.starts_with("wrong") || wanted.starts_with("not ")) << complete << ": " << wanted;
    for (std::size_t i = 0; i < c.args.size(); ++i)
      for (const Opening& o : openings(c.args[i])) {
        std::vector<std::string> args = c.args;
        args[i] = o.expression;
        std::string open = fmt::format("{}#D: {{\n{}out: {}({})\n}}\n", c.head, o.declarations, c.call, joined(args));
        ++tried;
        EXPECT_FALSE(evaluated(open, "").starts_with("wrong")) << open << evaluated(open, "");
        EXPECT_EQ(evaluated(open + "d: #D & {" + o.filling + "}\n", "d.out"), wanted) << open << o.filling;
      }
  }
  EXPECT_GT(tried, 2000u);
}

}  // namespace
}  // namespace tutti::cue
