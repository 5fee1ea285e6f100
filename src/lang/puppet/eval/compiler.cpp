#include "lang/puppet/eval/compiler.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/boundary.h"
#include "base/near.h"
#include "lang/puppet/catalog/native_type.h"
#include "lang/puppet/eval/growth.h"
#include "lang/puppet/facts/module_facts.h"
#include "lang/puppet/hiera/context.h"
#include "lang/puppet/hiera/hiera.h"
#include "lang/puppet/log.h"
#include "lang/puppet/ruby/forms.h"
#include "lang/puppet/types/regex.h"

namespace tutti::puppet {
namespace {
const Symbol& sym_class() {
  static const Symbol s("Class");
  return s;
}
const Symbol& sym_stage_param() {
  static const Symbol s("stage");
  return s;
}
}  // namespace

Compiler::Compiler(Environment& environment, Session& session, NodeInfo node)
    : environment_(environment),
      session_(session),
      arena_(&session.arena),
      node_(std::move(node)),
      budget_(compile_limits(session.budget.limits())),
      var_room_(session.arena),
      hiera_(std::make_unique<Hiera>(*this)) {}
Compiler::~Compiler() = default;

// --- errors

void Compiler::fail(Span at, const std::string& message, std::string code) {
  throw EvalError(std::move(code), at, message);
}

void Compiler::fail_read(Span at, const Failure& failure, std::string_view code) {
  EvalError e(std::string(read_failure_code(failure, code)), at, failure.message);
  e.help = read_failure_help(failure);
  throw e;
}

void Compiler::need_inside(Span at, const std::string& path) {
  if (path.empty()) return;
  if (Result<void> inside = may_read(path); !inside) fail_read(at, inside.error());
}

void Compiler::need_trust(Span at, const std::string& what) {
  if (may_run_code()) return;
  EvalError e(std::string(kNeedsTrustCode), at, fmt::format("{}, and the project is not trusted to run code", what));
  e.help = way_to_trust();
  throw e;
}

void Compiler::warn(Span at, std::string message, std::string code) {
  u64 key = (static_cast<u64>(at.begin.at) << 16) ^ std::hash<std::string>{}(code);
  if (at.begin && !warned_.insert(key).second) return;  // once for each place
  diagnostics().warning(std::move(code), at, std::move(message));
}

void Compiler::strict(Span at, const std::string& message, std::string code) {
  if (settings().strict == Settings::Strict::kError) fail(at, message, std::move(code));
  if (settings().strict == Settings::Strict::kWarning) warn(at, message, std::move(code));
}

void Compiler::log(std::string_view level, const std::string& message, Scope& scope, Pos at) {
  if (LogSink* sink = session_.attached<LogSink>(Value::null())) {
    const Scope* inner = &scope;
    while (inner->parent && !inner->resource) inner = inner->parent;
    bool main = !inner->resource || inner->resource->title == "main";
    sink->say(level, main ? "Class[main]" : inner->resource->ref(), message);
    return;
  }
  bool loud = level == "warning" || level == "err" || level == "alert" || level == "crit" || level == "emerg";
  Diagnostic& d = diagnostics().add(loud ? Severity::kWarning : Severity::kNote,
                                    fmt::format("PP-LOG-{}", upcase(level)), at, message);
  (void)d;
}

Scope* Compiler::new_scope(Scope::Kind kind, Scope* parent) {
  scopes_.emplace_back();
  Scope* s = &scopes_.back();
  s->kind = kind;
  s->parent = parent;
  s->real = s;
  return s;
}

Symbol Compiler::module_name(const Source* source) {
  auto [at, fresh] = module_names_.try_emplace(source);
  if (const Module* m = fresh ? environment_.module_of(source) : nullptr) at->second = m->name;
  return at->second;
}

// --- phases

bool Compiler::compile(std::span<const Program* const> manifests) {
  try {
    top_ = new_scope(Scope::Kind::kTop, nullptr);
    Resource& stage = *catalog_.make();
    stage.type = Symbol("Stage");
    stage.title = "main";
    stage.is_stage = true;
    stage.evaluated = true;
    stage.scope = top_;
    stage.kind = ResourceKind::kNative;
    stage.tag(Symbol("stage"));
    stage.tags_merged = true;
    catalog_.add(&stage);
    set_top_variables();
    Resource& settings_class = *catalog_.make();
    settings_class.type = sym_class();
    settings_class.title = "settings";
    settings_class.is_class = true;
    settings_class.evaluated = true;
    settings_class.scope = top_;
    for (const char* t : {"class", "settings"}) settings_class.tag(Symbol(t));
    settings_class.tags_merged = true;
    catalog_.add(&settings_class);
    catalog_.classes.push_back(Symbol("settings"));
    Scope* s = new_scope(Scope::Kind::kClass, top_);
    s->name = Symbol("settings");
    s->resource = &settings_class;
    set_variable(*s, Symbol("strict_variables"), Val::boolean(settings().strict_variables));
    static constexpr const char* kStrict[] = {"off", "warning", "error"};
    set_variable(*s, Symbol("strict"), Val::string(kStrict[static_cast<int>(settings().strict)]));
    set_variable(*s, Symbol("storeconfigs"), Val::boolean(settings().storeconfigs));
    set_variable(*s, Symbol("environment"), make_string(arena(), settings().environment_name));
    set_variable(*s, Symbol("modulepath"),
                 make_string(arena(), fmt::format("{}", fmt::join(settings().modulepath, ":"))));
    // What the Puppet of a distribution has by default.
    for (auto [setting, value] : {std::pair{"vardir", "/var/cache/puppet"},
                                  std::pair{"ssldir", "/var/lib/puppet/ssl"},
                                  std::pair{"confdir", "/etc/puppet"},
                                  std::pair{"codedir", "/etc/puppet/code"},
                                  std::pair{"environmentpath", "/etc/puppet/code/environments"},
                                  std::pair{"hiera_config", "/etc/puppet/hiera.yaml"},
                                  std::pair{"rundir", "/run/puppet"},
                                  std::pair{"logdir", "/var/log/puppet"},
                                  std::pair{"server", "puppet"},
                                  std::pair{"manifest", "no_manifest"},
                                  std::pair{"user", "puppet"},
                                  std::pair{"group", "puppet"},
                                  std::pair{"ca_server", "puppet"},
                                  std::pair{"statedir", "/var/cache/puppet/state"},
                                  std::pair{"libdir", "/var/cache/puppet/lib"},
                                  std::pair{"hostcrl", "/var/lib/puppet/ssl/crl.pem"},
                                  std::pair{"localcacert", "/var/lib/puppet/ssl/certs/ca.pem"},
                                  std::pair{"cadir", "/etc/puppet/puppetserver/ca"},
                                  std::pair{"cacert", "/etc/puppet/puppetserver/ca/ca_crt.pem"},
                                  std::pair{"cacrl", "/etc/puppet/puppetserver/ca/ca_crl.pem"},
                                  std::pair{"report_server", "puppet"}})
      set_variable(*s, Symbol(setting), Val::string(value));
    for (const char* own : {"certname", "node_name_value"})
      set_variable(*s, Symbol(own), make_string(arena(), node_.name));
    class_scopes_[s->name] = s;
    catalog_.edges.push_back({&stage, &settings_class});

    evaluate_main(manifests);
    evaluate_node();
    for (const Pair& p : node_.classes) {
      Scope& scope = node_scope_ ? *node_scope_ : *top_;
      if (p.value.is(VK::kHash) && p.value.size) {
        NewResource wanted;
        wanted.type = sym_class();
        wanted.title = p.key.text();
        for (const Pair& x : p.value.entries()) {
          ResourceParam param;
          param.name = Symbol(x.key.text());
          param.value = x.value;
          wanted.params.push_back(param);
        }
        create_resource(wanted, scope);
      } else {
        include_class(class_name_of(p.key, {}), scope, {});
      }
    }
    evaluate_generators();
    check_references();
    finish();
    check_unevaluated();
    return true;
  } catch (const EvalError& e) {
    if (e.code.empty()) return false;  // told already
    Diagnostic& d = diagnostics().error(e.code, e.where, e.what());
    for (const std::string& n : e.notes) d.note(n);
    d.help = e.help;
    tell_other_wrong_names(manifests, e);
  } catch (const LimitError& e) {
    throw LimitError(e.code(), e.what(),
                     e.at() ? e.at() : at_.at);  // shown, with its own exit code, where the call began
  } catch (const TypeError& e) {
    diagnostics().error("PP-TYPE", at_, e.what());
  } catch (const BackendHasNoSuchKey&) {
    diagnostics().error("PP-FUNCTION", at_, "a function that is no Hiera backend says that a key is not found");
  } catch (const ReturnSignal& s) {
    diagnostics().error("PP-RETURN", s.at, "return() from a context where it cannot be used");
  } catch (const NextSignal& s) {
    diagnostics().error("PP-NEXT", s.at, "next() from a context where it cannot be used");
  } catch (const BreakSignal& s) {
    diagnostics().error("PP-BREAK", s.at, "break() from a context where it cannot be used");
  }
  return false;
}

// Facts that came from another host (their `clientcert` is not the node's name) stand in for the node's own: the names
// of the host among them become those of the node. Facts of the node itself are left as they are.
static Val adopted_facts(Arena& arena, const Val& facts, std::string_view node) {
  const Val* owner = facts.is(VK::kHash) ? facts.get("clientcert") : nullptr;
  if (owner == nullptr || !owner->is(VK::kString) || equal_text(owner->text(), node)) return facts;
  std::size_t dot = node.find('.');
  Val host = make_string(arena, node.substr(0, dot)), full = make_string(arena, node);
  Val domain = make_string(arena, dot == std::string_view::npos ? std::string_view{} : node.substr(dot + 1));
  auto renamed = [&](const Val& from, std::initializer_list<std::pair<std::string_view, Val>> names) {
    HashDraft draft;
    for (const Pair& p : from.entries()) {
      Val value = p.value;
      for (const auto& [key, name] : names) {
        if (p.key.is(VK::kString) && p.key.text() == key) value = name;
      }
      draft.set(p.key, value);
    }
    return draft.build(arena).with_origin(from.origin);
  };
  Val out = renamed(facts, {{"hostname", host}, {"fqdn", full}, {"domain", domain}, {"clientcert", full}});
  const Val* networking = out.get("networking");
  if (networking == nullptr || !networking->is(VK::kHash)) return out;
  return renamed(out, {{"networking", renamed(*networking, {{"hostname", host}, {"fqdn", full}, {"domain", domain}})}});
}

void Compiler::set_top_variables() {
  top_->kind = Scope::Kind::kTop;
  std::string_view name = node_.name;
  if (settings().facts_of_host && node_.facts.is(VK::kHash)) {
    HashDraft all;
    for (const Pair& p : node_.facts.entries()) all.set(p.key, p.value);
    all.set("clientcert", make_string(arena(), name));  // these an agent adds
    all.set("clientnoop", Val::boolean(false));
    all.set("clientversion", Val::string("7.23.0"));
    node_.facts = all.build(arena());
  }
  node_.facts = adopted_facts(arena(), node_.facts, name);
  for (const Pair& p : node_.parameters) set_variable(*top_, Symbol(p.key.text()), p.value);
  if (node_.facts.is(VK::kHash))
    for (const Pair& p : node_.facts.entries()) set_variable(*top_, Symbol(p.key.text()), p.value);
  set_variable(*top_, Symbol("facts"), node_.facts);
  Val trusted = node_.trusted;
  if (!trusted.is(VK::kHash)) {
    HashDraft h;
    Val empty = make_hash(arena(), {});
    std::size_t dot = name.find('.');
    h.set("authenticated", Val::string("local"));
    h.set("certname", make_string(arena(), name));
    h.set("extensions", empty);
    h.set("hostname", make_string(arena(), name.substr(0, dot)));
    h.set("domain", dot == std::string_view::npos ? Val::undef() : make_string(arena(), name.substr(dot + 1)));
    h.set("external", empty);
    trusted = h.build(arena());
  }
  set_variable(*top_, Symbol("trusted"), trusted);
  Val environment = make_string(arena(), settings().environment_name);
  HashDraft server;
  server.set("serverversion", Val::string("7.23.0"));
  server.set("environment", environment);
  set_variable(*top_, Symbol("server_facts"), server.build(arena()));
  set_variable(*top_, Symbol("serverversion"), Val::string("7.23.0"));
  set_variable(*top_, Symbol("environment"), environment);
  set_variable(*top_, Symbol("clientcert"), make_string(arena(), name));
  set_variable(*top_, Symbol("clientversion"), Val::string("7.23.0"));  // an agent adds it to its facts
  for (const char* own : {"module_name", "caller_module_name"}) set_variable(*top_, Symbol(own), Val::string(""));
}

void Compiler::evaluate_main(std::span<const Program* const> manifests) {
  Resource& main = *catalog_.make();
  main.type = sym_class();
  main.title = "main";
  main.is_class = true;
  main.evaluated = true;
  main.scope = top_;
  main.tag(Symbol("class"));
  catalog_.add(&main);
  top_->resource = &main;
  catalog_.edges.push_back({catalog_.resources[0], &main});
  for (const char* own : {"title", "name"}) set_variable(*top_, Symbol(own), Val::string("main"));
  for (const Program* p : manifests) {
    try {
      execute(p->body, *top_);
    } catch (ReturnSignal& r) {
      fail(r.at, "return() from a context where it cannot be used", "PP-RETURN");
    }
  }
}

// Exact names beat patterns, the first pattern that matches beats the others, `default` takes the rest.
void Compiler::evaluate_node() {
  const auto& nodes = environment_.nodes();
  if (nodes.empty()) return;
  std::string wanted = downcase(node_.name);
  const Definition* chosen = nullptr;
  const Node* host = nullptr;
  for (const Definition* d : nodes)
    for (const Node* h : d->hosts)
      if (!chosen && h->kind == NodeKind::kString && downcase(as<Literal>(h).text) == wanted) chosen = d, host = h;
  std::vector<Val> captures;
  for (const Definition* d : nodes)
    for (const Node* h : d->hosts) {
      if (chosen || h->kind != NodeKind::kRegex) continue;
      std::string error;
      if (!Regex::get(as<Literal>(h).text, &error))
        fail(h->span(), fmt::format("invalid regular expression: {}", error));
      Scope probe;
      if (match_regex(arena().copy(std::string_view(wanted)), as<Literal>(h).text, probe, h->begin)) {
        chosen = d;
        host = h;
        captures.assign(probe.match.begin(), probe.match.end());
      }
    }
  for (const Definition* d : nodes)
    for (const Node* h : d->hosts)
      if (!chosen && h->kind == NodeKind::kDefault) chosen = d, host = h;
  if (!chosen)
    fail({}, fmt::format("could not find node statement with name 'default' or '{}'", node_.name), "PP-NO-NODE");
  std::string name;
  if (host->kind == NodeKind::kDefault) {
    name = "default";
  } else if (host->kind == NodeKind::kString) {
    name = downcase(as<Literal>(host).text);
  } else {
    for (char c : downcase(as<Literal>(host).text))
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == ':' || c == '.') name += c;
    name.erase(0, name.find_first_not_of('.'));
    name = "__node_regexp__" + name;
  }
  Resource& r = *catalog_.make();
  r.type = Symbol("Node");
  r.title = arena().copy(std::string_view(name));
  r.is_node = true;
  r.evaluated = true;
  r.definition = chosen;
  r.source = chosen;
  r.scope = top_;
  tag_if_valid(r, "node");
  tag_if_valid(r, name);
  for (Symbol t : r.tags) catalog_.tag(t);
  add_to_catalog(&r, *top_);
  merge_scope_tags(r);
  Scope* s = new_scope(Scope::Kind::kNode, top_);
  s->dynamic = top_;
  s->resource = &r;
  s->source = chosen;
  s->in_node = true;
  s->match = arena().copy(std::span<const Val>(captures));
  set_variable(*s, Symbol("title"), Val::string(r.title));
  set_variable(*s, Symbol("name"), Val::string(r.title));
  node_scope_ = s;
  catalog_.classes.push_back(Symbol(name));
  execute(chosen->body, *s);  // a node cannot be left with return(): see compile()
}

