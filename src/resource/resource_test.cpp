#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "resource/mode.h"
#include "resource/provider.h"
#include "resource/schedule.h"
#include "resource/scrub.h"

namespace tutti::resource {
namespace {

namespace fs = std::filesystem;

class Resources : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tutti-resource-XXXXXX";
    dir = ::mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(dir); }

  using Given = std::vector<std::pair<std::string, Value>>;

  // Brings the resource about and says what was changed: "ensure: created; mode: ..."; "!message" when it failed.
  std::string bring(const std::string& type, const std::string& title, const Given& given, bool dry = false) {
    MapDraft draft;
    for (auto& [k, v] : given) draft.set(Symbol(k), v);
    TreeBuilder builder(arena);
    Resource r{type, title, draft.build(builder)};
    Context c(*host, r);
    c.home = dir + "/home";
    c.say = [&](Level, std::string_view text) { said += std::string(text) + "\n"; };
    c.outputs = &outputs;
    if (managed) c.managed = managed;
    c.cancel = cancel;
    fs::create_directories(c.home);
    const Provider* p = find_provider(type);
    if (std::string wrong = p->check(r); !wrong.empty()) return "?" + wrong;
    auto f = p->examine(c);
    if (!f) return "!" + f.error().message;
    std::vector<Change> done;
    if (dry) {
      done = f->changes;
    } else if (!f->in_sync()) {
      auto kept = p->keep_former(c, *f);
      if (!kept) return "!" + kept.error().message;
      former = *kept;
      if (auto a = p->apply(c, *f, done); !a) return "!" + a.error().message;
    }
    std::string out;
    for (auto& ch : done)
      out += (out.empty() ? "" : "; ") + (ch.subject.empty() ? "" : ch.subject + " ") + ch.property + ": " + ch.text;
    return out;
  }
  Value text(std::string_view s) { return Value::string(arena.copy(s)); }
  std::string put(const std::string& name, const std::string& content) {
    auto r = host->write(dir + "/" + name, content, 0644);
    EXPECT_TRUE(r);
    return dir + "/" + name;
  }

  Arena arena;
  std::function<bool(const std::string&)> managed;
  const Cancel* cancel = nullptr;
  std::unique_ptr<Host> host = here();
  std::string dir, said;
  Former former;  // what the last one put away
  std::map<std::string, std::string> outputs;
};

TEST(Modes, NumbersAndSymbols) {
  EXPECT_EQ(mode_from("0644", 0, false), 0644u);
  EXPECT_EQ(mode_from("644", 0, true), 0755u);
  EXPECT_EQ(mode_from("0640", 0, true), 0750u);
  EXPECT_EQ(mode_from("a+x", 0644, false), 0755u);
  EXPECT_EQ(mode_from("u=rw,g=r,o=", 0644, false), 0640u);
  EXPECT_EQ(mode_from("g+X", 0600, false), 0600u);
  EXPECT_EQ(mode_from("g+X", 0700, false), 0710u);
  EXPECT_EQ(mode_from("o+s,u+s", 0755, false), 05755u);
  EXPECT_EQ(mode_from("u+x,g+X", 0640, false), 0740u);  // nobody could run it before
  EXPECT_EQ(mode_from("a-g", 0754, false), 0200u);
  EXPECT_EQ(mode_from("ug+o,o=u", 0641, false), 0757u);
  EXPECT_EQ(mode_from("=", 04755, false), 04000u);
  EXPECT_EQ(mode_from("+", 0640, false), 0640u);
  EXPECT_TRUE(is_mode("u=rwx,g=rX"));
  EXPECT_EQ(mode_from("u=rwx,g=rX", 0700, false).error().message,
            "X only works with the '+' operator at \"g=rX\" in symbolic mode \"u=rwx,g=rX\"");
  EXPECT_FALSE(is_mode("u=rw,"));
  EXPECT_FALSE(is_mode("u=r, g=r"));
  EXPECT_EQ(mode_from("g=u", 0700, false), 0770u);
  EXPECT_EQ(mode_from("u+s", 0755, false), 04755u);
  EXPECT_FALSE(mode_from("9", 0, false));
  EXPECT_FALSE(mode_from("u*x", 0, false));
}

