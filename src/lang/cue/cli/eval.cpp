// eval, export, def and vet.
#include <fmt/format.h>

#include <algorithm>

#include "base/sink.h"
#include "format/write.h"
#include "lang/cue/cli/plan.h"
#include "lang/cue/eval/unchecked.h"
#include "lang/cue/export/encode.h"
#include "lang/cue/export/schema.h"
#include "lang/cue/export/yaml.h"
#include "lang/cue/format/format.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"
#include "lang/cue/load/instance.h"
#include "text/secret_words.h"

namespace tutti::cue {

Encoder::Encoder(Program& p, const Plan& plan, Plan::Mode mode) : p_(p), mode_(mode), output_(plan.output) {
  stream_ = plan.expressions.size() > 1;
  package_flag_ = p.flags().text("package");
  if (output_.encoding == "cue") concrete_ = mode == Plan::Mode::kExport && output_.form != "schema";
  if (output_.encoding == "go" || output_.encoding == "proto")
    p.fail(fmt::format("unsupported encoding {}", quote(output_.encoding)));
  if (!output_.interpretation.empty() && output_.interpretation != "openapi" &&
      output_.interpretation != "jsonschema" && output_.interpretation != "pb")
    p.fail(fmt::format("unsupported interpretation {}", quote(output_.interpretation)));
}

void Encoder::cue(ast::File* f, const std::string& name, bool simplify) {
  if (!name.empty() && stream_)
    out_ += "// " + name.substr(name.rfind('/') + 1) + "\n";
  else if (separate_)
    out_ += "// ---\n";
  separate_ = true;
  if (!package_flag_.empty() && !f->package()) {
    std::vector<ast::Node*> decls{
        p_.arena().make<ast::Package>(TokenPos{{}, Rel::kNewSection}, make_ident(p_.arena(), package_flag_))};
    decls.insert(decls.end(), f->decls.begin(), f->decls.end());
    f->decls = make_nodes(p_.arena(), decls);
  }
  FormatOptions options;
  options.simplify = simplify || (mode_ == Plan::Mode::kEval && p_.flags().on("simplify"));
  if (mode_ == Plan::Mode::kEval) options.spaces = 4;
  out_ += format_node(f, options);
}

void Encoder::file(ast::File* f, const std::string& name) { cue(f, name, false); }

static bool is_common_output(std::string_view encoding) {
  return encoding == "json" || encoding == "yaml" || encoding == "toml";
}

void Encoder::value(Item& item) {
  Vertex* v = item.value;
  Context& c = p_.context();
  if (!output_.interpretation.empty() && output_.interpretation != "pb") {
    if (Bottom* b = p_.validate(v, false, false)) p_.fail(b);
    std::string error;
    std::vector<LoadProblem> problems;
    ast::Node* schema = output_.interpretation == "openapi" ? generate_openapi(c, p_.sources(), v, error, problems)
                                                            : generate_json_schema(c, p_.sources(), v, error, problems);
    if (!problems.empty()) p_.fail(problems);
    if (!schema) p_.fail(error);
    if (output_.encoding == "cue") return cue(p_.file_of(schema), "", true);
    item.value = v = p_.build_files({p_.file_of(schema)}, "");
    c.finalize(v);
  }
  if (Bottom* b = p_.validate(v, concrete_, false)) p_.fail(b);
  std::string error;
  if (output_.encoding == "cue") {
    ExportProfile profile;
    bool attributes = p_.flags().on("show-attributes");
    ast::File* f;
    if (mode_ == Plan::Mode::kExport) {
      profile.take_defaults = true;
      profile.show_docs = true;
      profile.show_attributes = attributes;
      profile.final = false;
      f = export_value(c, p_.sources(), item.package, v, profile);
    } else {
      profile.show_docs = true;
      profile.show_attributes = attributes || mode_ == Plan::Mode::kDef;
      profile.show_optional = profile.show_definitions = profile.show_hidden = true;
      profile.add_package = true;
      profile.inline_imports = p_.flags().on("inline-imports");
      profile.package = package_flag_;
      f = export_definition(c, p_.sources(), item.package, v, profile);
    }
    return cue(f, "", true);
  }
  if (output_.encoding == kLeaves) {
    TreeOptions options;
    options.leaves = true;
    tree(to_tree(p_.session(), c, v, options));
  } else if (p_.hides_secrets() && is_common_output(output_.encoding)) {
    tree(to_tree(p_.session(), c, v, {.definitions = false, .hidden = false}));
  } else if (output_.encoding == "json" || output_.encoding == "jsonl") {
    JsonStyle style;
    style.indent = "    ";
    style.html = p_.flags().on("escape");
    // The text is smaller than the values it is of. Room that is not written to costs nothing; growing would.
    constexpr std::size_t kMost = std::size_t{1} << 28;
    if (out_.empty()) out_.reserve(std::min(c.arena.bytes(), kMost));
    if (!encode_json(c, p_.sources(), v, style, out_, error)) p_.fail(error);
    out_ += '\n';
  } else if (output_.encoding == "yaml") {
    if (written_ > 0) out_ += "---\n";
    ExportProfile profile;
    profile.take_defaults = profile.final = true;
    ast::File* f = export_value(c, p_.sources(), item.package, v, profile);
    std::string text;
    if (!encode_yaml(as_expression(p_.arena(), f), text, error)) p_.fail(error);
    out_ += text;
  } else if (output_.encoding == "toml") {
    std::string text;
    if (!encode_toml(c, v, text, error)) p_.fail(error);
    out_ += text;
  } else if (output_.encoding == "text" || output_.encoding == "binary") {
    Node* n = c.default_of(v);
    while (n->type == NodeType::kVertex && to<Vertex>(n)->deref_value()->base &&
           to<Vertex>(n)->deref_value()->base->is_value())
      n = c.default_of(to<Vertex>(n)->deref_value()->base);
    std::string_view text;
    if (n->type == NodeType::kString)
      text = to<String>(n)->text;
    else if (n->type == NodeType::kBytes && output_.encoding == "binary")
      text = to<Bytes>(n)->text;
    else {
      std::string kind = kinds_text(c.kinds(n));
      p_.fail(output_.encoding == "text"
                  ? fmt::format("cannot use value {} (type {}) as string", compact(v), kind)
                  : fmt::format("cannot use value {} (type {}) as (string|bytes)", compact(v), kind));
    }
    out_ += text;
    if (output_.encoding == "text") out_ += '\n';
  } else {
    p_.fail(fmt::format("unsupported encoding {}", quote(output_.encoding)));
  }
  ++written_;
}

// The tree knows which of its values are secret, and is written as every verb does it.
void Encoder::tree(const Value& tree) {
  StringSink sink;
  WriteOptions options{.concrete = concrete_, .reveal = !p_.hides_secrets()};
  if (!write_tree(p_.session(), tree, output_.encoding, options, sink)) p_.fail_with_diagnostics();
  out_ += sink.take();
}

void Encoder::close() {
  // What is written as CUE has no marks that the writer would know.
  if (p_.hides_secrets()) out_ = p_.sources().said_secrets().hidden(out_);
  p_.write_output(output_.path, std::move(out_), p_.flags().on("force"));
}

void run_eval(Program& p) {
  Plan plan(p, Plan::Mode::kEval);
  plan.load(p.flags().arguments());
  Encoder e(p, plan, Plan::Mode::kEval);
  const CommandFlags& f = p.flags();
  bool ignore = f.on("ignore"), concrete = f.on("concrete"), all = f.on("all");
  auto end = [&] { e.close(); };
  try {
    plan.each([&](Item& item) {
      std::string id = plan.instances.size() > 1 ? item.id : "";
      if (plan.expressions.size() > 1) id = item.id;
      auto header = [&] {
        if (!id.empty()) p.say(fmt::format("// {}\n", id));
      };
      if (!e.is_cue()) {
        try {
          e.value(item);
        } catch (const Stop& s) {
          header();
          p.print_error(s.problems);
        }
        return;
      }
      Vertex* v = item.value;
      if (!ignore) {
        if (Bottom* b = v->bottom(); b && !b->incomplete()) {
          if (Bottom* w = p.validate(v, concrete, true)) {
            header();
            p.fail(w);
          }
        } else if (b) {
          if (Bottom* w = p.validate(v, concrete, true)) {
            header();
            p.fail(w);
          }
        }
        if (concrete)
          if (Bottom* b = p.validate(v, true, true)) {
            header();
            p.print_error(b);
            return;
          }
      }
      ExportProfile profile;
      profile.take_defaults = true;
      bool hidden = f.on("show-hidden") || all;
      profile.show_optional = (all || f.on("show-optional")) && !concrete;
      profile.show_definitions = !concrete;
      profile.show_hidden = hidden && !concrete;
      profile.show_attributes = f.on("show-attributes");
      profile.show_errors = ignore;
      e.file(export_value(p.context(), p.sources(), item.package, v, profile), id);
    });
  } catch (const Stop&) {
    end();
    throw;
  }
  end();
}

void run_export(Program& p) {
  Plan plan(p, Plan::Mode::kExport);
  plan.keep_syntax = plan.output.encoding != "json" || !plan.output.interpretation.empty();
  plan.load(p.flags().arguments());
  Encoder e(p, plan, Plan::Mode::kExport);
  try {
    plan.each([&](Item& item) {
      item.value = plan.place_value(item.value);
      e.value(item);
    });
  } catch (const Stop&) {
    if (e.has_values() && plan.output.path == "-") e.close();  // what comes before the package that is wrong
    throw;
  }
  e.close();
}

void run_def(Program& p) {
  Plan plan(p, Plan::Mode::kDef);
  plan.load(p.flags().arguments());
  Encoder e(p, plan, Plan::Mode::kDef);
  plan.each([&](Item& item) {
    if (item.file && e.is_cue())
      e.file(item.file, "");
    else
      e.value(item);
  });
  e.close();
}

void run_vet(Program& p) {
  Plan plan(p, Plan::Mode::kInput, false);
  plan.keep_syntax = false;
  plan.load(p.flags().arguments());
  const CommandFlags& f = p.flags();
  if (!plan.orphans.empty()) {
    if (!plan.schema) p.fail("data files specified without a schema");
    const bool told = !p.answering().named_cue && !f.given("schema");
    const std::string note = told ? unchecked_note(*plan.schema) : "";
    plan.each([&](Item& item) {
      if (Bottom* b = p.validate(item.value, true, true, false, item.data)) p.print_error(b);
    });
    if (!note.empty()) p.warn("CUE-UNCHECKED", note);
    return;
  }
  bool given = f.given("concrete"), shown = false;
  plan.each([&](Item& item) {
    bool concrete = given ? f.on("concrete") : true;
    Bottom* b = p.validate(item.value, concrete, concrete);
    if (b && !given) {
      b = p.validate(item.value, false, false);
      if (!b && !shown) {
        shown = true;
        p.print_error(
            {{"some instances are incomplete; use the -c flag to show errors or -c=false to allow incomplete instances",
              {}}});
      }
    }
    p.print_error(b);
  });
}

}  // namespace tutti::cue
