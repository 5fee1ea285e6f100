"""Configurations in the shapes in which evaluators of CUE grow badly. Each function returns the text of one file."""


def services(n):
    """Services checked by a schema with patterns, defaults and references between fields."""
    out = ['''#Name: =~"^[a-z0-9-]+$"
#Port: {port: int & >0 & <=65535, target: *port | int, protocol: *"TCP" | "UDP"}
#Service: {
	name:     #Name
	image:    string & =~":v[0-9]"
	replicas: int & >0 | *1
	labels: {app: name, [string]: string}
	ports: [...#Port]
	limits: {cpu: *"500m" | =~"^[0-9]+m$", memory: *"256Mi" | =~"^[0-9]+(Mi|Gi)$"}
	if replicas > 2 {spread: true}
}
services: [N=string]: #Service & {name: N}
''']
    for i in range(n):
        out.append(f'services: "svc-{i}": {{image: "registry/app{i}:v1", replicas: {i % 5 + 1}, ports: [{{port: {8000 + i % 1000}}}], labels: tier: "t{i % 4}"}}\n')
    out.append("config: {for k, s in services {(k): {apiVersion: \"v1\", metadata: {name: s.name, labels: s.labels}, spec: {replicas: s.replicas, image: s.image, ports: s.ports}}}}\n")
    return "".join(out)


def chain(n):
    """A chain of references through one wide struct, the end first."""
    return "".join(f"v{i}: v{i + 1}\n" for i in range(n)) + f"v{n}: 1\n"


def cross(n):
    """Fields that refer to their neighbours' parts."""
    out = ["r: {\n"]
    for i in range(n):
        out.append(f'\tn{i}: {{id: {i}, next: r.n{(i + 7) % n}.id, name: "node-\\(id)", sum: id + next}}\n')
    return "".join(out) + "}\n"


def records(n):
    """A long list checked by a definition."""
    out = ['#R: {id: int & >=0, name: string, kind: "a" | "b" | *"c", tags: [...string], score: >=0 & <=1, nested: {x: int, y: int}, opt?: string}\nlist: [...#R]\nlist: [\n']
    for i in range(n):
        out.append(f'\t{{id: {i}, name: "n{i}", kind: "{"ab"[i % 2]}", tags: ["t{i % 3}", "u"], score: 0.{i % 10}, nested: {{x: {i}, y: {-i}}}}},\n')
    return "".join(out) + "]\n"


def union(n, arms=12):
    """Elements of a union told apart by one field."""
    out = ["#U: " + " | ".join(f'{{kind: "k{j}", f{j}: int, common: string}}' for j in range(arms)) + "\n", "u: [...#U]\nu: [\n"]
    for i in range(n):
        j = i % arms
        out.append(f'\t{{kind: "k{j}", f{j}: {i}, common: "c{i}"}},\n')
    return "".join(out) + "]\n"


def embedding(n):
    """Definitions each embedding the one before."""
    out = ["#D0: {f0: int}\n"]
    for i in range(1, n):
        out.append(f"#D{i}: {{#D{i - 1}, f{i}: int}}\n")
    return "".join(out) + f"x: #D{n - 1} & {{" + ", ".join(f"f{i}: {i}" for i in range(n)) + "}\n"


def comprehension(n):
    """A join of a list with itself."""
    return f"ids: [{', '.join(str(i) for i in range(n))}]\npairs: len([for a in ids for b in ids if a + b == {n} {{a}}])\n"


def loops(n):
    """Two undecided choices a field, settled by a third conjunct."""
    parts = " & ".join(f"({{a{i}: 1}} | {{a{i}: 2}})" for i in range(n))
    return f"x: {parts}\nx: {{" + ", ".join(f"a{i}: {1 + i % 2}" for i in range(n)) + "}\n"


SHAPES = {
    "services": (services, (200, 800, 3200)),
    "chain": (chain, (4000, 16000, 64000)),
    "cross": (cross, (1000, 4000, 16000)),
    "records": (records, (1000, 4000, 16000)),
    "union": (union, (400, 1600, 6400)),
    "embedding": (embedding, (25, 50, 100)),
    "comprehension": (comprehension, (100, 300, 1000)),
    "loops": (loops, (4, 8, 12)),
}