TEST_F(Resources, FileIsMadeOnceAndThenLeftAlone) {
  std::string p = dir + "/f";
  Given g{{"content", text("hello\n")}, {"mode", text("0640")}};
  EXPECT_EQ(bring("file", p, g),
            "ensure: defined content as '{sha256}5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03'");
  EXPECT_EQ(bring("file", p, g), "");
  fs::permissions(p, fs::perms(0600));
  EXPECT_EQ(bring("file", p, g, true), "mode: mode changed '0600' to '0640'");
  EXPECT_EQ(bring("file", p, g, true), "mode: mode changed '0600' to '0640'");
  EXPECT_EQ(bring("file", p, g), "mode: mode changed '0600' to '0640'");
  EXPECT_EQ(bring("file", p, g), "");
}

TEST_F(Resources, OldContentIsKept) {
  std::string p = put("f", "old");
  bring("file", p, {{"content", text("new")}, {"backup", text(".bak")}});
  EXPECT_EQ(*host->read(p + ".bak"), "old");
  bring("file", p, {{"content", text("newer")}});
  EXPECT_EQ(*host->read(dir + "/home/kept/" + sha256_hex("new")), "new");
  EXPECT_TRUE(host->read(dir + "/home/kept.index")->ends_with(sha256_hex("new") + " " + p + "\n"));
}

TEST_F(Resources, WhatAFileWasComesBack) {
  std::string p = put("f", "old");
  ASSERT_TRUE(host->set_mode(p, 0640));
  bring("file", p, {{"content", text("new")}, {"mode", text("0600")}});
  TreeBuilder builder(arena);
  MapDraft was;
  for (auto& [key, value] : former) was.set(Symbol(key), builder.string(value));
  Value before = was.build(builder);
  EXPECT_EQ(bring("file", p, {{"ensure", text("absent")}, {"former", before}}),
            "ensure: restored to what it was before");
  EXPECT_EQ(*host->read(p), "old");
  EXPECT_EQ(host->stat(p, false, false)->mode, 0640u);
  EXPECT_EQ(bring("file", p, {{"ensure", text("absent")}, {"former", before}}), "");
  fs::remove_all(dir + "/home/kept");
  put("f", "mine");
  bring("file", p, {{"ensure", text("absent")}, {"former", before}});  // there is no copy: it goes, with a warning
  EXPECT_FALSE(fs::exists(p));
  EXPECT_NE(said.find("cannot be read"), std::string::npos);
}

TEST(Scrubbing, SecretsAreKnownAlsoInQuotes) {
  Value secret = Value::string("it's a \"q\" \\ of $5 \xc3\xa9\n2nd line").as_secret();
  Scrubber scrub(secret);
  for (std::string_view written : {R"(it's a \"q\" \\ of $5 é\n2nd line)",              // JSON
                                   R"(it's a \"q\" \\ of $5 \u00e9\n2nd line)",         // JSON in ASCII
                                   "it'\\''s a \"q\" \\ of $5 \xc3\xa9\n2nd line",      // 'within quotes'
                                   "it'\"'\"'s a \"q\" \\ of $5 \xc3\xa9\n2nd line",    // the same, as Python writes it
                                   "it's a \\\"q\\\" \\\\ of \\$5 \xc3\xa9\n2nd line",  // "within quotes"
                                   R"(it\'s\ a\ \"q\"\ \\\ of\ \$5\ é)"}) {  // without quotes, the first line
    EXPECT_TRUE(scrub.has_secret(written)) << written;
    std::string clean = scrub.clean(fmt::format("{{\"a\": {}, \"b\": 2}}", written));
    EXPECT_EQ(clean.find("of"), std::string::npos) << clean;
  }
  EXPECT_FALSE(scrub.has_secret("it's"));
  EXPECT_TRUE(Scrubber(Value::string("two  blanks\nhere").as_secret()).has_secret("two blanks here"));  // echo $PW
}

TEST_F(Resources, SecretContentIsNotShown) {
  std::string said_of = bring("file", dir + "/f", {{"content", text("CANARY-1").as_secret()}});
  EXPECT_EQ(said_of, "ensure: changed [redacted] to [redacted]");
  EXPECT_EQ(*host->read(dir + "/f"), "CANARY-1");
}

