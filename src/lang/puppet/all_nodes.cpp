#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <thread>

#include "base/process_limits.h"
#include "base/sink.h"
#include "lang/puppet/catalog/output.h"
#include "lang/puppet/catalog/texts.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/failed_nodes.h"
#include "lang/puppet/request.h"

namespace tutti::puppet {
namespace {

constexpr std::size_t kStack = std::size_t{256} << 20;  // taken from the system only as far as it is used

// The tree with places for origins: what leads from a place to a value is in the tables of the session that made it.
Value with_places(const Session& session, Arena& arena, const Value& v) {
  TreeBuilder b(arena);
  Origin o = session.origins.written(v.origin());
  switch (v.kind()) {
    case Kind::kList: {
      std::vector<Value> items;
      items.reserve(v.size());
      for (const Value& i : v.items()) items.push_back(with_places(session, arena, i));
      return b.list(items, o);
    }
    case Kind::kMap: {
      std::vector<Entry> entries(v.entries().begin(), v.entries().end());
      for (Entry& e : entries) e.value = with_places(session, arena, e.value);
      return b.map(entries, o);
    }
    default: return v.with_origin(o);
  }
}

struct Job {
  std::string node, file;
  std::unique_ptr<Session> session;
  std::optional<Value> tree;
  std::string exported;   // what it exports, in JSON
  bool collects = false;  // what others export
  bool good = false;
};

struct Shared {
  std::vector<Job> jobs;
  std::atomic<std::size_t> next{0};
  Environment* environment = nullptr;
  std::span<const Program* const> manifests;
  const Limits* limits = nullptr;
  std::shared_ptr<Sources> sources;
  bool as_text = false, reveal = false;
  bool gathers_exported = false;  // there is no file of what nodes export: it is found by compiling them
  bool again = false;
  std::shared_ptr<CatalogTexts> texts;  // when they are all that is wanted
};

Val without_places(Arena& arena, const Val& v) {
  switch (v.kind) {
    case VK::kString: return make_string(arena, v.text());
    case VK::kArray: {
      std::vector<Val> items;
      for (const Val& i : v.items()) items.push_back(without_places(arena, i));
      return make_array(arena, items);
    }
    case VK::kHash: {
      HashDraft draft;
      for (const Pair& p : v.entries()) draft.set(without_places(arena, p.key), without_places(arena, p.value));
      return draft.build(arena);
    }
    default: return v.with_origin({});
  }
}

// Where nobody asks what a value comes from, the text of a node's facts goes with its job: facts are tens of kilobytes.
std::optional<Val> facts_of(Shared& shared, Job& job) {
  if (shared.as_text) {
    Session reading(*shared.limits);
    if (auto facts = read_facts(reading, job.file)) return without_places(job.session->arena, *facts);
  }
  return read_facts(*job.session, job.file);  // also for what is to be said of facts that cannot be read
}

void compile_job(Shared& shared, Job& job) {
  auto facts = facts_of(shared, job);
  if (!facts) return;
  auto compiler = compile_catalog(*job.session, *shared.environment, shared.manifests, job.node, *facts);
  if (!compiler) return;
  job.good = true;
  if (shared.gathers_exported) {
    job.exported = exported_json(*compiler);
    job.collects = compiler->asked_for_exported();
  }
  if (shared.as_text) {
    StringSink sink;
    write_catalog(*compiler, sink, shared.reveal);
    sink.put('\n');
    shared.texts->keep(static_cast<std::size_t>(&job - shared.jobs.data()), sink.take());
  } else {
    job.tree = with_places(*job.session, job.session->arena, catalog_tree(*compiler));
  }
}

void* work(void* p) {
  Shared& shared = *static_cast<Shared*>(p);
  for (;;) {
    std::size_t n = shared.next++;
    if (n >= shared.jobs.size()) return nullptr;
    Job& job = shared.jobs[n];
    if (shared.again && !job.collects) continue;  // it has all it wants
    job.good = false;
    job.session = std::make_unique<Session>(*shared.limits, shared.sources);
    try {
      compile_job(shared, job);
    } catch (const LimitError& e) {
      job.session->diagnostics.error(e.code(), Pos{e.at()}, e.what());
    } catch (const std::exception& e) {
      job.session->diagnostics.error("PP-INTERNAL", {}, e.what());
    }
    if (!shared.as_text) continue;
    if (job.session->diagnostics.all().empty())
      job.session.reset();
    else
      job.session->arena = {}, job.session->origins = {};
  }
}

}  // namespace

std::unique_ptr<Compiler> compile_catalog(Session& session, Environment& environment,
                                          std::span<const Program* const> manifests, const std::string& name,
                                          const Val& facts) {
  NodeInfo node;
  node.facts = facts;
  node.name = name;
  if (node.name.empty()) {
    const Val* fqdn = node.facts.get("fqdn");
    node.name = fqdn ? to_text(*fqdn) : "localhost";
  }
  const std::string& enc = environment.settings().enc;
  if (!enc.empty() && !read_classifier(session, enc, environment.settings().environment_name, node)) return nullptr;
  auto compiler = std::make_unique<Compiler>(environment, session, std::move(node));
  if (!compiler->compile(manifests)) return nullptr;
  return compiler;
}

std::optional<Value> compile_node(Session& session, Environment& environment, std::span<const Program* const> manifests,
                                  const std::string& name, const Val& facts) {
  auto compiler = compile_catalog(session, environment, manifests, name, facts);
  if (!compiler) return std::nullopt;
  return catalog_tree(*compiler);
}

Value stand_in(Session& session) {
  Entry e;
  e.key = Symbol("resources");
  return session.builder().map(std::span<const Entry>(&e, 1));
}

static void compile_jobs(Shared& shared) {
  shared.next = 0;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  threads = std::min<unsigned>(threads, static_cast<unsigned>(shared.jobs.size()));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  let_reserve(kStack * threads);
  std::vector<pthread_t> started;
  for (unsigned n = 0; n < threads; ++n) {
    pthread_t t;
    if (pthread_create(&t, &attributes, work, &shared) == 0) started.push_back(t);
  }
  pthread_attr_destroy(&attributes);
  if (started.empty()) work(&shared);
  for (pthread_t t : started) pthread_join(t, nullptr);
}

// What any node exports is there for those that collect: they are compiled once more, as if every node had had its
// catalog before.
static void compile_collecting_jobs(Shared& shared) {
  std::string all;
  bool wanted = false;
  for (const Job& job : shared.jobs) {
    if (!job.exported.empty()) all += (all.empty() ? "" : ",") + job.exported;
    wanted = wanted || job.collects;
  }
  if (!wanted || all.empty()) return;
  shared.environment->set_exported("[" + all + "]");
  shared.gathers_exported = false;
  shared.again = true;
  compile_jobs(shared);
}

std::optional<Value> compile_all(Session& session, Environment& environment, std::span<const Program* const> manifests,
                                 const std::string& dir, bool as_text, bool reveal) {
  Shared shared;
  shared.environment = &environment;
  shared.manifests = manifests;
  shared.limits = &session.budget.limits();
  shared.sources = session.sources;
  shared.as_text = as_text;
  shared.reveal = reveal;
  for (auto& [name, file] : facts_files(dir)) {
    Job job;
    job.node = name;
    job.file = file;
    shared.jobs.push_back(std::move(job));
  }
  if (shared.jobs.empty()) {
    session.diagnostics.error("PP-FACTS", {}, fmt::format("{}: no facts (NAME.yaml or NAME.json) in this folder", dir));
    return std::nullopt;
  }
  if (as_text) shared.texts = std::make_shared<CatalogTexts>(shared.jobs.size());
  shared.gathers_exported = environment.settings().storeconfigs && environment.settings().exported_file.empty();
  compile_jobs(shared);
  if (shared.gathers_exported) compile_collecting_jobs(shared);

  // In the order of the nodes' names, whichever thread was first.
  std::vector<std::string> failed;
  std::vector<Entry> nodes;
  for (Job& job : shared.jobs) {
    if (job.session)
      for (const Diagnostic& d : job.session->diagnostics.all()) {
        Diagnostic& copy = session.diagnostics.add(d.severity, d.code, d.where, d.message);
        copy.notes = d.notes;
        copy.help = d.help;
        copy.note("on node " + job.node);
      }
    if (!job.good) {
      failed.push_back(job.node);
      continue;
    }
    if (as_text) continue;
    Entry e;
    e.key = Symbol(job.node);
    e.value = *job.tree;
    nodes.push_back(e);
  }
  // One node that cannot be compiled does not keep the others from theirs.
  if (!failed.empty())
    session.diagnostics.error(
        "PP-NODES", {},
        fmt::format("no catalog for {} of {} nodes: {}", failed.size(), shared.jobs.size(), fmt::join(failed, ", ")));
  if (failed.size() == shared.jobs.size()) return std::nullopt;
  auto without = std::make_shared<FailedNodes>(FailedNodes{failed});
  static const Symbol catalogs("catalogs");
  if (as_text) {
    Value all = stand_in(session).with_tag(catalogs);
    session.attach(all, shared.texts);
    session.attach(all, without);
    return all;
  }
  Value all = session.builder().map(nodes);
  session.attach(all, std::make_shared<std::vector<Job>>(std::move(shared.jobs)));
  session.attach(all, without);
  return all.with_tag(catalogs);
}

}  // namespace tutti::puppet
