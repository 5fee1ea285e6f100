"""Random manifests that use most of the language: definitions, inheritance, virtual resources, collectors, overrides, relationships,
iteration, defaults, data, templates, heredocs, types, functions. Most of them compile; those that do not must be refused by both sides."""
import re

TYPES = {
    "notify": {"message": "text", "withpath": "bool", "loglevel": "level"},
    "file": {"ensure": "ensure", "mode": "mode", "content": "text", "owner": "word", "group": "word", "replace": "bool"},
    "user": {"ensure": "presence", "uid": "int", "groups": "words", "comment": "text", "managehome": "bool"},
    "group": {"ensure": "presence", "gid": "int"},
    "exec": {"command": "path", "creates": "path", "timeout": "int", "refreshonly": "bool"},
    "package": {"ensure": "version", "configfiles": "keep", "install_options": "words"},
}
DATA = {
    "m/data/high.yaml": "m::a::p: from high\nm::a::h: {x: 1, n: {a: 1}}\nm::list: [1, 2]\nm::users: {bob: {uid: 7}}\n",
    "m/data/low.yaml": "m::a::p: from low\nm::a::h: {y: 2, n: {b: 2}}\nm::list: [2, 3]\nm::users: {bob: {comment: low}, eve: {uid: 9}}\n"
                       "m::b::q: 42\nm::text: \"%{lookup('m::b::q')} on %{facts.fqdn}\"\n"
                       "lookup_options:\n  m::list: {merge: unique}\n  m::users: {merge: deep}\n  m::a::h: {merge: deep}\n",
    "m/hiera.yaml": "version: 5\nhierarchy:\n  - {name: high, path: high.yaml}\n  - {name: low, path: low.yaml}\n",
    "m/metadata.json": '{"name":"t-m","version":"1.0.0","author":"t","license":"x","summary":"s","source":"x","dependencies":[]}',
    "m/templates/t.epp": "<%- | $a, Integer $b = 2, *$c | -%>\n".replace(", *$c", "") + "a is <%= $a %><% if $b > 1 { %>, b is <%= $b -%>\n<% } %>.\n<%# nothing -%>\n<% [1, 2].each |$i| { -%>\n - <%= $i %> <%= $facts['fqdn'] %>\n<% } -%>\n",
    "m/templates/plain.epp": "<%= $facts['os']['family'] %> <%= $title %>\n",
    "m/functions/up.pp": "function m::up(String $s, Integer $n = 1, *$more) >> String {\n  if $n > 2 { return('many') }\n  \"${s.upcase}${n}${more}\"\n}\n",
    "m/functions/tree.pp": "function m::tree($v) {\n  $v ? { Hash => $v.map |$k, $x| { [$k, m::tree($x)] }, Array => $v.map |$x| { m::tree($x) }, default => $v }\n}\n",
    "m/types/port.pp": "type M::Port = Integer[1, 100]\n",
    "m/types/shape.pp": "type M::Shape = Struct[{ kind => Enum['a', 'b'], Optional[port] => M::Port, Optional['list'] => Array[M::Shape] }]\n",
    "conf/hiera.yaml": "version: 5\nhierarchy:\n  - {name: all, path: all.yaml}\n",
    "conf/data/all.yaml": "c0::p0: from all\nc1::p1: [1, 2]\nc2::p0: {a: b}\nkey: value\nc3::p2: ~\n",
}