TEST_F(Resources, DirectoriesLinksAndAbsence) {
  EXPECT_EQ(bring("file", dir + "/d", {{"ensure", text("directory")}, {"mode", text("0644")}}), "ensure: created");
  EXPECT_EQ(host->stat(dir + "/d", false, false)->mode, 0755u);
  EXPECT_EQ(bring("file", dir + "/l", {{"ensure", text("link")}, {"target", text("d")}}), "ensure: created");
  EXPECT_EQ(bring("file", dir + "/l", {{"ensure", text("link")}, {"target", text("e")}}),
            "target: target changed 'd' to 'e'");
  put("d/in", "x");
  bring("file", dir + "/d", {{"ensure", text("absent")}});
  EXPECT_TRUE(fs::exists(dir + "/d/in"));  // left with what is in it
  EXPECT_EQ(bring("file", dir + "/d", {{"ensure", text("absent")}, {"force", Value::boolean(true)}}),
            "ensure: removed");
  fs::create_directories(dir + "/empty");
  EXPECT_EQ(bring("file", dir + "/empty", {{"ensure", text("absent")}}), "ensure: removed");
  EXPECT_EQ(bring("file", dir + "/none", {{"mode", text("0600")}}), "");
}

TEST_F(Resources, RecursionCopiesAndPurges) {
  fs::create_directories(dir + "/src/sub");
  fs::create_directories(dir + "/dst");
  put("src/one", "1\n");
  put("src/sub/two", "2\n");
  put("dst/stale", "x");
  Given g{{"ensure", text("directory")},
          {"recurse", Value::boolean(true)},
          {"purge", Value::boolean(true)},
          {"source", text(dir + "/src")}};
  std::string changed = bring("file", dir + "/dst", g);
  EXPECT_NE(changed.find("File[" + dir + "/dst/stale] ensure: removed"), std::string::npos) << changed;
  EXPECT_EQ(*host->read(dir + "/dst/sub/two"), "2\n");
  EXPECT_EQ(host->stat(dir + "/dst/stale", false, false)->kind, FileState::Kind::kAbsent);
  EXPECT_EQ(bring("file", dir + "/dst", g), "");
}

// chown takes set-user-ID and set-group-ID away, even from who owns the file already.
TEST_F(Resources, SetUserIdStaysWithAnOwner) {
  std::string owner = std::to_string(::getuid()), group = std::to_string(::getgid());
  Given asked{{"content", text("x")}, {"mode", text("6755")}, {"owner", text(owner)}, {"group", text(group)}};
  bring("file", dir + "/made", asked);
  EXPECT_EQ(bring("file", dir + "/made", asked), "");
  fs::create_directory(dir + "/from");
  bring("file", dir + "/from/it", asked);
  Given copied{{"source", text(dir + "/from")}, {"recurse", Value::boolean(true)}, {"source_permissions", text("use")}};
  bring("file", dir + "/to", copied);
  EXPECT_EQ(bring("file", dir + "/to", copied), "");
  EXPECT_EQ(host->stat(dir + "/to/it", false, false)->mode, 06755u);
}

TEST_F(Resources, ContentThatDoesNotPassIsNotWritten) {
  std::string p = put("f", "good");
  EXPECT_EQ(bring("file", p, {{"content", text("bad")}, {"validate_cmd", text("grep -q good %")}})[0], '!');
  EXPECT_EQ(*host->read(p), "good");
}

TEST_F(Resources, ExecRunsUnlessThereIsNoNeed) {
  std::string p = dir + "/made";
  Given g{{"command", text("/bin/touch " + p)}, {"creates", text(p)}};
  EXPECT_EQ(bring("exec", "x", g), "returns: executed successfully");
  EXPECT_EQ(bring("exec", "x", g), "");
  EXPECT_EQ(bring("exec", "x", {{"command", text("/bin/true")}, {"unless", text("/bin/true")}}), "");
  EXPECT_EQ(bring("exec", "x", {{"command", text("/bin/true")}, {"onlyif", text("/bin/false")}}), "");
  EXPECT_EQ(bring("exec", "x", {{"command", text("/bin/false")}}), "!'/bin/false' returned 1 instead of one of [0]");
  EXPECT_EQ(bring("exec", "x", {{"command", text("true")}})[0], '?');
  EXPECT_EQ(bring("exec", "x",
                  {{"command", text("sleep 100")}, {"path", text("/bin:/usr/bin")}, {"timeout", text("0.1")}})[0],
            '!');
}

TEST_F(Resources, ExecOutputsAreCollected) {
  bring("exec", "x", {{"command", text("/bin/sh -c 'echo noise; echo tutti:port=8080'")}});
  EXPECT_EQ(outputs["port"], "8080");
  EXPECT_EQ(outputs.size(), 1u);
}

