"""Our catalog of a manifest, and how it differs from the one that catalogs.rb has of the real Puppet."""
import json, os, subprocess


def ours(binary, dir_, manifest, number, options):
    path = os.path.join(dir_, f"m{number}.pp")
    with open(path, "w") as f:
        f.write(manifest)
    done = subprocess.run([binary, "export", "--trust", "--out", "catalog", "--node", "test.example.com", *options, path], capture_output=True, text=True, timeout=120)
    if done.returncode == 0:
        c = json.loads(done.stdout)
        return {"resources": [[r["type"], r["title"], sorted(r["tags"]), r.get("parameters", {})] for r in c["resources"]], "edges": [[e["source"], e["target"]] for e in c["edges"]]}
    errors = [line for line in done.stderr.split("\n") if line.startswith("error")]
    return {"error" if done.returncode in (1, 124) else "crash": (errors or [done.stderr[-200:]])[0]}


def difference(a, b):
    if "error" in a or "error" in b or "crash" in b:
        return None if "error" in a and "error" in b else f"puppet: {a.get('error', 'a catalog')}\n  tutti:  {b.get('error') or b.get('crash') or 'a catalog'}"
    names = lambda c: [(r[0], r[1]) for r in c["resources"]]
    if sorted(names(a)) != sorted(names(b)):
        return f"missing {sorted(set(names(a)) - set(names(b)))[:4]}, extra {sorted(set(names(b)) - set(names(a)))[:4]}"
    mine = {(r[0], r[1]): r for r in b["resources"]}
    for r in a["resources"]:
        other = mine[(r[0], r[1])]
        if r[2] != other[2]:
            return f"{r[0]}[{r[1]}]: tags {r[2]}, ours {other[2]}"
        if r[3] != other[3]:
            keys = [k for k in {**r[3], **other[3]} if r[3].get(k) != other[3].get(k)]
            return f"{r[0]}[{r[1]}]: {keys[0]}: {json.dumps(r[3].get(keys[0]))[:300]}, ours {json.dumps(other[3].get(keys[0]))[:300]}"
    if names(a) != names(b):
        return "the resources are in another order"
    return None if sorted(map(tuple, a["edges"])) == sorted(map(tuple, b["edges"])) else "the edges differ"
