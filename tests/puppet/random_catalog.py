"""Random manifests of resources that are applied for real, with what is there before: one call, one case.

Everything happens below ROOT, or in what every case has a copy of (/etc, /home, crontabs, dpkg's record)."""
import random

ROOT = "/tmp/tutti-applied"
PATHS = [f"{ROOT}/{p}" for p in ["a", "b", "c", "d", "d/x", "d/y", "d/e", "d/e/z", "l", "m"]]
SOURCES = [f"{ROOT}/src/{p}" for p in ["one", "two", "dir", "link", "none"]]
TEXTS = ["", "x", "one\n", "two\nlines\n", "no end", "tab\there\n", "\u00e9t\u00e9\n", "'quoted' \"words\" $x\n"]
MODES = ["0644", "0600", "644", "0755", "4755", "1777", "u+x", "g-w,o=r", "a=rX", "ug=rw,o=", "u=rwx,go=rx", "0"]
OWNERS = ["root", "daemon", "nobody", "1234", "0"] * 4 + ["nosuchuser"]
GROUPS = ["root", "daemon", "nogroup", "4321", "0"] * 4 + ["nosuchgroup"]
PATH = "/usr/bin:/bin:/usr/sbin:/sbin"


class Case:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.resources = []  # [type, title, {attribute: text}]
        self.setup = []
        self.args = []

    def chance(self, p):
        return self.r.random() < p

    def one(self, of):
        return self.r.choice(of)

    def some(self, of, least=1, most=3):
        of = list(of)
        return self.r.sample(of, min(len(of), self.r.randint(least, most)))

    def maybe(self, a, name, value, p=0.3):
        if self.chance(p):
            a[name] = value() if callable(value) else value

    # ---- what is there before

    def before(self):
        r = self.r
        s = self.setup
        for path in PATHS:
            if not self.chance(0.4):
                continue
            what = r.random()
            if path.endswith("/d") or path.endswith("/e"):
                s.append(f"mkdir -p {path}")
            elif what < 0.6:
                s.append(f"[ -d {path.rsplit('/', 1)[0]} ] && [ ! -e {path} ] && printf %s {shell(self.one(TEXTS))} > {path}")
            elif what < 0.8:
                s.append(f"[ -d {path.rsplit('/', 1)[0]} ] && [ ! -e {path} ] && ln -s {self.one(PATHS + ['nowhere'])} {path}")
            else:
                s.append(f"[ -d {path.rsplit('/', 1)[0]} ] && [ ! -e {path} ] && mkdir {path}")
            if self.chance(0.4):
                s.append(f"[ -e {path} ] && chmod {self.one(['600', '755', '640', '4711'])} {path}")
            if self.chance(0.2):
                s.append(f"[ -e {path} ] && chown {self.one(['daemon:daemon', 'nobody', '1234:4321'])} {path}")
        s.append(f"mkdir -p {ROOT}/src/dir/sub; printf one > {ROOT}/src/one; printf 'two\\n' > {ROOT}/src/two; chmod 640 {ROOT}/src/two")
        s.append(f"printf 1 > {ROOT}/src/dir/1; printf 2 > {ROOT}/src/dir/sub/2; chmod 700 {ROOT}/src/dir/sub; ln -s one {ROOT}/src/link; ln -s 1 {ROOT}/src/dir/l")
        if self.chance(0.3):
            s.append("groupadd -g 7001 g1")
        if self.chance(0.3):
            s.append(f"useradd -u 7011 -d {self.one(['/home/u1', '/nonexistent'])} -s /bin/sh {self.one(['-m', '-M'])} -c 'User one' u1")
        if self.chance(0.3):
            s.append("printf '10.0.0.1 h1.x h1\\n# a remark\\n10.0.0.2\\th2.x # two\\n' >> /etc/hosts")
        if self.chance(0.3):
            s.append(f"printf 'none\\t{ROOT}/m1\\ttmpfs\\tsize=1m\\t0\\t0\\n# remark\\n/dev/none /nowhere ext4 defaults 1 2\\n' >> /etc/fstab; mkdir -p {ROOT}/m1")
        if self.chance(0.3):
            s.append("printf '# mine\\n5 4 * * * /bin/old\\n# Puppet Name: c1\\n*/5 * * * * /bin/one\\nMAILTO=x\\n' | crontab -u root -")
        if self.chance(0.3):
            s.append(f"mkdir -p {ROOT}/run; touch {ROOT}/run/{self.one(['s1', 's2'])}")
        if self.chance(0.3):
            s.append(f"dpkg -i {ROOT}-debs/p1_{self.one(['1.0', '2.0'])}_all.deb >/dev/null 2>&1")

    # ---- resources

    def file(self):
        path = self.one(PATHS)
        a = {}
        kind = self.one(["file", "file", "present", "absent", "directory", "link", "none", "none"])
        if kind != "none":
            a["ensure"] = kind
        if kind == "link":
            a["target"] = q(self.one([p for p in PATHS if p != path] + ["x", "../b"]))
            self.maybe(a, "force", "true", 0.3)
        elif kind == "directory":
            self.maybe(a, "source", q(f"{ROOT}/src/dir"), 0.4)
            self.maybe(a, "recurse", self.one(["true", "true", "remote" if "source" in a else "false"]), 0.5)
            self.maybe(a, "purge", self.one(["true", "false"]), 0.4)
            self.maybe(a, "force", "true", 0.4)
            self.maybe(a, "recurselimit", self.one(["1", "2"]), 0.3) if "recurse" in a else None
            self.maybe(a, "ignore", q(self.one(["1", "*.x", "sub", "l"])), 0.2)
            self.maybe(a, "sourceselect", self.one(["first", "all"]), 0.1)
            self.maybe(a, "source_permissions", self.one(["use", "ignore"]), 0.1)
        elif kind == "absent":
            self.maybe(a, "force", "true", 0.5)
            self.maybe(a, "recurse", "true", 0.2)
        else:
            what = self.r.random()
            if what < 0.5:
                a["content"] = q(self.one(TEXTS))
            elif what < 0.8:
                s = self.some(SOURCES, 1, 2)
                a["source"] = q(s[0]) if len(s) == 1 else "[" + ", ".join(map(q, s)) + "]"
                self.maybe(a, "source_permissions", self.one(["use", "ignore"]), 0.2)
            self.maybe(a, "force", "true", 0.2)
            self.maybe(a, "validate_cmd", q(self.one(["/usr/bin/test -f %", "/bin/false %", "/bin/grep -q one %"])), 0.1)
            self.maybe(a, "replace", self.one(["true", "false"]), 0.2)
        self.maybe(a, "mode", lambda: q(self.one(MODES)), 0.4)
        self.maybe(a, "owner", lambda: q(self.one(OWNERS)), 0.25)
        self.maybe(a, "group", lambda: q(self.one(GROUPS)), 0.25)
        self.maybe(a, "links", self.one(["follow", "manage"]), 0.2)
        self.maybe(a, "backup", self.one(["false", "'.bak'", "true"]), 0.3)
        self.maybe(a, "checksum", self.one(["md5", "sha256", "sha1", "md5lite", "mtime"]), 0.06)
        self.maybe(a, "show_diff", "false", 0.1)
        return "file", path, a

    def exec(self):
        n = self.r.randint(1, 9)
        out = f"{ROOT}/out{n}"
        command, shell_ = self.one([
            (f"/bin/echo hello >> {out}", True), (f"/bin/touch {out}", False), (f"/usr/bin/touch {out}", False), (f"touch {out}", False), ("/bin/false", False),
            ("/bin/sh -c 'echo said; echo wrong >&2; exit 3'", False), (f"pwd > {out}", True), (f"env | grep ^W | sort > {out}", True),
            (f"umask > {out}", True), (f"id -un > {out}", True), ("nosuchcommand", False), ("/no/such/command", False), ("/bin/true", False),
            (f"test -e {ROOT}/tried{n} || {{ touch {ROOT}/tried{n}; exit 1; }}", True), ("/bin/sleep 5", False), (f"/bin/mkdir {out}", False),
            ("printf 'a\\nb\\n\\nc'", True)])
        a = {"command": q(command)}
        if "sleep" in command:
            a["timeout"] = "0.3"
        if shell_:
            a["provider"] = "shell"
        if shell_ or not command.startswith("/"):
            self.maybe(a, "path", q(PATH), 0.9)
        else:
            self.maybe(a, "path", self.one([q(PATH), "['/usr/bin', '/bin']"]), 0.4)
        self.maybe(a, "creates", lambda: self.one([q(out), q(self.one(PATHS)), "[" + q(out) + ", " + q(f"{ROOT}/a") + "]"]), 0.2)
        self.maybe(a, "onlyif", lambda: self.condition(), 0.2)
        self.maybe(a, "unless", lambda: self.condition(), 0.2)
        self.maybe(a, "refreshonly", self.one(["true", "true", "false"]), 0.3)
        self.maybe(a, "refresh", lambda: q(f"/bin/touch {ROOT}/refreshed{n}"), 0.15)
        self.maybe(a, "cwd", lambda: q(self.one([ROOT, "/", f"{ROOT}/d", "/nowhere"])), 0.2)
        self.maybe(a, "environment", lambda: self.one(["'W=1'", "['W1=a b', 'W2=x=y']"]), 0.2)
        self.maybe(a, "tries", self.one(["1", "2", "3"]), 0.15)
        self.maybe(a, "try_sleep", "0", 0.1)
        self.maybe(a, "returns", lambda: self.one(["3", "[0, 3]", "1", "'0'"]), 0.2)
        self.maybe(a, "logoutput", self.one(["true", "false", "on_failure"]), 0.3)
        self.maybe(a, "umask", q(self.one(["022", "077", "0027"])), 0.15)
        self.maybe(a, "user", q(self.one(["daemon", "nobody", "root"])), 0.1)
        self.maybe(a, "timeout", self.one(["0", "10", "'20'"]), 0.1) if "timeout" not in a else None
        return "exec", f"e{n}", a

    def condition(self):
        words = [q(x) for x in self.some(["/bin/true", "/bin/false", f"/usr/bin/test -e {ROOT}/a", "/bin/sh -c 'exit 7'"], 1, 2)]
        return words[0] if len(words) == 1 else "[" + ", ".join(words) + "]"

    def user(self):
        name = self.one(["u1", "u2", "daemon"])
        a = {}
        self.maybe(a, "ensure", self.one(["present", "present", "absent"] if name != "daemon" else ["present"]), 0.8)
        if name == "daemon":
            self.maybe(a, "shell", q("/usr/sbin/nologin"), 0.7)
            return "user", name, a
        self.maybe(a, "uid", lambda: self.one(["7011", "'7012'", "7013"]), 0.5)
        self.maybe(a, "gid", lambda: self.one(["'g1'", "7001", "'daemon'", "'nosuchgroup'"]), 0.3)
        self.maybe(a, "home", lambda: q(f"/home/{self.one(['u1', 'other'])}"), 0.4)
        self.maybe(a, "managehome", self.one(["true", "false"]), 0.4)
        self.maybe(a, "shell", lambda: q(self.one(["/bin/sh", "/bin/bash", "/bin/false", "/nosuch"])), 0.4)
        self.maybe(a, "comment", lambda: q(self.one(["A user", "\u00c9mile", ""])), 0.4)
        self.maybe(a, "groups", lambda: self.one(["['daemon']", "'games'", "['games', 'daemon']", "['nosuchgroup']", "[]"]), 0.4)
        self.maybe(a, "membership", self.one(["minimum", "inclusive"]), 0.3)
        self.maybe(a, "password", lambda: self.one(["'!'", "'*'", "Sensitive('$6$abc$def')"]), 0.3)
        self.maybe(a, "password_max_age", lambda: self.one(["30", "'99999'", "-1"]), 0.15)
        self.maybe(a, "password_min_age", lambda: self.one(["1", "'0'"]), 0.15)
        self.maybe(a, "password_warn_days", lambda: self.one(["5", "7"]), 0.1)
        self.maybe(a, "expiry", lambda: self.one(["'2030-01-31'", "absent"]), 0.15)
        self.maybe(a, "system", "true", 0.1)
        self.maybe(a, "allowdupe", "true", 0.1)
        self.maybe(a, "forcelocal", "true", 0.05)
        return "user", name, a

    def group(self):
        name = self.one(["g1", "g2"])
        a = {}
        self.maybe(a, "ensure", self.one(["present", "present", "absent"]), 0.8)
        self.maybe(a, "gid", lambda: self.one(["7001", "'7002'", "0"]), 0.5)
        self.maybe(a, "allowdupe", "true", 0.2)
        self.maybe(a, "system", "true", 0.1)
        return "group", name, a

    def host(self):
        name = self.one(["h1.x", "h2.x", "h3"])
        a = {}
        self.maybe(a, "ensure", self.one(["present", "present", "absent"]), 0.8)
        if a.get("ensure") != "absent":
            self.maybe(a, "ip", lambda: q(self.one(["10.0.0.1", "10.0.0.9", "::1", "fe80::1"])), 0.9)
        self.maybe(a, "host_aliases", lambda: self.one(["'h1'", "['x', 'y.z']", "[]"]), 0.4)
        self.maybe(a, "comment", lambda: q(self.one(["a note", "two", ""])), 0.3)
        self.maybe(a, "target", q(f"{ROOT}/hosts"), 0.2)
        return "host", name, a

    def cron(self):
        a = {}
        name = self.one(["c1", "c2", "c 3"])
        self.maybe(a, "ensure", self.one(["present", "present", "absent"]), 0.5)
        a["command"] = q(self.one(["/bin/one", "/bin/two arg % x", "/bin/old"]))
        if self.chance(0.2):
            a["special"] = self.one(["daily", "reboot", "hourly", "absent"])
        else:
            self.maybe(a, "minute", lambda: self.one(["5", "'*/5'", "[0, 30]", "'0-10'", "absent"]), 0.5)
            self.maybe(a, "hour", lambda: self.one(["4", "'*'", "['2-4']", "[1, 2]"]), 0.4)
            self.maybe(a, "weekday", lambda: self.one(["'Monday'", "1", "['Mon', 'Fri']", "'7'"]), 0.3)
            self.maybe(a, "month", lambda: self.one(["'May'", "12", "['1-3']"]), 0.2)
            self.maybe(a, "monthday", lambda: self.one(["31", "['1', '15']"]), 0.2)
        self.maybe(a, "environment", lambda: self.one(["'MAILTO=me'", "['A=1', 'B=2 3']", "[]"]), 0.2)
        self.maybe(a, "user", lambda: q(self.one(["root", "daemon", "u1"])), 0.3)
        return "cron", name, a

    def mount(self):
        a = {}
        name = self.one([f"{ROOT}/m1", f"{ROOT}/m2"])
        self.setup.append(f"mkdir -p {name}")
        self.maybe(a, "ensure", self.one(["present", "mounted", "mounted", "absent", "unmounted", "defined"]), 0.9)
        self.maybe(a, "device", q(self.one(["none", "tmpfs"])), 0.95)
        self.maybe(a, "fstype", q("tmpfs"), 0.95)
        self.maybe(a, "options", lambda: q(self.one(["size=1m", "defaults", "size=2m,ro", "noauto"])), 0.5)
        self.maybe(a, "dump", self.one(["0", "1", "'0'"]), 0.3)
        self.maybe(a, "pass", self.one(["0", "2"]), 0.3)
        self.maybe(a, "remounts", self.one(["true", "false"]), 0.2)
        return "mount", name, a

    def service(self):
        name = self.one(["s1", "s2"])
        mark = f"{ROOT}/run/{name}"
        self.setup.append(f"mkdir -p {ROOT}/run")
        a = {"provider": "base", "start": q(f"/bin/sh -c 'touch {mark}; echo start >> {mark}.log'"), "stop": q(f"/bin/sh -c 'rm {mark}; echo stop >> {mark}.log'"),
             "status": q(f"/usr/bin/test -e {mark}")}
        self.maybe(a, "ensure", self.one(["running", "running", "stopped", "true", "false"]), 0.9)
        self.maybe(a, "restart", q(f"/bin/sh -c 'echo restart >> {mark}.log'"), 0.3)
        self.maybe(a, "hasrestart", self.one(["true", "false"]), 0.2)
        if self.chance(0.05):
            a["start"] = q("/bin/false")
        if self.chance(0.05):
            del a["stop"]
        return "service", name, a

    def package(self):
        a = {"provider": "dpkg"}
        name = self.one(["p1", "p2", "coreutils"])
        if name == "coreutils":
            self.maybe(a, "ensure", self.one(["present", "installed"]), 0.7)
            return "package", name, a
        self.maybe(a, "ensure", self.one(["present", "installed", "absent", "purged", "latest", "'2.0'", "held"]), 0.9)
        self.maybe(a, "source", q(f"{ROOT}-debs/{name}_{self.one(['1.0', '2.0'])}_all.deb"), 0.9)
        return "package", name, a

    def notify(self):
        a = {}
        self.maybe(a, "message", lambda: self.one([q(self.one(TEXTS)), "['a', 1]", "{'a' => undef}", "Sensitive('hidden')", "42", "undef"]), 0.8)
        self.maybe(a, "withpath", self.one(["true", "false"]), 0.3)
        return "notify", self.one(["n1", "n2", "n 3"]), a

    KINDS = ["file"] * 6 + ["exec"] * 5 + ["user"] * 2 + ["group"] * 2 + ["host", "host", "cron", "cron", "mount", "service", "service", "package", "notify", "notify"]

    def make(self, kinds=None):
        self.before()
        taken = set()
        for _ in range(self.r.randint(2, 9)):
            type_, title, a = getattr(self, self.one(kinds or self.KINDS))()
            if (type_, title) in taken:
                continue
            taken.add((type_, title))
            self.maybe(a, "noop", self.one(["true", "true", "false"]), 0.05)
            self.maybe(a, "loglevel", self.one(["warning", "info", "err"]), 0.05)
            self.maybe(a, "audit", "all", 0.1) if type_ == "file" else None
            self.resources.append([type_, title, a])
        for i, (_, _, a) in enumerate(self.resources):
            for word in ("before", "require", "notify", "subscribe"):
                if len(self.resources) < 2 or not self.chance(0.15):
                    continue
                forward = word in ("before", "notify")
                others = self.resources[i + 1:] if forward else self.resources[:i]
                if self.chance(0.1):
                    others = [r for r in self.resources if r[2] is not a]
                if others:
                    targets = [f"{t.capitalize()}[{q(n)}]" for t, n, _ in self.some(others, 1, 2)]
                    a[word] = targets[0] if len(targets) == 1 else "[" + ", ".join(targets) + "]"
        if self.chance(0.06):
            self.args.append("--noop")
        return self

    def manifest(self):
        out = []
        for type_, title, a in self.resources:
            out.append(f"{type_} {{ {q(title)}:\n" + "".join(f"  {k} => {v},\n" for k, v in a.items()) + "}\n")
        arrows = []
        if len(self.resources) > 2 and self.chance(0.25):
            i, j = sorted(self.r.sample(range(len(self.resources)), 2))
            name = lambda k: f"{self.resources[k][0].capitalize()}[{q(self.resources[k][1])}]"
            arrows.append(f"{name(i)} {self.one(['->', '~>'])} {name(j)}\n")
        if self.chance(0.2) and len(out) > 2:
            k = self.r.randint(1, len(out) - 1)
            body = "".join(out[k:])
            out = out[:k] + ["class c {\n" + body + "}\n" + self.one(["include c\n", "class { 'c': before => Notify['last'] }\nnotify { 'last': }\n"])]
        return "".join(out + arrows)


def q(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'" if "\n" not in text and "\t" not in text else '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("\n", "\\n").replace("\t", "\\t") + '"'


def shell(text):
    return "'" + text.replace("'", "'\\''") + "'"


def case(seed, kinds=None):
    return Case(seed).make(kinds)