void Compiler::evaluate_generators() {
  for (int round = 0;; ++round) {
    bool more = evaluate_collectors();
    if (evaluate_definitions()) more = true;
    if (!more) return;
    if (round > 1000)
      throw LimitError("LIMIT-ROUNDS",
                       "defines and collectors still declare more after 1000 rounds; does a define declare itself?",
                       unevaluated_.empty() ? at_.at : unevaluated_.back()->at.at);
  }
}

bool Compiler::evaluate_definitions() {
  // Those known now; what they create waits for the next round, what is virtual until it is realized.
  std::vector<Resource*> todo, later;
  for (Resource* r : unevaluated_)
    if (!r->evaluated) (r->is_virtual ? later : todo).push_back(r);
  unevaluated_ = std::move(later);
  for (Resource* r : todo) evaluate_resource(*r);
  return !todo.empty();
}

void Compiler::merge_scope_tags(Resource& r) {
  if (r.tags_merged) return;
  r.tags_merged = true;
  Resource* container = r.scope ? r.scope->resource : nullptr;
  if (!container || container == &r) return;
  for (Symbol t : container->tags) r.tag(t);
}

void Compiler::evaluate_resource(Resource& r) {
  if (r.evaluated) return;
  r.evaluated = true;
  merge_scope_tags(r);
  Budget::Level level(budget_);
  try {
    if (r.is_class)
      evaluate_class(r);
    else
      evaluate_define(r);
  } catch (EvalError& e) {
    // The declarations that led here, innermost first.
    if (e.notes.size() < 24) {
      Pos at = r.at ? r.at : r.included_at;
      e.notes.push_back(fmt::format("in {}{}", r.ref(), at ? ", declared at " + session_.sources->show(at) : ""));
    }
    if (!r.is_class) note_containers(e, r);  // they were evaluated long before
    throw;
  }
}