TEST_F(Resources, ProcessIsStartedStoppedAndReplaced) {
  Given g{{"command", text("sleep 1000")}};
  EXPECT_EQ(bring("process", "p", g), "ensure: started");
  EXPECT_EQ(bring("process", "p", g), "");
  Given other{{"command", text("sleep 2000")}};
  EXPECT_EQ(bring("process", "p", other), "command: restarted with what it is to run now");
  EXPECT_EQ(bring("process", "p", other), "");
  EXPECT_EQ(bring("process", "p", {{"ensure", text("stopped")}}), "ensure: stopped");
  EXPECT_EQ(bring("process", "p", {{"ensure", text("stopped")}}), "");
  EXPECT_EQ(bring("process", "p", {{"command", text("false")}})[0], '!');
}

// As long as what it started has not been ended, it is not stopped.
TEST_F(Resources, AStopThatIsCutOffIsNotDone) {
  EXPECT_EQ(bring("process", "p", {{"command", text("setsid sleep 98762 & exec sleep 1000")}}), "ensure: started");
  Cancel now;
  now.raise();
  cancel = &now;
  EXPECT_EQ(bring("process", "p", {{"ensure", text("stopped")}}), "!was cancelled");
  cancel = nullptr;
  EXPECT_EQ(bring("process", "p", {{"ensure", text("stopped")}}), "ensure: stopped");
  EXPECT_FALSE(host->shell("pgrep -fx 'sleep 98762'").ok());
}

TEST_F(Resources, HostLines) {
  std::string p = put("hosts", "127.0.0.1 localhost\n10.0.0.9 gone.example.com gone\n");
  Value aliases = TreeBuilder(arena).list(std::vector<Value>{text("h"), text("hh")});
  EXPECT_EQ(bring("host", "h.example.com", {{"ip", text("10.0.0.5")}, {"host_aliases", aliases}, {"target", text(p)}}),
            "ensure: created");
  EXPECT_EQ(bring("host", "gone.example.com", {{"ensure", text("absent")}, {"target", text(p)}}), "ensure: removed");
  EXPECT_EQ(*host->read(p), "127.0.0.1\tlocalhost\n10.0.0.5\th.example.com\th hh\n");
  EXPECT_EQ(bring("host", "h.example.com", {{"ip", text("10.0.0.5")}, {"host_aliases", aliases}, {"target", text(p)}}),
            "");
}

TEST_F(Resources, CommentsOfHostLinesStay) {
  std::string p = put("hosts", "6.6.6.6 chg.example c # note\n7.7.7.7   a.example  x  y\n# whole line\n");
  EXPECT_EQ(bring("host", "chg.example", {{"ip", text("9.9.9.9")}, {"target", text(p)}}),
            "ip: ip changed '6.6.6.6' to '9.9.9.9'");
  EXPECT_EQ(bring("host", "a.example", {{"comment", text("new")}, {"host_aliases", text("z")}, {"target", text(p)}}),
            "host_aliases: host_aliases changed x y to 'z'; comment: comment changed '' to 'new'");
  EXPECT_EQ(*host->read(p), "9.9.9.9\tchg.example\tc\t# note\n7.7.7.7\ta.example\tz\t# new\n# whole line\n");
  EXPECT_EQ(bring("host", "b.example", {{"comment", text("x")}, {"target", text(p)}}),
            "!ip is a required attribute for hosts");
  EXPECT_EQ(bring("host", "a b", {{"ip", text("1.2.3.4")}}), "?Invalid host name");
  EXPECT_EQ(bring("host", "b", {{"ip", text("1.2.3")}}), "?ip: Invalid IP address \"1.2.3\"");
  EXPECT_EQ(bring("host", "b", {{"ip", text("fe80::1%eth0")}, {"target", text(p)}}, true), "ensure: created");
}

TEST_F(Resources, MountsKeepWhatIsNotSpokenOf) {
  std::string p = put("fstab", "# fstab\n/dev/a /a ext4 ro 0 0\n");
  auto with = [&](Given more) {
    more.emplace_back("target", text(p));
    return more;
  };
  EXPECT_EQ(bring("mount", "/b", with({{"device", text("/dev/b")}, {"fstype", text("ext4")}})), "");  // no `ensure`
  EXPECT_EQ(bring("mount", "/a", with({{"options", text("rw")}, {"pass", Value::integer(1)}})),
            "options: options changed 'ro' to 'rw'; pass: pass changed '0' to 1");
  Given b{{"ensure", text("present")}, {"device", text("/dev/b c")}, {"fstype", text("xfs")}};
  EXPECT_EQ(bring("mount", "/b c/", with(b)), "ensure: defined 'ensure' as 'defined'");
  EXPECT_EQ(bring("mount", "/b c/", with(b)), "");
  EXPECT_EQ(*host->read(p), "# fstab\n/dev/a\t/a\text4\trw\t0\t1\n/dev/b\\040c\t/b\\040c\txfs\tdefaults\t0\t0\n");
  EXPECT_EQ(bring("mount", "/b c", with({{"ensure", text("absent")}})), "ensure: undefined 'ensure' from 'unmounted'");
  EXPECT_EQ(bring("mount", "/n", with({{"ensure", text("present")}, {"device", text("/dev/n")}})),
            "!Mount[/n]: Field 'fstype' is required");
  EXPECT_EQ(
      bring("mount", "/n", with({{"ensure", text("foo")}})),
      "?ensure: Invalid value \"foo\". Valid values are defined (also called present), unmounted, absent, mounted.");
}

