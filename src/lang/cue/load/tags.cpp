// What the command line puts into fields (@tag) and what files put into them (@embed).
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <set>

#include "base/boundary.h"
#include "lang/cue/builtin/timestamp.h"
#include "lang/cue/eval/error_code.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/format/walk.h"
#include "lang/cue/import/decode.h"
#include "lang/cue/import/decode_file.h"
#include "lang/cue/load/attribute.h"
#include "lang/cue/load/glob.h"
#include "lang/cue/load/packages.h"

namespace tutti::cue {

namespace fs = std::filesystem;
using ast::as;

namespace {

struct Tag {
  std::string key, type = "string", var;
  std::vector<std::string> shorthands;
  ast::Field* field = nullptr;
  bool injected = false;
};

bool named_label(const ast::Node* l) {
  if (l->kind == ast::Kind::kAlias) l = static_cast<const ast::Alias*>(l)->x;
  return l->kind == ast::Kind::kIdent || l->kind == ast::Kind::kLit;
}

void invalid_tags(ast::Node* n, const char* why, std::vector<LoadProblem>& problems) {
  for_children(n, [&](ast::Node* c) { invalid_tags(c, why, problems); });
  if (n->kind == ast::Kind::kField)
    for (ast::Node* a : as<ast::Field>(n)->attrs)
      if (as<ast::Attribute>(a)->name() == "tag") problems.push_back({why, {as<ast::Attribute>(a)->at.pos}});
}

void find_tags(ast::Node* n, std::vector<Tag>& tags, std::vector<LoadProblem>& problems) {
  switch (n->kind) {
    case ast::Kind::kList: return invalid_tags(n, "@tag not allowed within lists", problems);
    case ast::Kind::kComprehension: return invalid_tags(n, "@tag not allowed within comprehension", problems);
    case ast::Kind::kField: {
      auto* f = as<ast::Field>(n);
      if (!named_label(f->label) || f->constraint != Tok::kIllegal)
        return invalid_tags(n, "@tag not allowed within field constraint", problems);
      for (ast::Node* x : f->attrs) {
        auto* a = as<ast::Attribute>(x);
        if (a->name() != "tag") continue;
        std::vector<AttributeArg> args = parse_attribute(a->body());
        Tag t;
        t.field = f;
        if (!args.empty()) t.key = args[0].value;
        if (!is_identifier(t.key)) {
          problems.push_back({fmt::format("invalid identifier {}", quote(t.key)), {a->at.pos}});
          continue;
        }
        if (const std::string* type = attribute_value(args, "type")) {
          t.type = *type;
          if (t.type != "string" && t.type != "int" && t.type != "number" && t.type != "bool") {
            problems.push_back({fmt::format("invalid type {}", quote(t.type)), {a->at.pos}});
            continue;
          }
        }
        if (const std::string* s = attribute_value(args, "short"))
          for (std::size_t at = 0; at <= s->size();) {
            std::size_t bar = std::min(s->find('|', at), s->size());
            t.shorthands.push_back(s->substr(at, bar - at));
            at = bar + 1;
          }
        if (const std::string* v = attribute_value(args, "var")) t.var = *v;
        tags.push_back(t);
      }
      break;
    }
    default: break;
  }
  for_children(n, [&](ast::Node* c) { find_tags(c, tags, problems); });
}

// A word of the command line as a literal of the tag's type; nullptr with an error.
ast::Node* tag_value(Arena& arena, const Tag& t, const std::string& text, std::string& error) {
  if (t.type == "string") return make_lit(arena, Tok::kString, quote(text));
  if (t.type == "bool") {
    for (std::string_view yes : {"true", "1", "t", "T", "TRUE", "True"})
      if (text == yes) return make_lit(arena, Tok::kTrue, "true");
    for (std::string_view no : {"false", "0", "f", "F", "FALSE", "False"})
      if (text == no) return make_lit(arena, Tok::kFalse, "false");
    error = fmt::format("invalid boolean {} for injection tag {}", quote(text), quote(t.key));
    return nullptr;
  }
  Number n = parse_number(text);
  if (!n.ok()) {
    error = fmt::format("invalid number for injection tag {}: {}", quote(t.key), n.error);
    return nullptr;
  }
  if (t.type == "int" && !n.integer) {
    error = fmt::format("invalid int {} for injection tag {}", quote(text), quote(t.key));
    return nullptr;
  }
  bool negative = text.starts_with('-');
  ast::Node* lit = make_lit(arena, n.integer ? Tok::kInt : Tok::kFloat, negative ? text.substr(1) : text);
  return negative ? arena.make<ast::Unary>(TokenPos{}, Tok::kSub, lit) : lit;
}

void inject(Arena& arena, Tag& t, ast::Node* value) {
  t.field->value = arena.make<ast::Binary>(t.field->value, TokenPos{}, Tok::kAnd, value);
  t.injected = true;
}

ast::Node* tag_variable(Arena& arena, const std::string& name) {
  auto text = [&](std::string_view s) { return make_lit(arena, Tok::kString, quote(s)); };
  char buffer[4096];
  if (name == "now") {
    auto now = std::chrono::system_clock::now().time_since_epoch();
    Time t;
    t.seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
    t.nanoseconds = static_cast<i32>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() % 1'000'000'000);
    return text(format_time(t, kRfc3339Nano));
  }
  if (name == "os") return text("linux");
  if (name == "arch") {
#if defined(__x86_64__)
    return text("amd64");
#elif defined(__aarch64__)
    return text("arm64");
#else
    return text("unknown");
#endif
  }
  if (name == "cwd") return text(fs::current_path().string());
  if (name == "hostname") return gethostname(buffer, sizeof buffer) == 0 ? text(buffer) : nullptr;
  if (name == "username") {
    const passwd* p = getpwuid(getuid());
    return text(p ? p->pw_name : "");
  }
  if (name == "rand") {
    std::random_device r;
    std::string s = "0x";
    for (int i = 0; i < 4; ++i) s += fmt::format("{:08x}", r());
    return make_lit(arena, Tok::kInt, s);
  }
  return nullptr;
}

}  // namespace

void PackageLoader::inject_tags(const std::vector<LoadedPackage*>& packages) {
  std::vector<Tag> tags;
  for (LoadedPackage* p : packages) {
    for (const auto* files : {&p->files, &p->tools})
      for (ast::File* f : *files)
        if (!f->source || f->source->text.find("@tag") != std::string::npos) find_tags(f, tags, p->problems);
  }
  auto report = [&](std::string message, std::string near = {}) {
    for (LoadedPackage* p : packages) p->problems.push_back({message, {}, near});
  };
  for (const std::string& s : config_.tags) {
    std::size_t equal = s.find('=');
    std::string name = s.substr(0, equal);
    bool found = used_tags_.count(s) > 0;
    for (Tag& t : tags) {
      bool mine = equal != std::string::npos
                      ? t.key == name
                      : std::find(t.shorthands.begin(), t.shorthands.end(), s) != t.shorthands.end();
      if (!mine) continue;
      found = true;
      std::string error;
      ast::Node* v = tag_value(arena_, t, equal != std::string::npos ? s.substr(equal + 1) : s, error);
      if (!v) return report(error);
      inject(arena_, t, v);
    }
    if (!found) {
      std::vector<std::string_view> keys, shorthands;
      for (const Tag& t : tags) {
        keys.push_back(t.key);
        shorthands.insert(shorthands.end(), t.shorthands.begin(), t.shorthands.end());
      }
      if (equal != std::string::npos) return report(fmt::format("no tag for {}", quote(name)), meant_name(name, keys));
      return report(fmt::format("tag {} not used in any file", quote(s)), meant_name(s, shorthands));
    }
  }
  if (!config_.tag_vars) return;
  std::map<std::string, ast::Node*> vars;
  for (Tag& t : tags) {
    if (t.injected || t.var.empty()) continue;
    auto [it, fresh] = vars.try_emplace(t.var, nullptr);
    if (fresh) it->second = tag_variable(arena_, t.var);
    if (!it->second) return report(fmt::format("tag variable '{}' not found", t.var));
    inject(arena_, t, it->second);
  }
}

namespace {

struct Embedder {
  PackageLoader& loader;
  Sources& sources;
  Arena& arena;
  LoadedPackage& package;
  std::string dir;