void Compiler::evaluate_class(Resource& r) {
  const Definition& d = *r.definition;
  Scope* inherited = nullptr;
  if (!d.parent.empty()) {
    const Definition* parent = environment_.find_class(d.parent, diagnostics());
    if (!parent)
      fail(d.span(), fmt::format("could not find parent class '{}' of {}", d.parent.text(), d.name.text()),
           "PP-UNKNOWN-CLASS");
    Resource* pr = include_class(d.parent, *r.scope, d.begin, true);
    (void)pr;
    inherited = class_scope(d.parent);
    if (!inherited) fail(d.span(), fmt::format("class {} inherits from itself", d.name.text()), "PP-INHERIT-CYCLE");
  }
  Scope* outer = inherited ? inherited : r.scope;
  // Variables: the class it inherits from, else the node's scope when declared from within it, else top scope.
  Scope* variables = inherited ? inherited : (r.scope->in_node && node_scope_ ? node_scope_ : top_);
  Scope* s = new_scope(Scope::Kind::kClass, variables);
  s->dynamic = outer;
  s->resource = &r;
  s->source = &d;
  s->name = d.name;
  s->in_node = r.scope->in_node;
  s->module = module_name(d.source);
  catalog_.classes.push_back(d.name);
  set_resource_parameters(r, *s, d);
  // The stage: its own, that of whoever declared it, or main.
  static const Symbol stage_type("Stage");
  std::string stage = "main";
  if (const ResourceParam* p = r.find(sym_stage_param()); p && !p->value.undefined()) {
    stage = to_text(p->value);
  } else if (r.scope->resource) {
    if (const ResourceParam* q = r.scope->resource->find(sym_stage_param()); q && !q->value.undefined()) {
      stage = to_text(q->value);
      ResourceParam copy = *q;
      set_param(r, copy);
    }
  }
  Resource* stage_resource = catalog_.find(stage_type, stage);
  if (!stage_resource)
    fail(r.at ? r.at : r.included_at, fmt::format("could not find stage {} specified by {}", stage, r.ref()),
         "PP-STAGE");
  catalog_.edges.push_back({stage_resource, &r});
  try {
    execute(d.body, *s);
  } catch (ReturnSignal&) {
  }
}