// With a crontab program that keeps its tables in a folder.
TEST_F(Resources, CronJobsKeepWhatIsNotSpokenOf) {
  put("crontab",
      "#!/bin/sh\nf=$(dirname \"$0\")/tab.$2\ncase $3 in -l) cat \"$f\" 2>/dev/null;; *) cat > \"$f\";; esac\n");
  fs::permissions(dir + "/crontab", fs::perms(0755));
  std::string path = ::getenv("PATH");
  ::setenv("PATH", (dir + ":" + path).c_str(), 1);
  put("tab.root",
      "MAILTO=me\n# Puppet Name: chg\n5 5 * * * /bin/old\n# Puppet Name: env\nA=1\nB=2\n@daily /bin/env\n"
      "7  7 * * *   /bin/adopt  x\n");
  TreeBuilder b(arena);
  Value days = b.list(std::vector<Value>{Value::integer(1), Value::integer(15)});
  EXPECT_EQ(bring("cron", "chg",
                  {{"command", text("/bin/new")},
                   {"minute", Value::integer(1)},
                   {"weekday", text("Monday")},
                   {"monthday", days},
                   {"month", text("jan")}}),
            "command: command changed '/bin/old' to '/bin/new'; minute: minute changed ['5'] to ['1']; "
            "weekday: defined 'weekday' as ['1']; month: defined 'month' as ['1']; "
            "monthday: defined 'monthday' as ['1', '15']");
  EXPECT_EQ(bring("cron", "env", {{"environment", text("A=1")}, {"special", text("hourly")}}),
            "special: special changed 'daily' to 'hourly'; environment: environment changed ['A=1', 'B=2'] to A=1");
  EXPECT_EQ(bring("cron", "adopt", {{"command", text("/bin/adopt  x")}, {"hour", text("7")}}), "");
  EXPECT_EQ(bring("cron", "bare", {}), "");
  EXPECT_EQ(bring("cron", "none", {{"minute", text("1")}}), "!no command specified, cannot create");
  EXPECT_EQ(*host->read(dir + "/tab.root"),
            "MAILTO=me\n# Puppet Name: chg\n1 5 1,15 1 1 /bin/new\n# Puppet Name: env\nA=1\n@hourly /bin/env\n"
            "7 7 * * * /bin/adopt  x\n");
  EXPECT_EQ(bring("cron", "chg", {{"ensure", text("absent")}}), "ensure: removed");
  for (auto& [field, value] : std::vector<std::pair<std::string, std::string>>{
           {"minute", "99"}, {"weekday", "Foo"}, {"month", "0"}, {"hour", "1/x"}})
    EXPECT_EQ(bring("cron", "x", {{"command", text("/bin/true")}, {field, text(value)}}),
              fmt::format("?{} is not a valid {}", value, field));
  EXPECT_EQ(bring("cron", "x", {{"special", text("daily")}, {"hour", text("1")}}),
            "?cannot specify both a special schedule and a value for hour");
  ::setenv("PATH", path.c_str(), 1);
}

TEST_F(Resources, AgesOfPasswordsAreSeenTo) {
  if (::getuid() != 0) GTEST_SKIP() << "shadow is root's";
  std::string all =
      bring("user", "root", {{"expiry", text("2030-01-01")}, {"password_max_age", Value::integer(98)}}, true);
  EXPECT_NE(all.find("expiry: defined 'expiry' as '2030-01-01'"), std::string::npos) << all;
  EXPECT_NE(all.find(" to 98"), std::string::npos) << all;
  EXPECT_EQ(bring("user", "root", {{"expiry", text("2030-13-01")}}),
            "?Expiry dates must be YYYY-MM-DD or the string \"absent\"");
  EXPECT_EQ(bring("user", "root", {{"password_max_age", text("soon")}}),
            "?password_max_age must be provided as a number, not \"soon\"");
  EXPECT_EQ(bring("user", "root", {{"groups", text("a,b")}}),
            "?Group names must be provided as an array, not a comma-separated list.");
  EXPECT_EQ(bring("user", "root", {{"purge_ssh_keys", Value::boolean(true)}}, true),
            "!purge_ssh_keys cannot be done here: keys of ssh are not managed");
}