class Manifest:
    def __init__(self, rng):
        self.rng = rng
        self.count = 0
        self.resources = []  # (type, title) that are probably in the catalog
        self.depth = 0
        self.variables = [["facts"]]
        self.classes = []
        self.defines = []
        self.functions = []
        self.inside = False  # a definition, which may never be used
        self.heredocs = {}  # the texts of heredocs, which come on the lines after the one that names them
        self.in_string = 0
        self.aliases = []
        self.locked = False  # inside a definition whose resources may come several times

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, xs):
        return self.rng.choice(list(xs))

    def fresh(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    # --- expressions
    def variable(self):
        names = [v for scope in self.variables for v in scope if v != "facts"]
        return f"${self.pick(names)}" if names else "$facts['fqdn']"

    def number(self, depth=0):
        r = self.rng.random()
        if depth > 2 or r < 0.6:
            return str(self.rng.randrange(0, 9))
        if r < 0.8:
            return f"({self.number(depth + 1)} {self.pick('+-*')} {self.number(depth + 1)})"
        if r < 0.9:
            return f"{self.array(depth + 1)}.size"
        return f"({self.number(depth + 1)} {self.pick(['%', '/', '<<'])} {self.rng.randrange(1, 5)})"

    def text(self, depth=0):
        r = self.rng.random()
        if depth > 2 or r < 0.35:
            return f"'{self.pick(['a', 'b', 'text', '$no', 'x y', ''])}'"
        if r < 0.6:
            return f'"{self.pick(["p", ""])}${{{self.inner(depth + 1)}}}{self.pick(["", "-s"])}"'
        if r < 0.7:
            return f"if {self.condition(depth + 1)} {{ {self.text(depth + 1)} }} else {{ {self.text(depth + 1)} }}" if self.chance(0.3) else f"({self.condition(depth + 1)} ? {{ true => {self.text(depth + 1)}, default => {self.text(depth + 1)} }})"
        if r < 0.8:
            return f"{self.array(depth + 1)}.join('{self.pick([',', ''])}')"
        if r < 0.88:
            return f"String({self.any(depth + 1)})"
        if r < 0.9 and self.functions:
            return f"String({self.pick(self.functions)}({self.any(depth + 1)}))"
        if r < 0.97:
            return self.made_text(depth)
        return self.pick(["$title", "$name", "$module_name", "$facts['os']['family']", "lookup('key')", "lookup('m::text')", "$facts['os']['release']['major']", "$environment", "upcase('q')"])

    def made_text(self, depth):
        k = self.rng.randrange(9)
        if k == 0 and not self.in_string:
            tag = self.fresh("H")
            quoted = self.chance(0.6)
            flags = self.pick(["", "/L", "/$", "/n"]) if self.chance(0.4) else ""
            line = f"v ${{{self.variable()[1:]}}} \\n \\$x" if self.variable()[1:].isalnum() else "plain $text"
            body = self.pick([f"    one\n      {line}\n    three\\\n    four\n", f"    {line}\n", "", "\n    x\n\n"])
            end = self.pick(["    | ", "    |- ", "    - ", "  "]) + tag
            self.heredocs[tag] = body + end
            return f'@("{tag}"{flags})' if quoted else f"@({tag}{flags})"
        if k == 1:
            self.in_string += 1
            args = f"{{ 'a' => {self.any(depth + 1)}{self.pick(['', ', b => 3', ', c => 1'])} }}"
            self.in_string -= 1
            return f"epp('m/t.epp', {args})"
        if k == 2:
            return self.pick(["epp('m/plain.epp')", "inline_epp('<%= $facts[\"fqdn\"] %>-<%= 1 + 2 -%>\\n x')", "inline_epp(\"<%- |\\$q = 3| -%>\\nq<%= \\$q * 2 %>\", { 'q' => " + self.number(2) + " })", "inline_epp('<% $z = 4 %><%= $z %><%% x')"])
        if k == 3:
            return f"regsubst('{self.pick(['abc', 'x-y-z', 'aa'])}', {self.pick(['/a/', '/(.)-(.)/', repr('[a-c]')])}, '{self.pick(['<&>', chr(92) * 2 + '1', 'q'])}'{self.pick(['', ', ' + repr('G')])})"
        if k == 4:
            return f"m::up('{self.pick(['q', 'Z'])}'{self.pick(['', ', 2', ', 3', ', 1, 5', ', ' + self.any(2)])})"
        if k == 5:
            return f"({self.any(depth + 1)} ? {{ {self.type()} => {self.text(depth + 1)}, /^(a|t)(.?)/ => \"m-${{1}}-${{2}}\", {self.any(2)} => 'same', default => 'other' }})"
        if k == 6:
            return f"Sensitive({self.text(depth + 1)}).unwrap"
        if k == 7:
            return f"sprintf('%s|%5s|%03d', {self.any(depth + 1)}, {self.text(2)}, {self.number(2)})"
        return f"({self.hash(depth + 1)}.dig('{self.pick('ab')}').then |$d| {{ \"d${{d}}\" }}.lest || {{ 'none' }})"

    def inner(self, depth):
        self.in_string += 1
        try:
            return self.inner_(depth)
        finally:
            self.in_string -= 1

    def inner_(self, depth):
        return self.pick([self.variable()[1:] if self.chance(0.5) else self.variable(), self.number(depth), "facts['fqdn']", f"[{self.number(depth)}, {self.number(depth)}][1]", "title"])

    def array(self, depth=0):
        r = self.rng.random()
        if depth > 2 or r < 0.5:
            return "[" + ", ".join(self.any(depth + 1) for _ in range(self.rng.randrange(0, 4))) + "]"
        if r < 0.6:
            return f"({self.array(depth + 1)} + {self.array(depth + 1)})"
        if r < 0.7:
            x = self.fresh("x")
            self.variables.append([x])
            body = self.any(depth + 1)
            self.variables.pop()
            return f"{self.array(depth + 1)}.map |${x}| {{ {body} }}"
        if r < 0.78:
            return f"{self.array(depth + 1)}.filter |$f| {{ {self.pick(['$f', '$f =~ Integer', '$f != 1', '$f =~ String[1]'])} }}"
        if r < 0.84:
            return f"Integer[{self.rng.randrange(0, 3)}, {self.rng.randrange(0, 5)}].map |$i| {{ $i * 2 }}"
        if r < 0.9:
            return f"{self.hash(depth + 1)}.keys"
        if self.chance(0.3):
            x, y = self.fresh("x"), self.fresh("y")
            return self.pick([
                f"{self.array(depth + 1)}.reduce([]) |$m, ${x}| {{ $m + [${x}] }}", f"{self.array(depth + 1)}.slice(2).map |${x}| {{ ${x}.size }}",
                f"{self.array(depth + 1)}.map |$i, ${x}| {{ if $i > 1 {{ next('late') }} ${x} }}", f"{self.array(depth + 1)}.map |$i, ${x}| {{ if $i > 1 {{ break() }} ${x} }}",
                f"{self.hash(depth + 1)}.map |${x}, ${y}| {{ [${y}, ${x}] }}", f"[*{self.array(depth + 1)}, *{self.hash(depth + 1)}]", f"{self.array(depth + 1)}[0, {self.rng.randrange(-2, 3)}]",
                f"lookup('m::list', {{ merge => {self.pick([repr('first'), repr('unique'), '{ strategy => deep }'])} }})", f"lookup(['nope', 'm::list'])", f"m::tree({self.any(depth + 1)}).flatten",
                f"{self.array(depth + 1)}.with_index_missing" if self.chance(0.01) else "['b', 'a'].sort |$p, $q| { compare($q, $p) }", f"{self.array(depth + 1)}.group_by |${x}| {{ String(type(${x}, 'generalized')) }}.keys"])
        return self.pick(["lookup('m::list')", "lookup('c1::p1')", "unique([1, 1, 'a'])", "flatten([1, [2, [3]]])", "split('a,b', ',')", "['b', 'a'].sort"])

    def hash(self, depth=0):
        if depth > 2 or self.chance(0.7):
            return "{ " + ", ".join(f"{self.pick(['a', 'b', 'c'])!r} => {self.any(depth + 1)}" for _ in range(self.rng.randrange(0, 3))) + " }"
        if self.chance(0.3):
            return self.pick([f"lookup('m::users', Hash, {self.pick(['first', 'hash', 'deep'])!r})", f"lookup('nope', {{ default_value => {self.hash(depth + 1)} }})", f"lookup('m::a::h', {{ merge => {{ strategy => 'deep', merge_hash_arrays => true }} }})",
                              f"{self.array(depth + 1)}.group_by |$g| {{ \"${{g =~ String}}\" }}", f"({self.hash(depth + 1)} - 'a')", f"Hash([['a', {self.any(depth + 1)}]])", f"{self.hash(depth + 1)}.reduce({{}}) |$m, $e| {{ $m + {{ $e[0] => $e[1] }} }}"])
        return self.pick([f"({self.hash(depth + 1)} + {self.hash(depth + 1)})", "lookup('m::users')", "$facts['os']", f"{self.hash(depth + 1)}.filter |$k, $v| {{ $k != 'a' }}"])

    def condition(self, depth=0):
        r = self.rng.random()
        if r < 0.2:
            return self.pick(["true", "false", "undef", "$nothing", "!true"])
        if r < 0.45:
            return f"({self.number(depth + 1)} {self.pick(['<', '==', '>=', '!='])} {self.number(depth + 1)})"
        if r < 0.6:
            return f"({self.any(depth + 1)} =~ {self.type()})"
        if r < 0.7:
            return f"('{self.pick(['ab', 'web1', 'x'])}' =~ /{self.pick(['^a', '[0-9]$', '(w)(.)'])}/)"
        if r < 0.8 and depth < 2:
            return f"({self.condition(depth + 1)} {self.pick(['and', 'or'])} {self.condition(depth + 1)})"
        if r < 0.9 and self.resources:
            t, n = self.pick(self.resources)
            return f"defined({self.capital(t)}['{n}'])"
        return self.pick([f"defined('{self.pick(self.classes)}')" if self.classes else "true", f"({self.number(depth)} in {self.array(depth + 1)})", "tagged('c1')", "defined('$x1')"])

    def type(self):
        return self.pick(self.aliases + ["M::Port", "M::Shape", "Struct[{ a => Integer, Optional['b'] => Any }]", "Tuple[Integer, String]", "Sensitive", "Type[Integer]", "Regexp", "Array[Variant[Integer, Undef], 1, 3]", "Hash[Enum['a'], Data]", "Scalar", "ScalarData", "Data", "Float", "Iterable", "Enum['A', true]", "Class", "Init[Integer]",
                          "Integer", "String[1]", "Integer[1, 5]", "Array", "Array[Integer]", "Optional[String]", "Hash[String, Any]", "Enum['a', 'b']", "Variant[Integer, String]", "Pattern[/^a/]", "Undef", "Boolean", "Numeric", "Collection", "NotUndef", "Any", "Mine"])

    def any(self, depth=0):
        r = self.rng.random()
        if r < 0.3:
            return self.number(depth)
        if r < 0.6:
            return self.text(depth)
        if r < 0.7:
            return self.variable()
        if depth > 1 or r < 0.8:
            return self.pick(["true", "undef", "'w'", "1.5", "default" if self.chance(0.1) else "2"])
        return self.array(depth + 1) if r < 0.9 else self.hash(depth + 1)

    def value(self, kind):
        simple = {"bool": ["true", "false"], "level": ["notice", "info"], "ensure": ["file", "present", "absent", "directory"], "mode": ["'0644'", "'0700'"], "word": ["'root'", "adm", "'x'"],
                  "presence": ["present", "absent"], "keep": ["keep", "replace"], "version": ["installed", "latest", "'1.2'"], "path": ["'/bin/true'", "'/bin/ls -l'"], "words": ["['a', 'b']", "'a'", "[]"]}
        if kind in simple:
            return self.pick(simple[kind]) if not self.chance(0.04) else "undef"
        if kind == "int":
            return self.number()
        if kind == "text":
            return self.text()
        return self.any()

    # --- resources
    def title(self, kind):
        if self.chance(0.06) and self.resources:
            return self.pick(self.resources)[1]
        n = self.fresh("r")
        return f"/t/{n}" if kind in ("file",) else n

    def reference(self):
        t, n = self.pick(self.resources) if self.resources else ("notify", "none")
        return f"{self.capital(t)}['{n}']"

    @staticmethod
    def capital(name):
        return "::".join(p.capitalize() for p in name.split("::"))

    def attributes(self, kind):
        spec = TYPES.get(kind) or dict(self.defines_spec(kind))
        out = []
        for name, k in spec.items():
            if self.chance(0.35 if kind in TYPES else 0.9):
                out.append(f"{name} => {self.value(k)}")
        given = {a.split(" ")[0] for a in out}
        if self.chance(0.1) and kind in TYPES:
            name = self.pick(list(spec))
            if name not in given or self.chance(0.05):
                out.append(f"* => {{ {name!r} => {self.value(spec[name])} }}")
        if self.chance(0.15) and self.resources:
            refs = self.reference() if self.chance(0.7) else f"[{self.reference()}, {self.reference()}]"
            out.append(f"{self.pick(['require', 'before', 'notify', 'subscribe'])} => {refs}")
        if self.chance(0.1):
            out.append(f"tag => {self.pick(['t1', 't2', '[t1, t3]'])}")
        if self.chance(0.04):
            out.append(f"alias => '{self.fresh('alias')}'")
        if self.chance(0.04):
            out.append(f"noop => {self.pick(['true', 'false'])}")
        return out

    def defines_spec(self, kind):
        for name, params in self.defines:
            if name == kind:
                return [(p, k) for p, k, _ in params]
        return []

    def resource(self):
        kinds = list(TYPES) * 2 + [d for d, _ in self.defines] * 3
        kind = self.pick(kinds)
        prefix = self.pick(["", "", "", "", "@", "@@"])
        bodies, names = [], []
        for _ in range(self.pick([1, 1, 1, 2])):
            title = self.title(kind)
            names.append(title)
            if self.locked:
                shown = f'"{title}-${{title}}"' if kind != "file" else f'"{title}/${{title}}"'
            elif self.chance(0.12):
                other = self.title(kind)
                names.append(other)
                shown = f"['{title}', '{other}']"
            else:
                shown = f"'{title}'"
            attributes = self.attributes(kind)
            bodies.append(f"{shown}: " + ", ".join(attributes))
        if self.chance(0.06):
            bodies.insert(0, "default: " + ", ".join(self.attributes(kind)))
        if not self.locked and (not self.inside or self.chance(0.15)) and (self.depth < 2 or self.chance(0.3)):
            self.resources += [(kind, n) for n in names]
        return f"{prefix}{kind} {{ {'; '.join(bodies)} }}"

    def query(self, kind, depth=0):
        spec = list((TYPES.get(kind) or dict(self.defines_spec(kind))).items())
        r = self.rng.random()
        if depth < 2 and r < 0.2:
            return f"({self.query(kind, depth + 1)} {self.pick(['and', 'or'])} {self.query(kind, depth + 1)})"
        if r < 0.5:
            return f"tag {self.pick(['==', '!='])} {self.pick(['t1', 't2', 'c1', 'd0'])}"
        if r < 0.65:
            return f"title {self.pick(['==', '!='])} '{self.pick(self.resources)[1] if self.resources else 'x'}'"
        if not spec:
            return "tag == t1"
        name, k = self.pick(spec)
        value = self.value(k)
        if value[0] not in "'0123456789abcdefghijklmnopqrstuvw" or not self.chance(0.05) and ("." in value or "(" in value or "{" in value):
            value = self.pick(["'a'", "undef", "2", "true", "present", self.variable()])
        return f"{name} {self.pick(['==', '!='])} {value}"

    def collector(self):
        kind = self.pick(list(TYPES) + [d for d, _ in self.defines])
        query = self.query(kind) if self.chance(0.6) else ""
        text = f"{self.capital(kind)} <| {query} |>"
        if self.chance(0.35):
            overrides = [a for a in self.attributes(kind) if not a.startswith(("alias", "*"))]
            text += " { " + ", ".join(a.replace("=>", "+>", 1) if self.chance(0.2) and a.startswith(("tag", "require", "before", "groups")) else a for a in overrides) + " }"
        return text

    # --- statements
    def statement(self):
        self.depth += 1
        out = self.statement_()
        self.depth -= 1
        return out

    def block(self, most=3):
        self.variables.append([])
        out = " ".join(self.statement() for _ in range(self.rng.randrange(1, most + 1)))
        self.variables.pop()
        return out

    def statement_(self):
        r = self.rng.random()
        deep = self.depth > 3
        if deep or r < 0.34:
            return self.resource()
        if r < 0.42:
            n = self.fresh("v")
            text = f"${n} = {self.any()}"
            self.variables[-1].append(n)
            return text
        if r < 0.5 and self.classes:
            return f"{self.pick(['include', 'include', 'require', 'contain'])} {self.pick(self.classes)}"
        if r < 0.58:
            return self.collector()
        if r < 0.63:
            kind = self.pick(list(TYPES))
            return f"{kind.capitalize()} {{ {', '.join(a for a in self.attributes(kind) if not a.startswith(('*', 'alias')))} }}"
        if r < 0.67 and self.resources:
            kind, name = self.pick(self.resources)
            attributes = [a for a in self.attributes(kind) if not a.startswith(("*", "alias"))]
            return f"{self.capital(kind)}['{name}'] {{ {', '.join(attributes)} }}"
        if r < 0.72 and len(self.resources) > 1:
            parts = [self.reference() if self.chance(0.7) else (self.collector().split("{")[0] if self.chance(0.4) else f"[{self.reference()}, {self.reference()}]") for _ in range(self.pick([2, 2, 3]))]
            return f" {self.pick(['->', '~>', '<-', '<~'])} ".join(parts)
        if r < 0.77:
            return f"if {self.condition()} {{ {self.block()} }}" + (f" elsif {self.condition()} {{ {self.block()} }}" if self.chance(0.2) else "") + (f" else {{ {self.block()} }}" if self.chance(0.5) else "")
        if r < 0.785:
            return self.more()
        if r < 0.81:
            options = "".join(f"{self.pick([self.number(2), self.text(2), self.type(), '/a/', self.number(2) + ', ' + self.text(2)])}: {{ {self.block(1)} }} " for _ in range(2))
            return f"case {self.any()} {{ {options}default: {{ {self.block(1)} }} }}"
        if r < 0.83:
            return f"unless {self.condition()} {{ {self.block()} }}"
        if r < 0.88:
            x = self.fresh("x")
            n = self.fresh("e")
            kind = self.pick(["notify", "file"])
            title = f'"{"/t/" if kind == "file" else ""}{n}-${{{x}}}"' if not self.locked else f'"{"/t/" if kind == "file" else ""}{n}-${{{x}}}-${{title}}"'
            self.variables.append([x])
            attributes = ", ".join(self.attributes(kind))
            self.variables.pop()
            source = self.pick(["[1, 2]", "['a', 'b', 'c']", "Integer[1, 3]", "lookup('m::list')", "[]", "['z'].each_with_index.map |$i| { $i[0] }" if self.chance(0.1) else "[9]"])
            return f"{source}.each |${x}| {{ {kind} {{ {title}: {attributes} }} }}"
        if r < 0.9 and self.resources:
            return f"realize({self.reference()})"
        if r < 0.92:
            n = self.fresh("cr")
            if self.locked:
                return f"create_resources(notify, {{ \"{n}-${{title}}\" => {{ message => {self.text()} }} }})"
            self.resources.append(("notify", n))
            return f"create_resources({self.pick(['notify', repr('@notify'), repr('notify')])}, {{ '{n}' => {{ message => {self.text()} }} }}{self.pick(['', ', { tag => t1 }'])})"
        if r < 0.94:
            n = self.fresh("er")
            if not self.locked:
                self.resources.append(("notify", n))
            return f"ensure_resource('notify', '{n}', {{ message => 'x' }}) ensure_resource('notify', '{n}', {{ message => 'x' }})"
        if r < 0.96:
            return f"tag('{self.pick(['t1', 't2', 'own'])}')"
        if r < 0.98 and self.classes and not self.locked:
            name = self.pick(self.classes)
            return f"if !defined(Class['{name}']) {{ class {{ '{name}': {self.pick(['', 'tag => t2', 'p0 => 1'])} }} }}"
        return f"with({self.any()}) |$w| {{ notify {{ \"{self.fresh('w')}{'-${title}' if self.locked else ''}\": message => $w }} }}"

    def more(self):
        """Statements that are rarer."""
        k = self.rng.randrange(12)
        n = self.fresh("s")
        title = f'"{n}-${{title}}"' if self.locked else f"'{n}'"
        if k == 0:
            other = self.fresh("s")
            second = f'"{other}-${{title}}"' if self.locked else f"'{other}'"
            return f"notify {{ {title}: message => {self.text()} }} {self.pick(['->', '~>', '<-'])} notify {{ {second}: }}"
        if k == 1:
            return f"notify {{ {title}: message => Sensitive({self.any()}) }}"
        if k == 2:
            return f"notify {{ {title}: message => Deferred('{self.pick(['upcase', 'join'])}', [{self.any()}]) }}"
        if k == 3:
            return f"if '{self.pick(['web12', 'db'])}' =~ /([a-z]+)(\\d*)/ {{ notify {{ {title}: message => \"${{1}} ${{2}} ${{0}}\" }} }}"
        if k == 4:
            return f"case {self.any()} {{ {self.type()}: {{ notify {{ {title}: message => 'type' }} }} /(.)(.)/: {{ notify {{ {title}: message => \"re ${{2}}\" }} }} [1, *]: {{ }} default: {{ notify {{ {title}: message => 'default' }} }} }}".replace("[1, *]", self.pick(["[1, 2]", "{ 'a' => 1 }", "*['a', 'b']", "undef, true"]))
        if k == 5 and self.defines:
            kind, params = self.pick(self.defines)
            given = ", ".join(f"{p!r} => {self.value(t)}" for p, t, _ in params)
            return self.pick([f"{kind} {{ {title}: * => {{ {given} }} }}", f"create_resources('{kind}', {{ {title} => {{ {given} }} }}, {{ tag => 't2' }})", f"Resource['{kind}'] {{ {title}: * => {{ {given} }} }}"])
        if k == 6 and len(self.classes) > 1:
            return f"Class['{self.pick(self.classes)}'] {self.pick(['->', '~>'])} Class['{self.pick(self.classes)}']"
        if k == 7:
            return f"$made{n} = notify {{ {title}: }} if $made{n} =~ Array {{ notify {{ {title[:-1]}-after{title[-1]}: require => $made{n} }} }}"
        if k == 8:
            return f"[{self.any()}, {self.any()}].each |$i, $v| {{ if $i == {self.rng.randrange(3)} {{ {self.pick(['next()', 'break()', 'return()'])} }} notify {{ \"{n}-${{i}}{'-${title}' if self.locked else ''}\": message => $v }} }}"
        if k == 9 and self.resources:
            kind, name = self.pick(self.resources)
            attribute = self.pick(list(TYPES.get(kind, {"message": 0})))
            return f"notify {{ {title}: message => {self.capital(kind)}['{name}']['{attribute}'] }}"
        if k == 10:
            return f"notify {{ default: message => {self.text()}, withpath => true; {title}: ; {title[:-1]}-b{title[-1]}: message => undef }}"
        kind = self.pick(list(TYPES))
        return f"{self.capital(kind)} <<| {self.query(kind) if self.chance(0.5) else ''} |>>"

    def parameters(self, of_class):
        out = []
        for n in range(self.rng.randrange(0, 4)):
            kind = self.pick(["int", "text", "any", "bool"])
            sure = {"int": str(self.rng.randrange(9)), "text": self.pick(["'a'", "undef", "'b c'"]), "any": "{}", "bool": "true"}[kind]
            type_ = {"int": "Integer ", "text": "Optional[String] ", "any": "", "bool": "Boolean "}[kind] if self.chance(0.6) else ""
            default = None if not of_class and self.chance(0.3) else sure if type_ and self.chance(0.9) else self.value(kind)
            if default is not None and self.chance(0.15) and n and not type_:
                default = f"$p{n - 1}"
            out.append((f"p{n}", kind, default, type_))
        return out

    def definition(self, keyword, name, params, more=""):
        shown = ", ".join(f"{t}${p}{'' if d is None else ' = ' + d}" for p, _, d, t in params)
        self.variables.append([p for p, _, _, _ in params])
        outer, self.depth = self.depth, 0
        self.inside = True
        body = "\n  ".join(self.statement() for _ in range(self.rng.randrange(1, 6)))
        self.depth = outer
        self.inside = False
        self.variables.pop()
        return f"{keyword} {name}{'(' + shown + ')' if shown or self.chance(0.3) else ''}{more} {{\n  {body}\n}}"

    def make(self):
        parts = ["type Mine = Variant[Integer[0, 3], Enum['a', 'text']]"]
        for n in range(self.rng.randrange(0, 2)):
            parts.append(f"function f{n}({self.pick(['', '', 'Scalar ', 'Optional[String] '])}$a, $b = 1{self.pick(['', '', ', *$r'])}) {self.pick(['', '', '', '>> Any ', '>> String '])}{{ {self.pick(['$a.then |$x| { return($x) } $b', 'with($a) |$q| { [$q] }', '$a', '[$a, $b]', 'if $a =~ String { upcase($a) } else { $b }', '$b + 1'])} }}")
            self.functions.append(f"f{n}")
        for n in range(self.rng.randrange(0, 3)):
            parts.append(f"type T{n} = {self.type()}")
            self.aliases.append(f"T{n}")
        specs = []
        for n in range(self.rng.randrange(0, 3)):
            name = f"d{n}" if self.chance(0.8) else f"m::d{n}"
            params = self.parameters(False)
            specs.append((name, params))
        for name, params in specs:
            self.locked = True
            text = self.definition("define", name, params)
            self.locked = False
            parts.append(text)
            self.defines.append((name, [(p, k, d) for p, k, d, _ in params]))
        names = [f"c{n}" for n in range(self.rng.randrange(0, 4))] + [x for x in ("m::a", "m::b") if self.chance(0.3)]
        for name in names:
            more = f" inherits {self.pick(self.classes)}" if self.classes and self.chance(0.3) else ""
            params = self.parameters(True)
            if name == "m::a":
                params = [("p", "text", "'none'", ""), ("h", "any", "{}", "Hash ")]
            if name == "m::b":
                params = [("q", "int", "1", "Integer ")]
            self.classes, before = self.classes, list(self.classes)
            parts.append(self.definition("class", name, params, more))
            self.classes = before + [name]
        self.rng.shuffle(parts)
        body = [self.statement() for _ in range(self.rng.randrange(1, 7))]
        if self.chance(0.2):
            body.insert(0, "stage { 'pre': before => Stage['main'] }")
            if self.classes:
                body.insert(1, f"class {{ '{self.pick(self.classes)}': stage => 'pre' }}")
        if self.chance(0.3):
            parts.append(f"node {self.pick(['default', repr('test.example.com'), '/^test/', repr('other')])} {{ {self.block()} }}")
            if self.chance(0.9) and "node default" not in parts[-1]:
                parts.append(f"node default {{ {self.block()} }}")
        for s in body:
            parts.insert(self.rng.randrange(0, len(parts) + 1) if self.chance(0.1) and not s.startswith("stage") else len(parts), s)
        return "\n".join(parts) + "\n"


def random_manifest(rng):
    manifest = Manifest(rng)
    out = []
    for line in manifest.make().split("\n"):
        out.append(line)
        out += [manifest.heredocs[tag] for tag in re.findall(r'@\("?(H\d+)"?[^)]*\)', line)]
    return "\n".join(out)