void Compiler::evaluate_define(Resource& r) {
  const Definition& d = *r.definition;
  Scope* variables = r.scope->in_node && node_scope_ ? node_scope_ : top_;
  Scope* s = new_scope(Scope::Kind::kDefine, variables);
  s->dynamic = r.scope;
  s->resource = &r;
  s->source = &d;
  s->in_node = r.scope->in_node;
  s->module = module_name(d.source);
  set_resource_parameters(r, *s, d);
  try {
    execute(d.body, *s);
  } catch (ReturnSignal&) {
  }
  s->vars.give_back(var_room_);  // nothing that it declared sees them
}

Val Compiler::default_of(const Param& p, Scope& scope, const Unset& unset) {
  struct Restore {
    const Unset*& place;
    const Unset* before;
    ~Restore() { place = before; }
  } restore{unset_, std::exchange(unset_, &unset)};
  return evaluate(p.value, scope);
}

// Parameters become variables: what was given, then (for classes) what the data says, then defaults, left to right.
void Compiler::set_resource_parameters(Resource& r, Scope& scope, const Definition& d) {
  static const Symbol title("title"), name("name"), module_name("module_name"), caller("caller_module_name");
  if (!scope.module.empty()) set_variable(scope, module_name, Val::string(scope.module.text()));
  // A class that inherits is called by its parent, whoever includes it.
  set_variable(scope, caller, Val::string(scope.dynamic ? scope.dynamic->module.text() : ""));
  if (r.is_class)
    for (const Param& p : d.params) {
      ResourceParam* given = r.find(p.name);
      if (given && !given->value.undefined()) continue;
      std::string key = fmt::format("{}::{}", d.name.text(), p.name.text());
      if (auto v = hiera_->class_parameter(key, scope, p.begin)) {
        if (v->undefined() && p.value) continue;
        ResourceParam param;
        param.name = p.name;
        param.value = *v;
        param.at = p.begin;
        param.source = &d;
        param.how = How::kLookup;
        set_param(r, param);
      }
    }
  Val own_title = Val::string(r.title);
  if (r.number_title) parse_number(r.title, own_title);
  set_variable(scope, title, own_title);
  const ResourceParam* given_name = r.find(name);
  set_variable(scope, name, given_name && !given_name->value.undefined() ? given_name->value : own_title);
  if (r.is_class) class_scopes_[d.name] = &scope;
  index_.changed(r);  // by the defaults below: queries are asked when all of them are there
  std::vector<std::string> wrong, unknown, data;
  for (std::size_t n = 0; n < d.params.size(); ++n) {
    const Param& p = d.params[n];
    ResourceParam* given = r.find(p.name);
    Val v = given ? given->value : Val::undef();
    if (v.undefined() && p.value) {
      std::string what = r.ref();
      v = default_of(p, scope, {&scope, std::span(d.params).subspan(n), &r, what});
      ResourceParam param;
      param.name = p.name;
      param.value = v;
      param.at = p.begin;
      param.source = &d;
      param.how = How::kDefault;
      if (given)
        *given = param;
      else
        r.params.push_back(param);
    } else if (!given) {
      wrong.push_back(fmt::format("expects a value for parameter '{}'", p.name.text()));
      continue;
    }
    if (p.type) {
      const Type* t = type_of_node(p.type, scope);
      looked_at(budget_, v);
      if (!is_instance(t, v)) {
        for (std::string& w : describe_mismatch(fmt::format("parameter '{}'", p.name.text()), t, v))
          wrong.push_back(std::move(w));
        if (Pos written = session_.origins.written(v.origin); given && given->how == How::kLookup && written) {
          Location l = environment_.sources().locate(written);
          data.push_back(fmt::format("the data is at {}:{}:{}", l.file, l.line, l.column));
        }
      }
    }
    set_variable(scope, p.name, v);
  }
  for (const ResourceParam& p : r.params) {
    if (p.name == name || p.name == title) continue;
    bool known = is_metaparameter(p.name) ||
                 std::any_of(d.params.begin(), d.params.end(), [&](const Param& x) { return x.name == p.name; });
    if (!known) {
      std::vector<Symbol> names;
      for (const Param& x : d.params) names.push_back(x.name);
      Symbol near = nearest(p.name, names);
      unknown.push_back(fmt::format("has no parameter named '{}'{}", p.name.text(),
                                    near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near.text())));
    } else if (is_metaparameter(p.name) && !p.value.undefined()) {
      // A list of one tag is that tag, as it is for everything that reads tags.
      bool one = p.name.text() == "tag" && p.value.is(VK::kArray) && p.value.size == 1;
      set_variable(scope, p.name, one ? p.value.list[0] : p.value);
    }
  }
  wrong.insert(wrong.begin(), unknown.begin(), unknown.end());
  if (wrong.empty()) return;
  Pos at = r.at ? r.at : r.included_at;
  std::string all = r.ref() + ":";
  for (const std::string& w : wrong) all += (wrong.size() == 1 ? " " : "\n  ") + w;
  EvalError e("PP-PARAMETER", at, all);
  e.notes = data;
  throw e;
}

}  // namespace tutti::puppet