TEST_F(Resources, ValuesThatCannotBeAreRefused) {
  EXPECT_EQ(
      bring("service", "x", {{"ensure", text("maybe")}}),
      "?ensure: Invalid value \"maybe\". Valid values are stopped (also called false), running (also called true).");
  EXPECT_EQ(bring("service", "x", {{"enable", text("manual")}}),
            "?enable: Setting 'manual' is only for services of Windows");
  EXPECT_EQ(bring("package", "x", {{"provider", text("dpkg")}}), "!You cannot install dpkg packages without a source");
  auto command = [&](const char* parameter, std::string_view value) {
    return bring("exec", "/bin/true", {{parameter, text(value)}});
  };
  EXPECT_EQ(command("timeout", "soon"), "?The timeout must be a number.");
  EXPECT_EQ(command("tries", "0"), "?Tries must be an integer >= 1");
  EXPECT_EQ(command("try_sleep", "-1"), "?try_sleep cannot be a negative number");
  EXPECT_EQ(command("umask", "9"), "?The umask specification is invalid: \"9\"");
  EXPECT_EQ(command("cwd", "here"), "?cwd must be a fully qualified path");
  EXPECT_EQ(command("environment", "novalue"), "?environment: Invalid environment setting 'novalue'");
  EXPECT_EQ(command("refreshonly", "maybe"), "?refreshonly: Invalid value \"maybe\". Valid values are true, false.");
  EXPECT_EQ(bring("file", "/x", {{"mtime", text("now")}}), "?mtime is read-only");
  EXPECT_EQ(bring("file", "/x", {{"recurselimit", text("deep")}}),
            "?recurselimit must be a whole number, not \"deep\"");
}

TEST_F(Resources, WhatIsNotManagedHereIsSaid) {
  TreeBuilder b(arena);
  std::vector<Entry> one{{Symbol("members"), Field::kPlain, text("a")}};
  EXPECT_EQ(not_managed({"group", "g", b.map(one)}),
            std::vector<std::string>{
                "Provider groupadd does not support features manages_members; not managing attribute members"});
  EXPECT_TRUE(not_managed({"user", "g", b.map(one)}).empty());
}

TEST_F(Resources, FilesTakeWhatTheirSourceAndChecksumSay) {
  std::string from = put("from", "x");
  fs::permissions(from, fs::perms(0611));
  EXPECT_EQ(bring("file", dir + "/to",
                  {{"source", text(from)}, {"source_permissions", text("use")}, {"checksum", text("md5")}}),
            "ensure: defined content as '{md5}9dd4e461268c8034f5c8564e155c67a6'");
  EXPECT_EQ(host->stat(dir + "/to", false, false)->mode, 0611u);
  EXPECT_EQ(bring("file", dir + "/to", {{"content", text("y")}, {"checksum_value", text("0")}})[0], '!');
  EXPECT_EQ(*host->read(dir + "/to"), "x");
  EXPECT_EQ(bring("file", dir,
                  {{"ensure", text("directory")}, {"recurse", Value::boolean(true)}, {"max_files", text("1")}})[0],
            '!');
}

TEST_F(Resources, DirectoriesAreKeptAndFilledFromSeveral) {
  fs::create_directories(dir + "/one/sub");
  fs::create_directories(dir + "/two/sub");
  put("one/a", "1");
  put("two/a", "2");
  put("two/sub/b", "b");
  Value both = TreeBuilder(arena).list(std::vector<Value>{text(dir + "/one"), text(dir + "/two")});
  Given g{{"ensure", text("directory")},
          {"recurse", Value::boolean(true)},
          {"source", both},
          {"sourceselect", text("all")}};
  bring("file", dir + "/x", g);
  EXPECT_EQ(*host->read(dir + "/x/a"), "1");
  EXPECT_EQ(*host->read(dir + "/x/sub/b"), "b");
  EXPECT_EQ(bring("file", dir + "/x", g), "");
  bring("file", dir + "/x", {{"ensure", text("absent")}, {"force", Value::boolean(true)}, {"backup", text(".old")}});
  EXPECT_FALSE(fs::exists(dir + "/x"));
  EXPECT_EQ(*host->read(dir + "/x.old/sub/b"), "b");
}

