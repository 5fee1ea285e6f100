"""The four use cases with which the Concerto paper measures: n dependencies and a server that uses them all."""


def dependency(di=0, dr=0, du=0, real=False):
    def action(src, dst, d):
        t = {"src": src, "dst": dst, "duration": d}
        if real:
            t["sleep"] = d
        return t
    return {"places": ["uninstalled", "installed", "running"], "initial": "uninstalled",
            "transitions": {"di": action("uninstalled", "installed", di), "dr": action("installed", "running", dr),
                            "du": dict(action("running", "installed", du), alike=False)},
            "behaviours": {"install": ["di", "dr"], "update": ["du"]},
            "provide": {"config": ["installed", "running"], "service": ["running"]}}


def server(n, d, real=False):
    """d: durations sa, sr, and lists sc, ss, sp."""
    def action(src, dst, seconds):
        t = {"src": src, "dst": dst, "duration": seconds}
        if real:
            t["sleep"] = seconds
        return t
    suspended = [f"s{i}" for i in range(1, n + 1)]
    transitions = {"sa": action("undeployed", "allocated", d["sa"]), "sr": action("configured", "running", d["sr"])}
    use = {}
    for i in range(1, n + 1):
        transitions[f"sc{i}"] = action("allocated", f"sconf{i}", d["sc"][i - 1])
        transitions[f"sj{i}"] = {"src": f"sconf{i}", "dst": "configured"}
        transitions[f"ss{i}"] = action("running", f"s{i}", d["ss"][i - 1])
        transitions[f"sp{i}"] = action(f"s{i}", "configured", d["sp"][i - 1])
        use[f"config{i}"] = [f"sconf{i}", "configured", "running"] + suspended
        use[f"service{i}"] = ["running", f"s{i}"]
    numbers = range(1, n + 1)
    return {"places": ["undeployed", "allocated", "configured", "running"] + [f"sconf{i}" for i in numbers] + suspended, "initial": "undeployed",
            "transitions": transitions,
            "behaviours": {"deploy": ["sa", "sr"] + [f"sc{i}" for i in numbers] + [f"sj{i}" for i in numbers],
                           "suspend": [f"ss{i}" for i in numbers] + [f"sp{i}" for i in numbers]},
            "use": use}


def system(case, n, d, real=False):
    """d also has lists di, dr, du: each dependency is a type of its own where its actions really take time."""
    numbers = range(1, n + 1)
    types = {f"Dep{i}": dependency(d["di"][i - 1], d["dr"][i - 1], d["du"][i - 1], real) for i in numbers}
    instances = {f"dep{i}": {"type": f"Dep{i}", "place": "running"} for i in numbers}
    links, program = [], []
    if case in ("DeployServer", "UpdateWithServer"):
        types["Server"] = server(n, d, real)
    pairs = [["server", f"{p}{i}", f"dep{i}", p] for i in numbers for p in ("config", "service")]
    if case == "DeployDeps":
        instances = {}
        for i in numbers:
            program += [["add", f"dep{i}", f"Dep{i}"], ["pushB", f"dep{i}", "install"]]
    elif case == "UpdateNoServer":
        for i in numbers:
            program += [["pushB", f"dep{i}", "update"], ["pushB", f"dep{i}", "install"]]
    elif case == "DeployServer":
        program = [["add", "server", "Server"]] + [["con"] + p for p in pairs] + [["pushB", "server", "deploy"]]
    else:
        instances["server"] = {"type": "Server", "place": "running"}
        links = pairs
        for i in numbers:
            program += [["pushB", f"dep{i}", "update"], ["pushB", f"dep{i}", "install"]]
        program += [["pushB", "server", "suspend"], ["pushB", "server", "deploy"]]
    return {"types": types, "assembly": {"instances": instances, "links": links}, "program": program}


CASES = ("DeployDeps", "UpdateNoServer", "DeployServer", "UpdateWithServer")


def durations(n, pick):
    d = {k: [pick() for _ in range(n)] for k in ("di", "dr", "du", "sc", "ss", "sp")}
    d["sa"], d["sr"] = pick(), pick()
    return d
