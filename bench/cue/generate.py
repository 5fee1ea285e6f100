"""Configurations in the shapes in which evaluators of CUE grow badly. Each function writes its files into a directory and returns
the arguments of the call that is measured; `SHAPES` names them with the sizes for which there are figures of cue."""
import json, os

MODULE = 'module: "bench.example/m@v0"\nlanguage: version: "v0.17.0"\n'


def put(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    return path


CLUSTER = '''package cluster

import "strings"

#Id: =~"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" & strings.MaxRunes(63)
#Size: =~"^[0-9]+(Ki|Mi|Gi)$"
#Cpu: =~"^[0-9]+m?$"
#Head: {
	name:      #Id
	namespace: *"default" | #Id
	labels: [string]: string
	annotations?: [string]: string
}
#Box: {
	name:   #Id
	image:  string & =~":v[0-9]"
	policy: *"IfNotPresent" | "Always" | "Never"
	env: [...{name: string, value: string}]
	ports: [...{containerPort: int & >0 & <65536, name?: string}]
	resources: {
		limits: {cpu: *"500m" | #Cpu, memory: *"256Mi" | #Size}
		requests: {cpu: *"100m" | #Cpu, memory: *"128Mi" | #Size}
	}
}
#Deployment: {
	apiVersion: "apps/v1"
	kind:       "Deployment"
	metadata:   #Head
	spec: {
		replicas: *1 | int & >0 & <=50
		selector: matchLabels: [string]: string
		template: {
			metadata: labels: [string]: string
			spec: {containers: [...#Box], restartPolicy: *"Always" | "OnFailure" | "Never"}
		}
	}
}
#Service: {
	apiVersion: "v1"
	kind:       "Service"
	metadata:   #Head
	spec: {
		type: *"ClusterIP" | "NodePort" | "LoadBalancer"
		selector: [string]: string
		ports: [...{name: string, port: int & >0 & <=65535, targetPort: *port | int | string, protocol: *"TCP" | "UDP" | "SCTP"}]
	}
}
#App: {
	name:     #Id
	tier:     "front" | "back" | "infra" | "batch"
	image:    string
	replicas: *1 | int
	port:     int
	debug:    *false | bool
	metrics:  *false | bool
}
app: [Name=_]: #App & {name: Name}
app: [=~"^svc-0"]: {tier: !="legacy"}
deployment: [Name=string]: #Deployment & {
	metadata: {name: Name, labels: app: Name}
	spec: {selector: matchLabels: app: Name, template: metadata: labels: app: Name}
}
service: [Name=string]: #Service & {
	metadata: {name: Name, labels: app: Name}
	spec: selector: app: Name
}
for k, a in app {
	deployment: (k): {
		metadata: labels: tier: a.tier
		spec: replicas: a.replicas
		spec: template: spec: containers: [{
			name:  k
			image: a.image
			ports: [{containerPort: a.port, name: "http"}]
			env: [
				{name: "APP", value: a.name},
				if a.debug {{name: "DEBUG", value: "1"}},
				if a.metrics {{name: "METRICS", value: "\\(a.port+1)"}},
			]
		}]
	}
	service: (k): {
		metadata: labels: tier: a.tier
		spec: ports: [{name: "http", port: a.port}]
		if a.tier == "front" {spec: type: "LoadBalancer"}
	}
}
'''


def cluster(folder, n):
    """Applications from which deployments and services are derived, all checked by schemas."""
    out = ["package cluster\n"]
    for i in range(n):
        more = (f"\treplicas: {i % 5 + 1}\n" if i % 5 else "") + ("\tdebug: true\n" if i % 3 == 0 else "") + ("\tmetrics: true\n" if i % 4 == 1 else "")
        out.append(f'app: "svc-{i:05d}": {{\n\ttier: "{("front", "back", "infra", "batch")[i % 4]}"\n\timage: "registry.example.com/team{i % 17}/app{i}:v1.{i % 9}.{i % 5}"\n\tport: {8000 + i % 1000}\n{more}}}\n')
    return [put(folder, "schema.cue", CLUSTER), put(folder, "apps.cue", "".join(out))]


PEOPLE = '''import (
	"strings"
	"time"
)

#Place: {
	street:  string & strings.MinRunes(3)
	city:    string
	zip:     =~"^[0-9]{5}$"
	country: "FR" | "DE" | "US" | "JP"
}
#Person: {
	id:      int & >=0
	uuid:    =~"^[0-9a-f]{8}-[0-9a-f]{4}$"
	name:    string & !=""
	email?:  =~"^[^@]+@[^@]+$"
	age:     int & >=0 & <150
	score:   number & >=0 & <=100
	active:  bool
	created: time.Format("2006-01-02T15:04:05Z07:00")
	role:    "admin" | "user" | "guest"
	tags: [...string]
	place: #Place
	meta: [=~"^x-"]: string
	parent: null | int
}
people: [...#Person]
'''


def person(i):
    p = {"id": i, "uuid": f"{i * 2654435761 & 0xffffffff:08x}-{i & 0xffff:04x}", "name": f"Person {i}", "age": i % 99, "score": i % 1000 / 10,
         "active": i % 2 == 0, "created": f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}T{i % 24:02d}:00:00Z", "role": ("admin", "user", "guest")[i % 3],
         "tags": [f"t{i % 7}", f"g{i % 5}"], "place": {"street": f"{i} Main St", "city": "Nantes", "zip": f"{i % 100000:05d}", "country": ("FR", "DE", "US", "JP")[i % 4]},
         "meta": {"x-src": f"s{i % 3}"}, "parent": None if i % 2 else i // 2}
    if i % 3:
        p["email"] = f"p{i}@example.com"
    return p


def people(folder, n, form):
    """A long list of records checked by a definition: as JSON, YAML, CUE, and with one in a hundred broken."""
    schema, all_ = put(folder, "schema.cue", PEOPLE), [person(i) for i in range(n)]
    if form == "bad":
        for j, i in enumerate(range(0, n, 100)):
            all_[i].update(({"age": -1}, {"role": "root"}, {"place": dict(all_[i]["place"], zip="x")}, {"extra": 1})[j % 4])
    if form in ("json", "bad"):
        data = put(folder, f"{form}.json", json.dumps({"people": all_}, indent=1))
    elif form == "yaml":
        lines = ["people:\n"]
        for p in all_:
            dash = "- "
            for k, v in p.items():
                if isinstance(v, dict):
                    lines.append(f"{dash}{k}:\n" + "".join(f"    {a}: {json.dumps(b)}\n" for a, b in v.items()))
                elif isinstance(v, list):
                    lines.append(f"{dash}{k}:\n" + "".join(f"  - {json.dumps(b)}\n" for b in v))
                else:
                    lines.append(f"{dash}{k}: {json.dumps(v)}\n")
                dash = "  "
        data = put(folder, "data.yaml", "".join(lines))
    else:
        data = put(folder, "data.cue", "people: [\n" + "".join(f"\t{json.dumps(p)},\n" for p in all_) + "]\n")
    return [schema, data]


def chain(folder, n):
    """Each field one more than the one before it."""
    return [put(folder, "x.cue", "v0: 1\n" + "".join(f"v{i}: v{i - 1} + 1\n" for i in range(1, n)))]


def backward(folder, n):
    """The same chain, its end first: every reference is to what comes later."""
    return [put(folder, "x.cue", "".join(f"v{i}: v{i - 1} + 1\n" for i in range(n - 1, 0, -1)) + "v0: 1\n")]


def cross(folder, n):
    """Nodes that refer to parts of three others."""
    return [put(folder, "x.cue", "".join(
        f'n{i}: {{id: {i}, host: "h{i}", port: {1000 + i % 5000}, url: "http://\\(host):\\(port)", left: n{(i * 7 + 1) % n}.url, right: n{(i * 13 + 5) % n}.port, self: {{u: url, o: n{(i + 1) % n}.id}}}}\n'
        for i in range(n)))]


def nest(folder, n):
    """Services in groups that copy parts of their neighbours, three selectors deep."""
    g, out = max(1, int(n ** 0.5)), []
    for i in range(n):
        j = (i + 1) % n
        other = f"all.g{j % g}.s{j}.spec"
        out.append(f'all: g{i % g}: s{i}: {{spec: {{host: "s{i}.g{i % g}", port: {1000 + i % 5000}}}, needs: {{up: {other}, at: "\\({other}.host):\\({other}.port)"}}}}\n')
    return [put(folder, "x.cue", "".join(out))]


def comprehension(folder, n):
    """Items made, indexed, grouped and joined with themselves: n * n rounds of the inner loop."""
    return [put(folder, "x.cue", f'''import "list"

items: [for i in list.Range(0, {n}, 1) {{id: i, name: "item-\\(i)", group: mod(i, 10), w: i*3 + 1}}]
byName: {{for it in items {{(it.name): {{id: it.id, w: it.w}}}}}}
pairs: [for a in items for b in items if a.group == b.group if a.id < b.id if b.id-a.id <= 30 {{"\\(a.name)/\\(b.name)"}}]
byGroup: {{for g in list.Range(0, 10, 1) {{"g\\(g)": [for it in items if it.group == g {{it.name}}]}}}}
total: list.Sum([for it in items {{it.w}}])
count: len(pairs)
''')]


def union(folder, n, defaults=False, arms=12):
    """Elements of a union of twelve, told apart by one field; with choices inside each arm or without."""
    out = []
    for k in range(arms):
        more = '\n\tsev: *"low" | "mid" | "high"\n\tsub: {kind: "a", v: *0 | int} | {kind: "b", s: *"" | string} | *{kind: "none"}' if defaults else ""
        out.append(f'#E{k}: {{\n\ttype: "t{k}"\n\tid: int\n\tf{k}: string\n\tlevel: int & >=0 & <10{more}\n}}\n')
    out.append("#Event: " + " | ".join(f"#E{k}" for k in range(arms)) + "\nevents: [...#Event]\nevents: [\n")
    for i in range(n):
        k = i * 5 % arms
        more = ', sub: {kind: "b", s: "z"}' if defaults and i % 3 == 0 else ""
        out.append(f'\t{{type: "t{k}", id: {i}, f{k}: "v{i}", level: {i % 10}{more}}},\n')
    return [put(folder, "x.cue", "".join(out) + "]\n")]


def pairs_of(n):
    return "".join(f"x: {{a{i}: 1, b{i}: 1}} | {{a{i}: 2, b{i}: 2}}\n" for i in range(n))


def settled(folder, n):
    """Choices between two structs that a plain conjunct settles."""
    known = ", ".join(f"a{i}: {1 + i % 2}" for i in range(n))
    return [put(folder, "x.cue", "x: {" + ", ".join(f"a{i}: int" for i in range(n)) + "}\n" + pairs_of(n) + f"x: {{{known}}}\n")]


def late(folder, n):
    """The same choices, settled by another choice."""
    known = ", ".join(f"a{i}: {1 + i % 2}" for i in range(n))
    return [put(folder, "x.cue", pairs_of(n) + f"x: {{{known}}} | {{z: 1, z: 2}}\n")]


def open_choices(folder, n):
    """The same choices, not settled: the result is all 2 to the n of them."""
    return [put(folder, "x.cue", pairs_of(n))]


def instance(n):
    return "{" + ", ".join(f"f{k}: {k}" for k in range(n)) + "}\n"


def embed_chain(folder, n):
    """Definitions each embedding the one before, with a field that all add to."""
    return [put(folder, "x.cue", "#D0: {f0: int, common: [string]: int}\n" + "".join(
        f"#D{k}: {{\n\t#D{k - 1}\n\tf{k}: int\n\tcommon: c{k}: {k}\n}}\n" for k in range(1, n)) + f"v: #D{n - 1} & " + instance(n))]


def embed_conjunction(folder, n):
    """Open definitions each unified with the one before."""
    return [put(folder, "x.cue", "#D0: {f0: int, ...}\n" + "".join(
        f"#D{k}: #D{k - 1} & {{\n\tf{k}: int\n\t...\n}}\n" for k in range(1, n)) + f"v: #D{n - 1} & " + instance(n))]


def embed_tree(folder, n):
    """A binary tree of embedded definitions."""
    out = [f"#T{k}: {{\n" + "".join(f"\t#T{c}\n" for c in (2 * k + 1, 2 * k + 2) if c < n) + f"\tf{k}: int\n}}\n" for k in range(n)]
    return [put(folder, "x.cue", "".join(out) + "v: #T0 & " + instance(n))]


def embed_wide(folder, n):
    """Many values of a chain of twenty embedded definitions."""
    out = ["#D0: {f0: int}\n"] + [f"#D{k}: {{\n\t#D{k - 1}\n\tf{k}: int\n}}\n" for k in range(1, 20)]
    out += [f"v{i}: #D19 & {{" + ", ".join(f"f{k}: {k + i}" for k in range(20)) + "}\n" for i in range(n)]
    return [put(folder, "x.cue", "".join(out))]


APP = '#App: {\n\tname: string\n\tport: int & >0 & <65536\n\tenv: [string]: string\n\tkind: *"web" | "job"\n}\n'


def files(folder, n):
    """One package of many small files."""
    put(folder, "cue.mod/module.cue", MODULE)
    put(folder, "schema.cue", "package main\n\n" + APP + "\napps: [Name=string]: #App & {name: Name}\n")
    for i in range(n):
        put(folder, f"f{i:05d}.cue", f'package main\n\napps: a{i}: {{\n\tport: {1000 + i % 60000}\n\tenv: X: "v{i}"\n}}\n')
    return ["."]


def packages(folder, n):
    """Many small packages, all importing one and imported by one."""
    put(folder, "cue.mod/module.cue", MODULE)
    put(folder, "base/base.cue", "package base\n\n" + APP)
    for i in range(n):
        put(folder, f"p{i}/p.cue", f'package p{i}\n\nimport "bench.example/m/base"\n\napp: base.#App & {{\n\tname: "a{i}"\n\tport: {1000 + i % 60000}\n\tenv: X: "v{i}"\n}}\n')
    put(folder, "main.cue", "package main\n\nimport (\n" + "".join(f'\t"bench.example/m/p{i}"\n' for i in range(n)) + ")\n\n" + "".join(f"apps: a{i}: p{i}.app\n" for i in range(n)))
    return ["."]


# name: (command, generator, {size: (CPU seconds, MB) of cue 0.17.1}). The figures were taken once, on two cores shared with other
# work; cue's times under 10 ms are below what the clock showed. bench/cue/run measures cue itself where it is installed.
SHAPES = {
    "cluster": (["export"], cluster, {50: (0.05, 26), 200: (0.21, 48), 800: (0.65, 138), 3200: (3.01, 456), 6400: (6.18, 951)}),
    "cluster vet": (["vet", "-c"], cluster, {50: (0.02, 22), 200: (0.10, 33), 800: (0.36, 74), 3200: (1.71, 242), 6400: (5.16, 474)}),
    "people.json": (["vet", "-c"], lambda d, n: people(d, n, "json"), {1000: (0.34, 60), 4000: (1.04, 183), 16000: (5.36, 695), 64000: (43.74, 2567)}),
    "people.yaml": (["vet", "-c"], lambda d, n: people(d, n, "yaml"), {1000: (0.24, 67), 4000: (0.99, 211), 16000: (5.22, 768), 32000: (15.35, 1588)}),
    "people.cue": (["vet", "-c"], lambda d, n: people(d, n, "cue"), {1000: (0.15, 45), 4000: (0.70, 125), 16000: (2.97, 442), 64000: (24.00, 1684)}),
    "people broken": (["vet", "-c"], lambda d, n: people(d, n, "bad"), {1000: (0.28, 62), 4000: (1.04, 179), 16000: (6.35, 656)}),
    "chain": (["export"], chain, {1000: (0.01, 22), 4000: (0.08, 33), 16000: (1.16, 74), 64000: (29.65, 224)}),
    "chain backward": (["export"], backward, {1000: (0.03, 30), 4000: (0.09, 59), 16000: (1.60, 175), 64000: (28.46, 640)}),
    "cross": (["export"], cross, {1000: (0.13, 36), 4000: (0.57, 88), 16000: (4.21, 303)}),
    "nest": (["export"], nest, {1000: (0.13, 37), 4000: (0.47, 100), 16000: (2.91, 316), 32000: (6.29, 609)}),
    "comprehension": (["export"], comprehension, {100: (0.02, 24), 300: (0.20, 29), 1000: (2.22, 48), 2000: (8.95, 78)}),
    "union": (["export"], union, {100: (0.02, 22), 400: (0.10, 36), 1600: (0.38, 86), 6400: (1.34, 285), 25600: (6.52, 1102)}),
    "union defaults": (["export"], lambda d, n: union(d, n, True), {100: (0.09, 34), 400: (0.34, 78), 1600: (1.24, 259), 6400: (5.97, 982)}),
    "choices settled": (["export"], settled, {4: (0.01, 17), 8: (0.01, 17), 12: (0.01, 17), 18: (0.01, 18)}),
    "choices late": (["export"], late, {6: (0.01, 20), 8: (0.03, 29), 10: (0.34, 73), 12: (6.84, 274)}),
    "choices open": (["eval"], open_choices, {6: (0.01, 22), 8: (0.06, 32), 10: (0.58, 86), 12: (4.83, 251)}),
    "embed chain": (["export"], embed_chain, {25: (0.01, 18), 50: (0.04, 21), 100: (0.49, 28), 200: (6.87, 52)}),
    "embed conjunction": (["export"], embed_conjunction, {25: (0.01, 18), 50: (0.04, 19), 100: (0.95, 23), 200: (27.15, 35)}),
    "embed tree": (["export"], embed_tree, {31: (0.01, 18), 127: (0.02, 20), 511: (0.60, 26), 1023: (4.19, 34), 2047: (31.20, 51)}),
    "embed wide": (["export"], embed_wide, {50: (0.02, 22), 200: (0.07, 30), 800: (0.27, 60), 3200: (1.16, 190), 12800: (5.01, 650)}),
    "files": (["export"], files, {100: (0.02, 24), 400: (0.06, 28), 1600: (0.30, 50), 6400: (1.27, 142), 25600: (8.08, 454)}),
    "packages": (["export"], packages, {50: (0.02, 23), 200: (0.09, 28), 800: (0.69, 45), 1600: (2.51, 66), 3200: (8.70, 116)}),
}