TEST_F(Resources, PurgedDirectoriesStayWithoutForce) {
  fs::create_directories(dir + "/p/sub");
  put("p/sub/c", "c");
  Given g{{"ensure", text("directory")}, {"recurse", Value::boolean(true)}, {"purge", Value::boolean(true)}};
  bring("file", dir + "/p", g);
  EXPECT_FALSE(fs::exists(dir + "/p/sub/c"));
  g.emplace_back("force", Value::boolean(true));
  bring("file", dir + "/p", g);
  EXPECT_FALSE(fs::exists(dir + "/p/sub"));
}

TEST_F(Resources, InstalledPackagesAreKnown) {
  if (::access("/var/lib/dpkg/status", R_OK) != 0) GTEST_SKIP() << "no dpkg here";
  EXPECT_EQ(bring("package", "dpkg", {{"ensure", text("present")}}, true), "");
  EXPECT_EQ(bring("package", "no-such-package-at-all", {{"ensure", text("present")}}, true), "ensure: created");
  EXPECT_EQ(bring("package", "no-such-package-at-all", {{"ensure", text("absent")}}, true), "");
}

TEST_F(Resources, EveryParameterOfACheckedTypeIsListed) {
  for (std::string_view type : provider_types()) {
    const Provider* p = find_provider(type);
    ASSERT_NE(p, nullptr);
    EXPECT_FALSE(p->parameters().empty()) << type;
  }
  EXPECT_EQ(find_provider("nothing"), nullptr);
}

TEST_F(Resources, TidyRemovesWhatIsOldOrLargeAndFits) {
  put("keep.txt", "x");
  put("a.log", "x");
  fs::create_directories(dir + "/sub/empty.log");
  put("sub/b.log", std::string(5000, 'x'));
  Given logs{{"recurse", text("true")}, {"matches", text("*.log")}};
  auto with = [&](Given more) {
    more.insert(more.end(), logs.begin(), logs.end());
    return more;
  };
  EXPECT_EQ(bring("tidy", dir, with({{"size", text("4k")}})), "File[" + dir + "/sub/b.log] ensure: removed");
  EXPECT_EQ(said, ": Tidying 1 files\n");
  EXPECT_EQ(bring("tidy", dir, with({{"age", text("1h")}})), "");  // nothing is so old
  fs::last_write_time(dir + "/a.log", fs::file_time_type::clock::now() - std::chrono::hours(2));
  EXPECT_EQ(bring("tidy", dir, with({{"age", text("1h")}, {"type", text("mtime")}}), true),
            "File[" + dir + "/a.log] ensure: removed");
  EXPECT_TRUE(fs::exists(dir + "/a.log"));  // a dry run
  EXPECT_EQ(bring("tidy", dir, with({{"rmdirs", text("true")}})),
            "File[" + dir + "/a.log] ensure: removed; File[" + dir + "/sub/empty.log] ensure: removed");
  EXPECT_TRUE(fs::exists(dir + "/keep.txt"));
  EXPECT_EQ(bring("tidy", dir + "/nothing", {}), "");
  EXPECT_EQ(bring("tidy", dir, {{"age", text("soon")}}), "?invalid tidy age soon");
  EXPECT_EQ(bring("tidy", "relative", {}), "?its path must be absolute");
}

TEST_F(Resources, SchedulesSayWhenAResourceIsDue) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  TreeBuilder b(arena);
  auto due = [&](const Given& given, const char* now, i64 ago = 0) {
    MapDraft draft;
    for (auto& [k, v] : given) draft.set(Symbol(k), v);
    Value schedule = draft.build(b);
    EXPECT_EQ(wrong_schedule(schedule), "");
    std::tm t{};
    ::strptime(now, "%Y-%m-%d %H:%M:%S", &t);
    std::time_t at = ::timegm(&t);
    return is_due(schedule, at, ago ? at - ago : 0);
  };
  const char *monday_noon = "2026-11-16 12:00:00", *monday_early = "2026-11-16 01:00:00";
  EXPECT_TRUE(due({}, monday_noon));
  EXPECT_FALSE(due({{"period", text("never")}}, monday_noon));
  EXPECT_TRUE(due({{"range", text("8:30 - 12")}}, monday_noon));
  EXPECT_FALSE(due({{"range", text("2 - 4")}}, monday_noon));
  EXPECT_TRUE(due({{"range", text("22:00 - 04:00")}}, monday_early));
  EXPECT_TRUE(due({{"weekday", text("Monday")}}, monday_noon));
  EXPECT_FALSE(due({{"weekday", text("Tuesday")}}, monday_noon));
  // After midnight it is still the night of Sunday.
  EXPECT_TRUE(due({{"range", text("22:00 - 04:00")}, {"weekday", text("Sun")}}, monday_early));
  EXPECT_TRUE(due({{"period", text("daily")}}, monday_noon));
  EXPECT_FALSE(due({{"period", text("daily")}}, monday_noon, 3600));
  EXPECT_TRUE(due({{"period", text("daily")}}, monday_noon, 86400));
  EXPECT_TRUE(due({{"period", text("hourly")}, {"repeat", text("2")}}, monday_noon, 1800));
  EXPECT_TRUE(due({{"period", text("daily")}, {"periodmatch", text("number")}}, monday_early, 7200));
  EXPECT_FALSE(is_due(*common_schedule("never", b), 1, 0));
  EXPECT_FALSE(common_schedule("sometimes", b));
  std::vector<Entry> wrong{{Symbol("range"), Field::kPlain, text("25 - 26")}};
  EXPECT_EQ(wrong_schedule(b.map(wrong)),
            "range: Munging failed for value \"25 - 26\" in class range: Invalid hour '25'");
}

