"""Large SmartFrog specifications of a given shape and size.

usage: generate.py SHAPE N FILE     shapes: hosts flat links deep chain

hosts  N/10 hosts that extend one prototype (a nested service in it), change three things and link to one outside
flat   N attributes in one component
links  N/2 attributes and N/2 links to them
deep   N components one inside the other
chain  N/100 instances of a prototype with 100 attributes that is the tenth of a chain of prototypes
"""
import sys


def hosts(n, out):
    out.write('gateway "10.0.0.1";\nWeb extends {\n  on true;\n  port 80;\n  owner "www";\n}\n')
    out.write('Host extends {\n  label "none";\n  route "0.0.0.0";\n  cores 4;\n  memory 8192;\n  roles ["base", "time"];\n'
              '  web extends Web\n  system "linux";\n}\nsfConfig extends {\n')
    for i in range(n // 10):
        out.write(f'  h{i} extends Host, {{\n    label "machine {i}";\n    web:port {2000 + i % 50000};\n    route gateway;\n  }}\n')
    out.write("}\n")


def flat(n, out):
    out.write("sfConfig extends {\n")
    for i in range(n):
        out.write(f"  value{i} {i};\n")
    out.write("}\n")


def links(n, out):
    out.write("sfConfig extends {\n")
    for i in range(n // 2):
        out.write(f"  value{i} {i};\n")
    for i in range(n // 2):
        out.write(f"  link{i} value{i};\n")
    out.write("}\n")


def deep(n, out):
    inner = n - 10  # a million levels are as many as can be asked for
    out.write("sfConfig extends {\n")
    for i in range(inner):
        out.write(f"inner extends {{ level {i};\n")
    out.write("}" * inner + "\n}\n")


def chain(n, out):
    out.write("P0 extends {\n" + "".join(f"  a{i} {i};\n" for i in range(10)) + "}\n")
    for p in range(1, 10):
        out.write(f"P{p} extends P{p - 1}, {{\n" + "".join(f"  a{10 * p + i} {i};\n" for i in range(10)) + f"  a{p} \"changed\";\n}}\n")
    out.write("sfConfig extends {\n")
    for i in range(n // 100):
        out.write(f"  i{i} extends P9, {{ a50 {i}; }}\n")
    out.write("}\n")


SHAPES = {f.__name__: f for f in (hosts, flat, links, deep, chain)}

if __name__ == "__main__":
    with open(sys.argv[3], "w") as f:
        SHAPES[sys.argv[1]](int(sys.argv[2]), f)
