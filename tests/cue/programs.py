"""Random programs of CUE as people write them: definitions, defaults, patterns, comprehensions, data that does or does not fit."""
import random

NAMES = ["name", "port", "host", "image", "replicas", "enabled", "labels", "tags", "kind", "spec", "size", "path", "level", "count"]
STRINGS = ["web", "db", "cache", "prod", "dev", "a", "x-y", "Hello", "ü", "10", "true", "", "a b", "line\\nbreak", "tab\\t"]


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.schemas = []  # (name, {field: kind})
        self.values = []  # names of fields at the top

    def chance(self, p):
        return self.random.random() < p

    def pick(self, of):
        return self.random.choice(of)

    # ---- parts

    def string(self):
        return '"' + self.pick(STRINGS) + '"'

    def number(self):
        return self.pick(["0", "1", "2", "3", "5", "80", "443", "8080", "-1", "100", "65535", "65536", "1.5", "0.5", "1e3", "1Ki", "2M", "0x10", "1_000", "2.50", "1.0"])

    def scalar(self):
        return self.pick([self.string, self.number, self.number, lambda: self.pick(["true", "false"]), lambda: "null", lambda: "'bytes'",
                          lambda: '"""\n\t\tlines of\n\t\t  text \\(1 + 1)\n\t\t"""', lambda: '#"raw \\n "quotes""#'])()

    def type_(self, kind):
        return {
            "int": lambda: self.pick(["int", ">0", ">=1 & <=100", "int & >0", "uint8", "int & >=0 & <=65535", "*80 | int", "1 | 2 | *3", "uint16 | *8080",
                                      "!=0", "number", "*1 | >5", "<10 | *7", "int | *null"]),
            "string": lambda: self.pick(["string", '=~"^[a-z]+$"', '*"dev" | "prod"', '"a" | "b" | "web"', "string | *\"x\"", '!=""', 'strings.MinRunes(2)', 'string & !~"x"', "*\"\" | string",
                                         "string | null"]),
            "bool": lambda: self.pick(["bool", "*true | bool", "bool | *false", "true | false"]),
            "list": lambda: self.pick(["[...string]", "[...int]", "[_, ...]", "[...]", "list.MaxItems(2)", "[string, ...int]", "*[] | [...string]", "[...{name: string, ...}]", "[...>0]"]),
            "map": lambda: self.pick(["[string]: string", "[=~\"^a\"]: int", "{[string]: int | string}", "[Name=string]: {id: Name}", "{a: int, [string]: number}", "{...}", "[!~\"^b\"]: bool"]),
        }[kind]()

    def fitting(self, kind):
        if self.chance(0.12):
            return self.scalar()
        return {
            "int": lambda: self.pick(["1", "3", "5", "80", "443", "7", "100"]),
            "string": lambda: self.pick(['"web"', '"dev"', '"prod"', '"a"', '"abc"', '"x"']),
            "bool": lambda: self.pick(["true", "false"]),
            "list": lambda: self.pick(['["a", "b"]', "[1, 2, 3]", "[]", '["x", 1]', '[{name: "n"}]', "[...]"]),
            "map": lambda: self.pick(['{a: 1}', '{abc: "x"}', "{}", '{x: "1", y: "2"}', '{b: true}', '{"x y": {}}']),
        }[kind]()

    def label(self, name):
        return '"' + name + '"' if self.chance(0.08) else name

    def reference(self):
        if self.chance(0.02):
            return self.pick(NAMES)
        if not self.values:
            return self.scalar()
        out = self.pick(self.values)
        if self.chance(0.35):
            out += self.pick([".name", ".port", "[0]", '["name"]', ".labels", ".spec.size"])
        return out

    def expression(self, depth=2):
        if depth <= 0:
            return self.scalar() if self.chance(0.6) else self.reference()
        e = lambda: self.expression(depth - 1)
        r = self.reference
        return self.pick([
            lambda: self.scalar(), lambda: r(), lambda: f"{e()} + {e()}", lambda: f"{self.number()} * {self.number()}", lambda: f'"\\({r()})-x"',
            lambda: f"{e()} & {e()}", lambda: f"*{e()} | {e()}", lambda: f"len({r()})", lambda: f"[for x in {r()} {{x}}]", lambda: f"[for i, x in [1, 2, 3] if x > 1 {{i * x}}]",
            lambda: f"{{for k, v in {r()} {{\"\\(k)_x\": v}}}}", lambda: f"[{e()}, {e()}]", lambda: "{a: " + e() + ", b: a}", lambda: f"({e()})", lambda: f"{r()} == {e()}",
            lambda: f"[if {r()} != _|_ {{1}}, 2][0]", lambda: f"strings.ToUpper({r()})", lambda: f"list.Sum([{self.number()}, {self.number()}])", lambda: f"{r()} != _|_",
            lambda: f"-{self.number()}", lambda: f"!{self.pick(['true', 'false'])}", lambda: f"{self.number()} < {self.number()}", lambda: f'"{self.pick(STRINGS)}" =~ "^[a-z]"',
            lambda: f"strings.Join([\"a\", \"b\"], {self.string()})", lambda: f"{self.number()} / {self.number()}", lambda: f"[1, 2, 3, 4][{self.pick(['1:', ':2', '1:3'])}]",
            lambda: f"{{let L = {e()}, y: L}}", lambda: f"({{a: {e()}, b: 2}}).a", lambda: f"close({{a: {e()}}})", lambda: f"or([{e()}, {e()}])", lambda: f"and([{e()}, {e()}])",
            lambda: f"json.Marshal({e()})", lambda: f"yaml.Marshal({e()})", lambda: f"strconv.FormatInt({self.number()}, 10)", lambda: f"math.Floor({self.number()})", lambda: f"div({self.number()}, {self.number()})"])()

    # ---- declarations

    def fields(self, fields, indent):
        """The lines of a schema."""
        out = []
        for name, kind in fields.items():
            mark = self.pick(["", "", "?", "!"])
            attribute = self.pick(["", "", "", "", " @go(Name)", ' @tag(x)', " @a(b,c=d)"]) if self.chance(0.3) else ""
            comment = "// " + self.pick(["What it is.", "TODO", "of " + name]) + "\n" + indent if self.chance(0.1) else ""
            type_ = self.type_(kind)
            if kind == "map" and type_.startswith("["):
                type_ = "{" + type_ + "}"
            out.append(f"{indent}{comment}{name}{mark}: {type_}{attribute}")
        return out

    def schema(self):
        name = self.pick(["#Service", "#Server", "#App", "#Base", "#Meta", "#Config", "_#Inner", "#T" + str(self.random.randint(1, 9))])
        if any(n == name for n, _ in self.schemas):
            return ""
        fields = {n: self.pick(["int", "string", "bool", "list", "map", "int", "string"]) for n in self.random.sample(NAMES, self.random.randint(1, 4))}
        lines = self.fields(fields, "\t")
        if self.schemas and self.chance(0.4):
            other, its = self.pick(self.schemas)
            if self.chance(0.6):
                lines.insert(0, "\t" + other)
                fields = {**its, **fields}
            else:
                lines.append(f"\tinner?: {other}")
        if self.chance(0.15):
            lines.append("\t...")
        if self.chance(0.15):
            first = next(iter(fields))
            lines.append(f"\tif {first} != _|_ {{\n\t\textra: {self.type_('int')}\n\t}}")
        if self.chance(0.1):
            lines.append("\t_hidden: " + self.expression(1))
        if self.chance(0.15):
            lines.append("\t[=~\"^x-\"]: " + self.type_("string"))
        if any("..." == x.strip() for x in lines):
            lines.remove("\t...")
            lines.append("\t...")
        self.schemas.append((name, fields))
        return name + ": {\n" + "\n".join(lines) + "\n}"

    def instance(self):
        name = self.pick(["web", "db", "app", "main", "node", "svc", "x" + str(self.random.randint(1, 9)), '"my-app"', "_hid"])
        if name not in self.values and '"' not in name:
            self.values.append(name)
        if not self.schemas:
            return f"{name}: {self.expression()}"
        schema, fields = self.pick(self.schemas)
        lines = []
        for f, kind in fields.items():
            if self.chance(0.75):
                lines.append(f"\t{self.label(f)}: {self.fitting(kind)}")
        if self.chance(0.1):
            lines.append(f"\t{self.pick(NAMES)}: {self.scalar()}")
        if self.chance(0.1):
            lines.append(f"\tother: {self.expression(1)}")
        body = "{\n" + "\n".join(lines) + "\n}"
        shape = self.random.random()
        if shape < 0.6:
            return f"{name}: {schema} & {body}"
        if shape < 0.75:
            return f"{name}: {{\n\t{schema}\n" + "\n".join(lines) + "\n}"
        if shape < 0.85:
            return f"{name}: {schema}\n{name}: {body}"
        other = self.pick(self.schemas)[0]
        return f"{name}: ({schema} | {other}) & {body}"

    def several(self):
        """A map of things with a pattern, and some of them."""
        group = self.pick(["services", "servers", "apps", "users"])
        self.values.append(group)
        lines = []
        if self.schemas and self.chance(0.6):
            lines.append(f"{group}: [string]: {self.pick(self.schemas)[0]}")
        else:
            lines.append(f"{group}: [Name=string]: {{\n\tname: {self.pick(['Name', 'string | *Name', '*Name | string'])}\n\tport: {self.type_('int')}\n\tid: \"\\(name)-\\(port)\"\n}}")
        for n in self.random.sample(["web", "db", "cache", '"x-1"'], self.random.randint(1, 3)):
            lines.append(f"{group}: {n}: " + self.pick(["{}", "port: 80", "{port: 443, name: \"n\"}", "{name: \"z\"}", "port: \"bad\""]))
        return "\n".join(lines)

    def derived(self):
        name = "d" + str(self.random.randint(1, 99))
        shape = self.random.random()
        if shape < 0.1:
            return f"({self.pick([self.string(), self.reference()])}): {self.expression(1)}"
        if shape < 0.2:
            return f'"\\({self.reference()})": {self.scalar()}'
        if shape < 0.3:
            return f"if {self.expression(1)} {{\n\t{name}: {self.expression(1)}\n}}"
        if shape < 0.4:
            return f"for k, v in {self.reference()} {{\n\t\"{name}_\\(k)\": v\n}}"
        self.values.append(name)
        if shape < 0.5:
            return f"let L{name} = {self.expression(1)}\n{name}: L{name}"
        return f"{name}{self.pick(['', '', '', '', '?', '!']) if self.chance(0.2) else ''}: {self.expression()}"

    def text(self):
        parts = []
        for _ in range(self.random.randint(0, 3)):
            parts.append(self.schema())
        for _ in range(self.random.randint(1, 4)):
            parts.append(self.pick([self.instance, self.derived, self.derived, self.several])())
        if self.chance(0.1):
            parts.append(self.pick(["// at the end", "@attr(x)", "_", "{}"]))
        parts = [p for p in parts if p]
        if self.chance(0.3):
            self.random.shuffle(parts)
        text = "\n".join(parts) + "\n"
        head = "package p\n\n" if self.chance(0.5) else ""
        used = [p for p in ("encoding/json", "encoding/yaml", "list", "math", "strconv", "strings") if p.split("/")[-1] + "." in text]
        return head + "".join(f'import "{p}"\n' for p in used) + text