// In a file system of its own, where what is purged is nobody's.
TEST_F(Resources, WhatNobodySpeaksOfIsPurged) {
  std::string result = dir + "/result";
  pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", "/etc", "tmpfs", 0, nullptr) != 0)
      ::_exit(77);
    auto write = [&](const char* path, const char* content) {
      if (!host->write(path, content, 0644)) ::_exit(1);
    };
    write("/etc/hosts", "127.0.0.1 localhost\n10.0.0.1 mine other\n# a comment\n10.0.0.2 stray\n");
    write("/etc/passwd",
          "root:x:0:0::/root:/bin/sh\nmail:x:8:8::/:/bin/sh\nnet:x:998:8::/:/bin/sh\nkept:x:1001:8::/:/bin/"
          "sh\nmine:x:1002:8::/:/bin/sh\n"
          "stray:x:1003:8::/:/bin/sh\n");
    write("/etc/group", "root:x:0:\nmail:x:8:\n");
    write("/etc/login.defs", "UID_MIN 1000\nUID_MAX 60000\n");
    managed = [](const std::string& name) {
      return name == "host:localhost" || name == "host:mine" || name == "user:mine";
    };
    std::string all = bring("resources", "host", {{"purge", Value::boolean(true)}}, true) + "\n";
    all += bring("resources", "host", {{"purge", Value::boolean(true)}}) + "\n";
    all += bring("resources", "host", {{"purge", Value::boolean(true)}}) + "\n";
    all += *host->read("/etc/hosts");
    all += bring("resources", "user", {{"purge", Value::boolean(true)}, {"unless_uid", text("900-1001")}}, true) + "\n";
    all += bring("resources", "user", {{"purge", Value::boolean(true)}, {"unless_system_user", text("1003")}}, true) +
           "\n";
    all += bring("resources", "exec", {{"purge", Value::boolean(true)}}) + "\n";
    all += bring("resources", "nothing", {{"purge", Value::boolean(true)}}) + "\n";
    ::_exit(host->write(result, all, 0644) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "a file system of its own needs root";
  EXPECT_EQ(*host->read(result),
            "Host[stray] ensure: removed\nHost[stray] ensure: removed\n\n"
            "127.0.0.1\tlocalhost\n10.0.0.1\tmine\tother\n# a comment\n"
            "User[stray] ensure: removed\nUser[stray] ensure: removed\n"
            "!Purging resources of type exec is not supported, since they cannot be queried from the system\n"
            "?Could not find resource type 'nothing'\n");
}

TEST_F(Resources, AProviderThatIsNotHereFailsItsResourceOnly) {
  bool elsewhere = false;
  TreeBuilder builder(arena);
  auto with_provider = [&](std::string_view name) {
    std::vector<Entry> one{{Symbol("provider"), Field::kPlain, builder.string(name)}};
    return Resource{"package", "a", builder.map(one)};
  };
  EXPECT_EQ(wrong_provider(with_provider("apt"), elsewhere), "");
  EXPECT_EQ(wrong_provider(with_provider("yum"), elsewhere), "Provider yum is not functional on this host");
  EXPECT_TRUE(elsewhere);
  EXPECT_EQ(wrong_provider(with_provider("yumm"), elsewhere), "Invalid package provider 'yumm'");
  EXPECT_FALSE(elsewhere);
}

}  // namespace
}  // namespace tutti::resource
