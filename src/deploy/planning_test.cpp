// Which order a plan finds, and what it says where there is none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "deploy/deployer.h"
#include "deploy/testing.h"
#include "format/yaml.h"

namespace tutti::deploy {
namespace {

constexpr std::string_view kTypes =
    "types: {server: {extends: command, config: {start: {default: 'true'}, stop: {default: 'true'}, port: int}, "
    "change: "
    "{port: replace}}}\n";

class Planning : public InFolder {
 protected:
  struct Planned {
    std::vector<std::string> program, verdicts, notes;
    std::string trouble;
    bool made = false, safe = false, reaches = false, complete = false, finished = false;
    std::ptrdiff_t at(const std::string& line) const {
      return std::find(program.begin(), program.end(), line) - program.begin();
    }
    bool before(const std::string& a, const std::string& b) const {
      return at(a) < at(b) && at(b) < static_cast<std::ptrdiff_t>(program.size());
    }
  };

  Planned plan(const std::string& text, bool apply = false, const engine::PlanOptions& options = {}) {
    Planned out;
    OneCall c(dir);
    auto source = c.session.sources->add("system.yaml", text);
    auto tree = read_yaml(c.session, **source);
    if (!tree) return out;
    auto p = c.deployer->prepare(*tree, "", "apply", options);
    out.trouble = c.trouble();
    if (!p) return out;
    out.made = true;
    for (auto& i : p->program.system.program) out.program.push_back(p->program.system.instruction_text(i));
    Check check = c.deployer->check(*p);
    out.verdicts = check.verdicts;
    out.notes = p->plan.notes;
    out.safe = check.safe;
    out.reaches = check.reaches;
    out.complete = check.complete;
    out.trouble += fmt::format("{}\n{}\n", fmt::join(out.program, "\n"), fmt::join(check.trouble, "\n"));
    if (apply) out.finished = c.deployer->run(*p, c.settings).finished;
    return out;
  }
  Planned apply(const std::string& text) { return plan(text, true); }
  // From one system to another: both get there, and the way is safe.
  Planned change(const std::string& from, const std::string& to) {
    EXPECT_TRUE(apply(from).finished) << from;
    Planned p = apply(to);
    EXPECT_TRUE(p.safe) << to << p.trouble;
    EXPECT_TRUE(p.finished) << to;
    return p;
  }

