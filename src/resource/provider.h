#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "resource/params.h"
#include "transport/host.h"

// What an action does on a host, said as what should be there: a file with this content, a package, a running process.
// A resource is looked at before it is touched, so what is already right is left alone; the same look is the dry run,
// the check of an action that was in flight when we were killed, and the search for drift. Looking never changes
// anything.
namespace tutti::resource {

struct Resource {
  std::string type;  // "file", in lower case
  std::string title;
  Value parameters;     // a map
  bool let_go = false;  // a file that its component had and is no longer to have: gone, it is nobody's
};

// By what a resource is told from the others of its component.
inline std::string key_of(const Resource& r) { return r.type + "/" + r.title; }

// One property that is not, or was not, as wanted.
struct Change {
  std::string property;  // "ensure", "content", "mode", ...
  std::string text;      // "mode changed '0644' to '0755'": complete, for people
  std::string from, to;  // short, for a dry run; "" for secrets
  std::string subject;   // another resource that stands for the change: File[/dir/sub] of a recursive file
  bool unknown = false;  // whether it will change cannot be known before (an exec without a check)
  bool bare_from = false, bare_to = false;  // a number, or nothing: shown without quotes
};

// What there was of a thing before something else came in its place, in the provider's own words; empty where there was
// nothing that could be put back. A removal gets it as its parameter `former`.
using Former = std::map<std::string, std::string>;

struct Findings {
  std::vector<Change> changes;       // empty: all is as wanted
  std::shared_ptr<const void> kept;  // what the provider saw and needs again in apply
  bool in_sync() const { return changes.empty(); }
};

// How a content that holds secrets is kept: so that only who has the project's key can read it.
struct Sealing {
  std::function<bool(std::string_view bytes)> holds_secret;
  std::function<std::string(std::string_view bytes)> seal;
  std::function<std::string(std::string_view bytes)> name;  // of the copy; tells nothing of the content either
  std::function<std::optional<std::string>(std::string_view copy)> open;  // what was sealed; nullopt when it cannot be
};

enum class Level : u8 { kDebug, kInfo, kNotice, kWarning, kError };

// What a provider gets to work with. One per resource and attempt.
struct Context {
  Host& host;
  const Resource& resource;
  Params params;
  const Cancel* cancel = nullptr;
  std::string home;      // tutti's own directory on that host: pid files, logs, kept files
  std::string scope;     // tells the system's files there from those of others
  bool catalog = false;  // it is a resource of a Puppet catalog, and Puppet's rules count
  std::vector<std::pair<std::string, std::string>> environment;  // for the commands it runs
  std::function<void(Level, std::string_view)> say = [](Level, std::string_view) {};
  std::function<std::optional<std::string>(const std::string& url)> locate;  // puppet:///...: a path on this machine
  // By another resource; of components also whether anything in a directory is.
  std::function<bool(const std::string& path)> managed = [](const std::string&) { return false; };
  std::function<bool(const std::string& directory)> managed_below = [](const std::string&) { return false; };
  // The component of another system that has a path, or with `below` something in that directory; "" where none has.
  std::function<std::string(const std::string& path, bool below)> elsewhere = [](const std::string&, bool) {
    return std::string();
  };
  // In a catalog a property that could not be set is told here, and the others are set all the same.
  std::function<void(const Change&, const Failure&)> broken;
  const Sealing* sealing = nullptr;                       // for copies of what may hold secrets
  std::string* printed = nullptr;                         // what its commands wrote, for the journal
  std::map<std::string, std::string>* outputs = nullptr;  // what the action found out: for whoever refers to it

  Context(Host& h, const Resource& r) : host(h), resource(r), params(r.parameters) {}
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view type() const = 0;
  virtual std::span<const std::string_view> parameters() const = 0;  // besides those that every resource may have
  // What must be said and is not, or says what cannot be: "" when all is well. No host is asked.
  virtual std::string check(const Resource&) const { return ""; }

  virtual Result<Findings> examine(Context& context) const = 0;
  // Keeps what is there, before it is first acted on, so that it can be put back.
  virtual Result<Former> keep_former(Context&, const Findings&) const { return Former{}; }
  // Makes the changes found, adding each to `done` once it is made.
  virtual Result<void> apply(Context& context, const Findings& findings, std::vector<Change>& done) const = 0;
  // Something it subscribes to has changed. False: there is nothing to do. Only of types that mind.
  virtual bool minds() const { return false; }
  virtual Result<bool> refresh(Context&) const { return false; }
  // What that means for this one, for plans: "restart".
  virtual std::string refreshing(const Resource&) const { return "refresh"; }
  // After these changes of its own nobody need refresh it: it has just begun with everything as it is now.
  virtual bool is_fresh(const std::vector<Change>&) const { return false; }
  // Its own changes are a reason to refresh it, too.
  virtual bool minds_itself(const std::vector<Change>&) const { return false; }
  // A property as it is, for audits; nullopt when nobody knows.
  virtual Result<std::optional<std::string>> current(Context&, std::string_view property) const {
    (void)property;
    return std::nullopt;
  }
  virtual std::span<const std::string_view> audited() const { return {}; }  // what `audit => all` means

  // What there is of it on the host, each as the resource that would remove it; nullopt where that cannot be asked.
  virtual Result<std::optional<std::vector<Resource>>> instances(Context&, Arena&) const { return std::nullopt; }

  // The things in the world that applying it may change ("file:/etc/hosts") and that it reads. For the determinacy
  // check.
  virtual std::vector<std::string> writes(const Resource& r) const;
  virtual std::vector<std::string> reads(const Resource&) const { return {}; }
  // Files of which it changes its own lines only: nobody who does the same is in its way, but whoever writes all of it
  // is.
  virtual std::vector<std::string> parts(const Resource&) const { return {}; }
  // Other resources that come first without being asked for: {"file", "/etc"}; only those that exist count.
  virtual std::vector<std::pair<std::string, std::string>> after(const Resource&) const { return {}; }
  // Which of several on one host may run at once: those with the same word may not. "" has no limit.
  virtual std::string_view exclusive() const { return ""; }
};

const Provider* find_provider(std::string_view type);
// What is wrong with the `provider` that a resource asks for, "" when nothing is. `elsewhere`: there is such a one, but
// not here, so that only this resource fails.
std::string wrong_provider(const Resource& r, bool& elsewhere);
// A sentence for each parameter that Puppet knows and nobody manages on this kind of host.
std::vector<std::string> not_managed(const Resource& r);
std::vector<std::string_view> provider_types();
std::span<const std::string_view> common_parameters();  // require, notify, tag, noop, ...

// A name as one of a file; no two become the same.
std::string file_name(std::string_view name);

// Held while a provider with an `exclusive` word works on the host.
std::unique_lock<std::mutex> exclusive_use(const Host& host, std::string_view word);

}  // namespace tutti::resource