  std::set<const ast::Node*>& added;     // what was not written
  std::vector<ast::Node*> imports = {};  // that embedded schemas need

  void problem(const ast::Attribute* a, std::string message, std::string_view code = {}) {
    package.problems.push_back({"@embed: " + message, {a->at.pos}, {}, code});
  }

  static bool in_other_module(const std::string& base, const std::string& file) {
    for (fs::path p = fs::path(file).parent_path(); !p.empty() && p != "."; p = p.parent_path())
      if (fs::exists(fs::path(base) / p / "cue.mod")) return true;
    return false;
  }

  ast::Node* decode(const ast::Attribute* a, const std::string& file, const std::string& type) {
    std::string error;
    std::optional<DataFile> d = data_file(file, type, error);
    if (!d) {
      problem(a, error);
      return nullptr;
    }
    if (d->interpretation == "auto") d->interpretation.clear();  // data, whatever it says of itself
    std::string path = dir + "/" + file;
    std::error_code ec;
    const bool inside = may_look_at(path);  // of what is outside nothing is told: opening refuses
    if (inside && !fs::exists(path, ec)) {
      problem(a, fmt::format("open {}: no such file or directory", file));
      return nullptr;
    }
    if (inside && fs::is_directory(path, ec)) {
      problem(a, "cannot embed directories");
      return nullptr;
    }
    if (d->encoding == "cue" || d->encoding == "jsonl" || d->encoding == "textproto") {
      problem(a, fmt::format("encoding {} not (yet) supported{}", quote(d->encoding),
                             d->encoding == "jsonl" ? ": requires support for streaming"
                             : d->encoding == "cue" ? ""
                                                    : ": requires support for schema-guided decoding"));
      return nullptr;
    }
    std::vector<LoadProblem> problems;
    const Source* s = loader.open(path, problems);
    if (!s) {
      problem(a, problems.empty() ? "cannot read" : problems[0].message,
              problems.empty() ? std::string_view{} : problems[0].code);
      return nullptr;
    }
    Decoded r = decode_file(*d, *s, arena);
    if (!r.ok()) {
      // The file is shown as the attribute names it.
      if (Result<const Source*> named = sources.add(file, s->text)) r = decode_file(*d, **named, arena);
      LoadProblem p{"@embed: " + r.errors[0].message, {a->at.pos}};
      if (r.errors[0].pos) p.places.push_back(r.errors[0].pos);
      package.problems.push_back(p);
      return nullptr;
    }
    if (r.documents.size() != 1) {
      if (r.documents.empty()) return make_lit(arena, Tok::kNull, "null");
      problem(a, "streaming not implemented: found more than one value in file");
      return nullptr;
    }
    ast::Node* x = r.documents[0];
    if (x->kind != ast::Kind::kFile) return x;
    // A schema is a file of its own; what it imports, this one must import.
    std::vector<ast::Node*> body;
    for (ast::Node* n : as<ast::File>(x)->decls) {
      if (n->kind == ast::Kind::kImport)
        imports.push_back(n);
      else if (n->kind != ast::Kind::kPackage)
        body.push_back(n);
    }
    return make_struct(arena, body);
  }

