#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tutti {

// Where a call may read and write, and whether what the configuration says may be run.
//
// In: what the user named on the command line (files, folders) and whether the project is trusted (project/trust.h).
// Out: for each file that a configuration, template, schema or data path leads to, whether it is inside.
//
// A configuration says which other files are read: includes, imports, embedded files, data paths. Each is opened by
// read_file (base/file.h), which asks here, so no language has a check of its own. What counts is where a path leads
// when it is opened, not how it is written: the file is held by a descriptor that reads nothing (O_PATH), the kernel
// says where that is, and only then is the very same file opened for reading. A link that is changed between two looks
// changes nothing.
//
// There is one for the process, as its working directory and its open files are the process's too: libraries that open
// files by themselves (libxml2) and worker threads have no other way to find it. Where none is in force (unit tests,
// use as a library) nothing is refused. Rejected: RESOLVE_BENEATH alone, since it refuses absolute links that lead to
// another place in the same project; it is what is used where /proc is not there. Rejected: comparing cleaned up paths,
// which says nothing of links.
class Boundary {
 public:
  // What is decided elsewhere (project/trust.h), which this layer does not know.
  struct Rules {
    std::function<std::string(const std::string& folder)> project_of;
    // Whether what lies beside a file in this folder has nothing to do with it (/tmp, a home).
    std::function<bool(const std::string& folder)> is_common;
    // Whether the user lets all these projects read elsewhere and run their own code; asked once, when first needed.
    // With `runs` the call is one that acts, such as apply.
    std::function<bool(const std::vector<std::string>& projects, bool runs)> trusted;
    std::function<std::string(const std::vector<std::string>& projects, bool runs)> way_out;
  };
  explicit Boundary(Rules rules) : rules_(std::move(rules)) {}

  // An argument: a file, whatever it leads to, with the project it lies in, or a folder. Words that are neither are
  // passed over. Where no argument names a project, that of the working directory is meant.
  void name_argument(const std::string& word);
  // The value of an option, which may be a list of paths: files and folders that the user named, which are no projects.
  void name_option(std::string_view option, std::string_view value);
  // A folder whose code is asked for (an environment, modules).
  void name_folder(const std::string& folder);
  // Everything below this folder may be read and written.
  void add_root(const std::string& folder);

  void give_trust();  // --trust
  // A verb that looks at systems or changes them (plan, apply): it writes where the configuration says.
  void ask_to_run() { runs_ = true; }

  bool trusted();
  std::string way_out();

  // The one in force; null where there is none.
  static Boundary* in_force();
  class InForce {
   public:
    explicit InForce(Boundary& boundary);
    ~InForce();
    InForce(const InForce&) = delete;
    InForce& operator=(const InForce&) = delete;

   private:
    Boundary* before_;
  };

  // Whether the file was named by the user, as given or by what it leads to. To be written it must be an option that
  // names it: a link among the arguments is the project's, and may lead to somebody else's file.
  bool named(const std::string& path, const std::string& leads_to);
  bool named_output(const std::string& path, const std::string& leads_to);
  bool below_root(std::string_view leads_to);
  // Whether it lies beside a file of the arguments: that file itself when it is laid out, what is made of it.
  bool beside_argument(const std::string& leads_to);
  bool runs() const { return runs_; }
  std::vector<std::string> roots();
  std::vector<std::string> projects();

 private:
  void add_file(const std::string& path, std::set<std::string>& to);
  void add_root_locked(const std::string& folder);
  void add_project_locked(const std::string& folder, bool for_file = false);
  void need_project();

  Rules rules_;
  std::mutex mutex_;
  std::vector<std::string> roots_;  // as the kernel calls them
  std::vector<std::string> projects_;
  std::set<std::string> folders_;              // of files among the arguments
  std::set<std::string> arguments_, options_;  // files, as given, absolute, and what they lead to
  std::optional<bool> trusted_;
  bool runs_ = false;
};

// The code of the Failure when a path leads out (EXDEV, as openat2 has it), and of its diagnostic. To write outside no
// trust is enough: the way is to name the file.
extern const int kOutside, kOutsideToWrite;
constexpr std::string_view kOutsideCode = "BOUNDARY", kOutsideToWriteCode = "BOUNDARY-WRITE";
constexpr std::string_view kNeedsTrustCode = "TRUST-NEEDED";

// What the path leads to, held without reading it. The failure has kOutside where that is outside and may not be read.
struct Held {
  int fd = -1;  // O_PATH; the caller closes it
  bool named = false;
};
Result<Held> hold_inside(const std::string& path);

// Whether the path may be read, also where nothing is there. For questions whose answer alone tells something of the
// machine (is there such a file? which names are in the folder?).
bool may_look_at(const std::string& path);

// The same as a failure to tell of.
Result<void> may_read(const std::string& path);

// Whether a file may be made or replaced here; the folders up to it need not be there yet.
Result<void> may_write(const std::string& path);

// Whether the project may run code of its own (Ruby, programs). Where none is in force, it may.
bool may_run_code();
// What to do where it may not.
std::string way_to_trust();

}  // namespace tutti