  static std::string server(const std::string& name, const std::string& more, const std::string& start = "true") {
    return fmt::format("  {}: {{type: server, {}config: {{start: '{}', port: 1}}}}\n", name, more, start);
  }
};

// Wave by wave, and proved without looking at who of a wave comes when.
TEST_F(Planning, AnInvariantOverManyIsProved) {
  auto many = [](const std::string& start) {
    std::string text = "system: many\ninvariants: {at_least: 20, of: [a*]}\n" + std::string(kTypes) + "components:\n",
                all;
    for (int i = 0; i < 40; ++i) {
      text += server(fmt::format("a{}", i), "", start);
      all += fmt::format("{}a{}", i ? ", " : "", i);
    }
    return text + server("proxy", fmt::format("after: [{}], ", all));
  };
  EXPECT_TRUE(apply(many("true")).finished);
  auto p = plan(many("true 2"));
  EXPECT_TRUE(p.safe && p.complete) << p.trouble;
  EXPECT_EQ(p.verdicts[0].substr(0, 29), "holds throughout: at least 20");
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(p.before(fmt::format("wait(a{})", i), "pushB(a39, undeploy)")) << i;
  EXPECT_TRUE(p.before("pushB(a19, undeploy)", "wait(a0)"));
}

TEST_F(Planning, WhoBeginsToUseANewOneWaitsForIt) {
  for (const char* type : {"generic", "command", "file"}) {
    std::string config = type == std::string("file")      ? fmt::format("path: {}/{}.", dir, type)
                         : type == std::string("generic") ? "make: 'true' #"
                                                          : "start: 'true', stop: 'true' #";
    auto component = [&](const std::string& name, const std::string& more) {
      std::string c = config.back() == '#' ? config.substr(0, config.size() - 1) : config + name + ", content: x";
      return fmt::format("  {}: {{type: {}, {}config: {{{}}}}}\n", name, type, more, c);
    };
    std::string head = fmt::format("system: {}\ncomponents:\n", type);
    EXPECT_TRUE(apply(head + component("d", "")).finished);
    auto p = apply(head + component("d", "uses: {x: e}, ") + component("e", ""));
    EXPECT_TRUE(p.safe) << p.trouble;
    EXPECT_TRUE(p.finished);
    EXPECT_TRUE(std::none_of(p.program.begin(), p.program.end(), [](auto& l) { return l.starts_with("pushB(d"); }))
        << p.trouble;
  }
}

TEST_F(Planning, AUserThatIsReplacedGoesBeforeWhatItUsesIsInterrupted) {
  auto text = [&](const std::string& db, int port) {
    return fmt::format(
        "system: s\n{}components:\n  db: {{type: command, config: {{start: echo {}, stop: 'true'}}}}\n"
        "  app: {{type: server, uses: {{db: db}}, config: {{port: {}}}}}\n",
        kTypes, db, port);
  };
  auto p = change(text("one", 1), text("two", 2));
  ASSERT_EQ(p.notes.size(), 1u) << p.trouble;
  EXPECT_EQ(p.notes[0],
            "`app` goes before the new one comes: app uses db, which is interrupted to change config.start");
  // Without that it stays until the new one is there.
  p = apply(text("two", 3));
  EXPECT_TRUE(p.safe) << p.trouble;
  EXPECT_TRUE(p.before("wait(app#3)", "pushB(app#2, undeploy)")) << p.trouble;
}

TEST_F(Planning, UsersStayWithTheOldOneUntilTheNewOneIsThere) {
  auto text = [&](int port) {
    return fmt::format(
        "system: s\n{}components:\n  db: {{type: server, config: {{port: {}}}}}\n"
        "  app: {{type: server, uses: {{db: db}}, config: {{port: 1}}}}\n",
        kTypes, port);
  };
  auto p = change(text(1), text(2));
  EXPECT_TRUE(p.before("wait(db#2)", "pushB(app, undeploy)")) << p.trouble;
}

TEST_F(Planning, AReplacementThatFailedLeavesTheOldOneInItsPlace) {
  auto text = [&](int port, const std::string& start) {
    return fmt::format(
        "system: s\n{}components:\n  db: {{type: server, config: {{start: '{}', port: {}}}}}\n"
        "  app: {{type: server, uses: {{db: db}}, config: {{start: 'echo ${{db.port}}', port: 1}}}}\n"
        "invariants: [{{at_least: 1, of: [db]}}]\n",
        kTypes, start, port);
  };
  EXPECT_TRUE(apply(text(1, "true")).finished);
  EXPECT_FALSE(apply(text(2, "false")).finished);
  // On the way back only the new one goes, which never came up.
  auto p = plan(text(1, "true"));
  EXPECT_TRUE(p.safe) << p.trouble;
  EXPECT_EQ(p.program, (std::vector<std::string>{"pushB(db#2, undeploy)", "wait(db#2)", "del(db#2)", "wait_all()"}));
  // Failing once more changes nothing about that.
  EXPECT_FALSE(apply(text(2, "false")).finished);
  // The repair: room is made, a new one comes, its user moves over, and the old one goes last.
  p = apply(text(2, "true"));
  EXPECT_TRUE(p.safe && p.finished) << p.trouble;
  EXPECT_TRUE(p.before("wait(db#3)", "pushB(db#4, deploy)")) << p.trouble;
  EXPECT_TRUE(p.before("wait(db#4)", "pushB(app, undeploy)")) << p.trouble;
  EXPECT_TRUE(p.before("dcon(app, db, db, service)", "del(db)")) << p.trouble;
  EXPECT_EQ(plan(text(2, "true")).program.size(), 1u);
}

TEST_F(Planning, AnotherNameForTheSameTypeIsOnlyWrittenDown) {
  std::string types = "types: {mine: {extends: command, doc: mine, config: {start: {default: 'echo 1'}}}}\n";
  auto text = [&](const std::string& type, const std::string& config) {
    return fmt::format("system: s\n{}components:\n  a: {{type: {}, config: {{stop: 'true'{}}}}}\n", types, type,
                       config);
  };
  EXPECT_TRUE(apply(text("command", ", start: 'echo 1'")).finished);
  auto p = apply(text("mine", ""));
  EXPECT_TRUE(p.safe && p.finished) << p.trouble;
  EXPECT_EQ(p.program, std::vector<std::string>{"wait_all()"});
  // A setting that is another one then is a change like any other.
  p = apply(text("command", ", start: 'echo 2'"));
  EXPECT_TRUE(p.before("pushB(a, undeploy)", "pushB(a, deploy)")) << p.trouble;
}

TEST_F(Planning, WhatBecomesAnotherTypeGoesBeforeTheNewOneComes) {
  auto text = [&](const std::string& a) {
    return fmt::format(
        "system: s\n{}components:\n  a: {}\n  b: {{type: server, uses: {{a: a}}, config: {{port: 1}}}}\n", kTypes, a);
  };
  std::string x = dir + "/out/x";
  auto p = change(text(fmt::format("{{type: generic, config: {{make: 'touch {0}', check: 'test -e {0}', "
                                   "remove: 'rm {0}'}}}}",
                                   x)),
                  text(fmt::format("{{type: file, config: {{path: {}, content: x}}}}", x)));
  EXPECT_TRUE(p.before("wait(a)", "pushB(a#2, deploy)")) << p.trouble;
  EXPECT_TRUE(std::filesystem::exists(x));
}

TEST_F(Planning, WhatIsOnlyCalledOtherwiseGoesBeforeItComesAgain) {
  std::string x = dir + "/out/x";
  auto text = [&](const std::string& name) {
    return fmt::format(
        "system: s\ncomponents:\n  {0}: {{type: generic, config: {{make: 'touch {1}', check: 'test -e {1}', "
        "remove: 'rm {1}'}}}}\n",
        name, x);
  };
  auto p = change(text("data"), text("store"));
  EXPECT_TRUE(p.before("wait(data)", "pushB(store, deploy)")) << p.trouble;
  EXPECT_TRUE(std::filesystem::exists(x));
}

TEST_F(Planning, AnInvariantThatCannotBeKeptIsSaidInTheWordsOfTheConfiguration) {
  auto text = [&](const std::string& db, const std::string& more) {
    std::string t = fmt::format("system: s\n{}invariants: [{{at_least: 1, of: [app*]}}]\ncomponents:\n", kTypes);
    t += fmt::format("  db: {{type: command, config: {{start: echo {}, stop: 'true'}}}}\n", db);
    return t + server("app1", "uses: {db: db}, ") + server("app2", "uses: {db: db}, ") + more;
  };
  EXPECT_TRUE(apply(text("one", "")).finished);
  auto p = plan(text("two", ""));
  EXPECT_FALSE(p.safe);
  EXPECT_TRUE(p.reaches) << p.trouble;  // whoever wants it all the same gets there
  ASSERT_EQ(p.verdicts.size(), 1u);
  EXPECT_EQ(p.verdicts[0],
            "BROKEN throughout: at least 1 of app1, app2 up: app1 and app2 use db, which is interrupted to change "
            "config.start");
  EXPECT_TRUE(apply(text("two", "")).finished);
  // One that does not use it keeps it; through another is the same as directly.
  EXPECT_TRUE(apply(text("two", server("app3", ""))).finished);
  p = apply(text("three", server("app3", "", "echo 3")));
  EXPECT_TRUE(p.safe) << p.trouble;
  EXPECT_TRUE(p.finished);
  EXPECT_TRUE(
      apply(text("three", server("cache", "uses: {db: db}, ") + server("app3", "uses: {c: cache}, "))).finished);
  p = plan(text("four", server("cache", "uses: {db: db}, ") + server("app3", "uses: {c: cache}, ")));
  ASSERT_EQ(p.verdicts.size(), 1u);
  EXPECT_NE(p.verdicts[0].find("app1 and app2 use db and app3 uses cache, which uses db, which is interrupted"),
            std::string::npos)
      << p.verdicts[0];
}

TEST_F(Planning, ThoseThatGoDownTogetherTakeOneTurn) {
  auto text = [&](const std::string& word) {
    std::string t = fmt::format("system: s\n{}invariants: [{{at_least: 2, of: [app*]}}]\ncomponents:\n", kTypes);
    for (const char* db : {"x", "y"}) t += server(db, "", "echo " + word);
    for (auto [app, db] : {std::pair{1, "x"}, {2, "y"}, {3, "x"}, {4, "y"}})
      t += server(fmt::format("app{}", app), fmt::format("uses: {{db: {}}}, ", db));
    return t;
  };
  change(text("one"), text("two"));
}

TEST_F(Planning, WhoComesAfterAnotherAndUsesTheSameFollowsItUp) {
  auto text = [&](const std::string& word) {
    return fmt::format("system: s\n{}components:\n", kTypes) + server("db", "", "echo " + word) +
           server("a", "uses: {db: db}, ") + server("b", "uses: {db: db}, after: [a], ");
  };
  auto p = change(text("one"), text("two"));
  EXPECT_TRUE(p.before("wait(a)", "pushB(b, deploy)")) << p.trouble;
}

TEST_F(Planning, WhereThereIsRoomForOneTheOldOneGoesFirst) {
  auto text = [&](int port) {
    return fmt::format(
        "system: s\n{}invariants: [{{at_most: 1, of: [app]}}]\ncomponents:\n"
        "  app: {{type: server, config: {{port: {}}}}}\n",
        kTypes, port);
  };
  auto p = change(text(1), text(2));
  EXPECT_TRUE(p.before("wait(app)", "pushB(app#2, deploy)")) << p.trouble;
}

TEST_F(Planning, AThingStaysWhileWhatItUsesIsRestarted) {
  auto text = [&](const std::string& start, const std::string& make, const std::string& more = "") {
    return std::string(kTypes) + "components:\n" + server("db", "", start) +
           fmt::format("  schema: {{type: generic, {}uses: {{db: db}}, config: {{make: {}}}}}\n", more, make) +
           server("app", "uses: {db: db, schema: schema}, ") +
           "  fill: {type: job, uses: {schema: schema}, config: {command: 'true'}}\n";
  };
  auto p = change(text("true", "'true'"), text("true 2", "'true'"));
  EXPECT_TRUE(p.before("pushB(app, undeploy)", "pushB(app, deploy)")) << p.trouble;
  for (const char* name : {"schema", "fill"})
    EXPECT_EQ(p.at(fmt::format("pushB({}, undeploy)", name)), static_cast<std::ptrdiff_t>(p.program.size()))
        << p.trouble;
  p = apply(text("true 3", "true 3"));  // its own change waits for the new one
  EXPECT_TRUE(p.safe && p.finished) << p.trouble;
  EXPECT_TRUE(p.before("wait(db)", "pushB(schema, alter)")) << p.trouble;
  engine::PlanOptions options;
  options.drift["db"] = {{"exec", "it does not run", true}};
  p = plan(text("true 3", "true 3"), true, options);
  EXPECT_TRUE(p.safe && p.finished) << p.trouble;
  EXPECT_EQ(p.at("pushB(schema, undeploy)"), static_cast<std::ptrdiff_t>(p.program.size())) << p.trouble;
}

TEST_F(Planning, AThingThatIsMadeAnewTakesWhatWasDoneWithItAlong) {
  auto text = [&](int port, const std::string& more = "") {
    return fmt::format("{}components:\n  db: {{type: server, config: {{port: {}}}}}\n", kTypes, port) +
           fmt::format("  schema: {{type: generic, {}uses: {{db: db}}, config: {{make: 'true'}}}}\n", more) +
           "  fill: {type: job, uses: {schema: schema}, config: {command: 'true'}}\n";
  };
  auto p = change(text(1), text(2));  // the server is another one
  EXPECT_TRUE(p.before("pushB(schema, undeploy)", "pushB(schema, deploy)")) << p.trouble;
  EXPECT_TRUE(p.before("pushB(fill, undeploy)", "pushB(fill, deploy)")) << p.trouble;
  EXPECT_TRUE(apply(text(2, "protect: true, ")).finished);
  p = plan(text(3, "protect: true, "));
  EXPECT_FALSE(p.made);
  EXPECT_NE(p.trouble.find("PLAN-PROTECTED"), std::string::npos) << p.trouble;
}

TEST_F(Planning, WhatGoesCountsAsLongAsItIsThere) {
  auto text = [&](const std::string& invariant, std::vector<std::string> names) {
    std::string t = fmt::format("system: s\n{}invariants: [{{{}}}]\ncomponents:\n", kTypes, invariant);
    for (auto& n : names) t += server(n, "");
    return t;
  };
  std::string most = "at_most: 1, of: [lead*]", least = "at_least: 1, of: [app*]";
  auto p = change(text(most, {"lead1"}), text(most, {"lead2"}));
  EXPECT_TRUE(p.before("wait(lead1)", "pushB(lead2, deploy)")) << p.trouble;
  p = change(text(least, {"app1", "app2"}), text(least, {"app3", "app4"}));
  EXPECT_TRUE(p.before("pushB(app3, deploy)", "pushB(app1, undeploy)")) << p.trouble;
  EXPECT_TRUE(p.before("wait(app3)", "pushB(app1, undeploy)")) << p.trouble;
  EXPECT_EQ(p.verdicts[0], "holds throughout: at least 1 of app3, app4, app1, app2 up");
}

TEST_F(Planning, WhatIsProtectedIsNotAskedAwayEither) {
  auto text = [&](const std::string& more, int port) {
    return fmt::format("system: s\n{}components:\n  a: {{type: server, {}config: {{port: {}}}}}\n", kTypes, more, port);
  };
  EXPECT_TRUE(apply(text("protect: true, ", 1)).finished);
  for (auto& other : {text("protect: true, state: absent, ", 1), text("state: absent, ", 1), text("", 2)})
    EXPECT_NE(plan(other).trouble.find("PLAN-PROTECTED"), std::string::npos) << other;
  EXPECT_TRUE(apply(text("", 1)).finished);
  EXPECT_TRUE(apply(text("state: absent, ", 1)).finished);
}

// Two steps up, of which the second fails unless told otherwise; `note` means nothing to what is there.
TEST_F(Planning, WhatWasDoneWithOtherSettingsIsDoneAgain) {
  auto text = [&](const std::string& config) {
    return fmt::format(
        "system: s\ntypes: {{steps: {{extends: thing, config: {{at: string, run: string, note: string}}, places: "
        "[absent, "
        "ready, half, present, altered, removed], transitions: {{first: {{from: ready, to: half, do: [{{exec: {{title: "
        "first, provider: shell, command: 'true ${{config.at}}'}}}}]}}, make: {{from: half, do: [{{exec: {{title: "
        "make, "
        "provider: shell, command: '${{config.run}}'}}}}]}}}}, behaviours: {{deploy: [enter, first, make]}}, hold: "
        "[ready, "
        "half, present, altered, removed], change: {{note: []}}}}}}\ncomponents: {{a: {{type: steps, config: "
        "{{{}}}}}}}\n",
        config);
  };
  using Program = std::vector<std::string>;
  Program on{"pushB(a, deploy)", "wait_all()"}, anew{"pushB(a, undeploy)", "pushB(a, deploy)", "wait_all()"};
  EXPECT_FALSE(apply(text("at: one, run: 'false'")).finished);
  EXPECT_EQ(plan(text("at: one, run: 'false'")).program, on);
  EXPECT_EQ(plan(text("at: one, run: 'false', note: x")).program, on);
  EXPECT_EQ(plan(text("at: two, run: 'false'")).program, anew);
  Planned p = apply(text("at: two, run: 'false'"));  // fails again: from here on it is what it was tried with
  EXPECT_TRUE(p.safe && !p.finished) << p.trouble;
  EXPECT_EQ(plan(text("at: two, run: 'false'")).program, on);
  EXPECT_EQ(plan(text("at: one, run: 'false'")).program, anew);
  // Records from before that was written down are gone on from.
  {
    OneCall c(dir);
    auto recorded = c.deployer->recorded("s");
    ASSERT_TRUE(recorded);
    EXPECT_EQ(recorded->components.at("a").tried.find("at")->value.text(), "two");
    recorded->components.at("a").tried = Value::null();
    auto source = c.session.sources->add("system.yaml", text("at: one, run: 'true'"));
    auto wanted = model::read_deployment(c.session, *read_yaml(c.session, **source), library(c.session));
    ASSERT_TRUE(wanted) << c.trouble();
    auto old = engine::make_plan(c.session, *wanted, *recorded);
    ASSERT_TRUE(old) << c.trouble();
    EXPECT_EQ(old->changes.at(0).behaviours, std::vector<std::string>{"deploy"});
  }
  EXPECT_TRUE(apply(text("at: one, run: 'true'")).finished);
  OneCall c(dir);
  EXPECT_TRUE(c.deployer->recorded("s")->components.at("a").tried.is(Kind::kNull));
}

TEST_F(Planning, WhatWasFoundDownDoesNotCountAsUp) {
  auto servers = [&](const std::string& to_a, const std::string& to_b) {
    return std::string(kTypes) + "invariants: [{at_least: 1, of: [a, b]}]\ncomponents:\n" + server("a", "", to_a) +
           server("b", "", to_b);
  };
  EXPECT_TRUE(apply(servers("true", "true")).finished);
  engine::PlanOptions options;
  options.drift["b"] = {{"exec", "it does not run", true}};
  Planned p = plan(servers("true a", "true b"), false, options);
  EXPECT_TRUE(p.safe) << p.trouble;
  EXPECT_TRUE(p.before("pushB(b, deploy)", "wait(b)")) << p.trouble;
  EXPECT_TRUE(p.before("wait(b)", "pushB(a, undeploy)")) << p.trouble;
  std::string user = server("u", "uses: {b: b}, ");  // who uses it leaves before it is brought up, as ever
  EXPECT_TRUE(apply(servers("true", "true") + user).finished);
  p = plan(servers("true a", "true b") + user, false, options);
  EXPECT_TRUE(p.safe) << p.trouble;
  EXPECT_TRUE(p.before("wait(b)", "pushB(a, undeploy)")) << p.trouble;
  EXPECT_TRUE(p.before("pushB(u, undeploy)", "pushB(u, deploy)")) << p.trouble;
  options.drift["a"] = {{"exec", "it does not run", true}};
  EXPECT_TRUE(plan(servers("true a", "true b"), true, options).finished);  // nobody is up whom one could keep up
}

// Any change of any system without invariants has a safe plan.
TEST_F(Planning, RandomChangesAreAllSafe) {
  std::mt19937 random(7);
  auto one_in = [&](u32 n) { return random() % n == 0; };
  for (u32 round = 0; round < 80; ++round) {
    std::string text = fmt::format("system: s\n{}components:\n", kTypes);
    std::vector<std::string> there;
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      if (one_in(4)) continue;
      std::string uses, after;
      for (auto& other : there) {
        if (one_in(3)) uses += fmt::format("{}: {}, ", other, other);
        if (one_in(4)) after += other + ", ";
      }
      u32 version = random() % 3, port = random() % 2;
      std::string config = name[0] == 'c' ? fmt::format("type: generic, config: {{make: echo {}}}", version)
                           : name[0] == 'd'
                               ? fmt::format("type: job, config: {{command: echo {}}}", version)
                               : fmt::format("type: server, config: {{start: echo {}, port: {}}}", version, port);
      text += fmt::format("  {}: {{uses: {{{}}}, after: [{}], {}}}\n", name, uses, after, config);
      there.emplace_back(name);
    }
    if (there.empty()) continue;
    auto p = apply(text);
    ASSERT_TRUE(p.safe) << round << "\n" << text << p.trouble;
    ASSERT_TRUE(p.finished) << round << "\n" << text << p.trouble;
  }
}

}  // namespace
}  // namespace tutti::deploy