  static std::string normal(const std::string& s) {
    std::string n = fs::path(s).lexically_normal().string();
    return n.empty() ? "." : n;
  }

  ast::Node* value(const ast::Attribute* a) {
    bool good;
    std::vector<AttributeArg> args = parse_attribute(a->body(), &good);
    const std::string *file = attribute_value(args, "file", 0), *glob_ = attribute_value(args, "glob", 0),
                      *type = attribute_value(args, "type", 0);
    bool empty_ok = attribute_flag(args, "allowEmptyGlob", 0);
    if (empty_ok && !glob_) return problem(a, "allowEmptyGlob must be specified with a glob field"), nullptr;
    if (!file && !glob_) return problem(a, "attribute must have file or glob field"), nullptr;
    if (file && glob_) return problem(a, "attribute cannot have both file and glob field"), nullptr;
    std::string path = file ? *file : *glob_;
    std::string clean = normal(path);
    if (clean != path) return problem(a, fmt::format("path not normalized, use {} instead", quote(clean))), nullptr;
    if (path.starts_with('/')) return problem(a, "only relative files are allowed"), nullptr;
    if (path == ".." || path.starts_with("../")) return problem(a, "cannot refer to parent directory"), nullptr;
    if (file) {
      if (in_other_module(dir, path))
        return problem(a, fmt::format("cannot embed file {}: in different module", quote(path))), nullptr;
      return decode(a, path, type ? *type : "");
    }
    if (std::string_view wrong = glob_problem(path); !wrong.empty())
      return problem(a, fmt::format("invalid glob pattern {}: {}", quote(path), wrong)), nullptr;
    if (!type) {
      std::string ext = fs::path(path).extension().string();
      if (ext.empty() || ext.find_first_of("*?[\\") != std::string::npos)
        return problem(a, "extension not fully specified; type argument required"), nullptr;
    }
    std::vector<std::string> matches = glob_files(dir + "/" + path, false);
    for (std::string& m : matches) m.erase(0, dir.size() + 1);
    if (matches.empty() && !empty_ok)
      return problem(a, fmt::format("no matches for glob pattern {}", quote(path))), nullptr;
    std::vector<ast::Node*> fields;
    for (const std::string& m : matches) {
      if (may_look_at(dir + "/" + m) && fs::is_directory(dir + "/" + m)) continue;
      if (in_other_module(dir, m))
        return problem(a, fmt::format("cannot embed file {}: in different module", quote(m))), nullptr;
      ast::Node* v = decode(a, m, type ? *type : "");
      if (!v) return nullptr;
      fields.push_back(make_field(arena, make_label(arena, m), v));
    }
    return make_struct(arena, fields);
  }

