"""What every benchmark needs: run a command and tell what it used, print a row of the table.

A row is tab-separated: what | tutti | peer | ratio. A benchmark is a script bench/NAME/run, called with --bin PATH (the program)
and --data DIR (where generated inputs are kept); it prints rows and, for a peer that is not there, says so.
"""
import argparse, os, resource, shutil, subprocess, sys, tempfile, time


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--data", required=True)
    o = parser.parse_args()
    os.makedirs(o.data, exist_ok=True)
    return o


class Used:
    def __init__(self, cpu, wall, memory, code):
        self.cpu, self.wall, self.memory, self.code = cpu, wall, memory, code


def started(command, cwd, env, stdin):
    """The number of the process. What is done between the start and the program itself counts as the program's: as little as can be."""
    null = os.devnull
    input_ = (os.POSIX_SPAWN_DUP2, stdin.fileno(), 0) if stdin else (os.POSIX_SPAWN_OPEN, 0, null, os.O_RDONLY, 0)
    actions = [input_, (os.POSIX_SPAWN_OPEN, 1, null, os.O_WRONLY, 0), (os.POSIX_SPAWN_DUP2, 1, 2)]
    here = os.getcwd()
    os.chdir(cwd or here)
    try:
        return os.posix_spawnp(command[0], command, os.environ if env is None else env, file_actions=actions)
    finally:
        os.chdir(here)


def run(command, repeat=1, cwd=None, env=None, stdin=None, until=0):
    """The best of several runs: CPU seconds (user and system), wall seconds, peak memory in bytes. What takes milliseconds is run again until
    all runs together have taken `until` seconds, at most forty times: one run alone says little when others use the machine."""
    best, runs, spent = None, 0, 0
    while runs < repeat or (spent < until and runs < 40):
        start = time.monotonic()
        _, status, usage = os.wait4(started(command, cwd, env, stdin), 0)
        runs += 1
        used = Used(usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss * 1024, os.waitstatus_to_exitcode(status))
        spent += used.cpu
        if best is None or used.cpu < best.cpu:
            best = used
    # The system counts the memory of whoever started the program, before it became the program: Python's own. So a small one is asked again.
    if best.memory < 30e6 and stdin is None and have("time"):
        with tempfile.NamedTemporaryFile("r") as said, open(os.devnull, "r+b") as null:
            subprocess.run([shutil.which("time"), "-q", "-f", "%M", "-o", said.name, *command], stdin=null, stdout=null, stderr=null, cwd=cwd, env=env)
            best.memory = int(said.read()) * 1024
    return best


def have(program):
    return shutil.which(program) is not None


def seconds(s):
    return f"{s * 1000:.1f} ms" if s < 1 else f"{s:.2f} s"


def megabytes(b):
    return f"{b / 1e6:.0f} MB"


def row(what, ours, peer, ratio):
    print("\t".join((what, ours, peer, ratio)), flush=True)


def versus(what, ours, peer_name, peer):
    """Two rows, CPU time and peak memory. `peer` is None when it is not installed."""
    if ours.code != 0:
        row(what, f"failed ({ours.code})", "", "")
        return
    if peer is None:
        row(what + ", CPU", seconds(ours.cpu), f"{peer_name}: absent", "")
        row(what + ", memory", megabytes(ours.memory), f"{peer_name}: absent", "")
        return
    row(what + ", CPU", seconds(ours.cpu), f"{peer_name} {seconds(peer.cpu)}", f"{peer.cpu / max(ours.cpu, 1e-4):.1f} x faster")
    row(what + ", memory", megabytes(ours.memory), f"{peer_name} {megabytes(peer.memory)}", f"{ours.memory / peer.memory:.2f} of it")