  static bool is_embed(const ast::Node* a) { return static_cast<const ast::Attribute*>(a)->name() == "embed"; }

  void decls(ast::Nodes& list) {
    std::vector<ast::Node*> out;
    bool changed = false;
    for (ast::Node* d : list) {
      out.push_back(d);
      if (d->kind == ast::Kind::kAttribute && is_embed(d)) {
        if (ast::Node* v = value(as<ast::Attribute>(d))) {
          out.push_back(arena.make<ast::Embed>(v));
          added.insert(out.back());
          changed = true;
        }
        continue;
      }
      walk(d);
    }
    if (changed) list = make_nodes(arena, out);
  }

  void walk(ast::Node* n) {
    switch (n->kind) {
      case ast::Kind::kStruct: return decls(as<ast::Struct>(n)->elts);
      case ast::Kind::kField: {
        auto* f = as<ast::Field>(n);
        if (f->value) walk(f->value);
        for (ast::Node* a : f->attrs)
          if (ast::Node* v = is_embed(a) ? value(as<ast::Attribute>(a)) : nullptr) {
            f->value = f->value ? arena.make<ast::Binary>(f->value, TokenPos{}, Tok::kAnd, v) : v;
            added.insert(f->value);
          }
        return;
      }
      default: for_children(n, [&](ast::Node* c) { walk(c); });
    }
  }
};

// Adds imports that a file does not have yet.
void add_imports(Arena& arena, ast::File* f, const std::vector<ast::Node*>& imports,
                 std::set<const ast::Node*>& added) {
  std::set<std::string> there;
  std::size_t at = 0;
  for (std::size_t i = 0; i < f->decls.size(); ++i) {
    ast::Node* d = f->decls[i];
    if (d->kind == ast::Kind::kPackage || d->kind == ast::Kind::kImport || d->kind == ast::Kind::kAttribute) at = i + 1;
    if (d->kind == ast::Kind::kImport)
      for (ast::Node* s : as<ast::Import>(d)->specs) there.insert(std::string(as<ast::ImportSpec>(s)->path->text));
    else if (d->kind == ast::Kind::kField)
      break;
  }
  std::vector<ast::Node*> specs, decls(f->decls.begin(), f->decls.end());
  for (ast::Node* d : imports)
    for (ast::Node* s : as<ast::Import>(d)->specs)
      if (there.insert(std::string(as<ast::ImportSpec>(s)->path->text)).second) specs.push_back(s);
  if (specs.empty()) return;
  auto* more = arena.make<ast::Import>(TokenPos{}, TokenPos{}, make_nodes(arena, specs), TokenPos{});
  decls.insert(decls.begin() + static_cast<long>(at), more);
  f->decls = make_nodes(arena, decls);
  added.insert(more);
}

}  // namespace

void PackageLoader::embed(LoadedPackage& p) {
  std::vector<ast::File*> files = p.files;
  files.insert(files.end(), p.tools.begin(), p.tools.end());
  for (ast::File* f : files) {
    // @extern(kind) in front of a file asks for help from outside; embedding is the only kind there is.
    bool on = false, in_front = true;
    for (ast::Node* d : f->decls) {
      if (d->kind != ast::Kind::kAttribute) {
        in_front = false;
        continue;
      }
      auto* a = as<ast::Attribute>(d);
      if (a->name() != "extern") continue;
      std::string kind(a->body());
      if (Unquoted u = unquote(kind); kind.starts_with('"') && u.ok()) kind = u.text;
      auto refuse = [&](std::string why) { p.problems.push_back({std::move(why), {a->at.pos}}); };
      if (!f->package())
        refuse("extern attribute without package clause");
      else if (!in_front)
        refuse("extern attribute must appear before package clause");
      else if (kind.empty())
        refuse("injection name must be non-empty");
      else if (kind != "embed")
        refuse(fmt::format("no injection defined for {}", quote(kind)));
      else if (on)
        refuse(fmt::format("duplicate @extern attribute for kind {}", quote(kind)));
      else
        on = true;
    }
    if (!on || !f->source || !embedded_.insert(f).second) continue;
    std::string path = absolute(f->source->name);
    Embedder e{*this, sources_, arena_, p, fs::path(path).parent_path().string(), added_};
    ast::Nodes list = f->decls;
    e.decls(list);
    f->decls = list;
    if (!e.imports.empty()) add_imports(arena_, f, e.imports, added_);
  }
}

}  // namespace tutti::cue
