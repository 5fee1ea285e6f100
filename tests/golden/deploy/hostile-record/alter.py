"""Alters every column of every table of a record, one at a time, and lets every verb that reads it read it: none may crash
or hang. Once with the digests as they were, and once as rows of an older version, which have none."""
import os, shutil, sqlite3, subprocess, sys

VERBS = [["show", "1"], ["show", "--out", "json", "1"], ["show", "--log", "2"], ["status", "--out", "json"], ["history"],
         ["resume"], ["drift"], ["plan", "a.yaml"], ["rollback", "1"], ["destroy"]]
TEXTS = ["", "{", "[1]", "[{}]", '{"components":[1]}', '[{"property":1,"text":{}}]', "\x00\x01", "x" * 70000, '{"$sealed":1}', "null"]
NUMBERS = [-1, 0, 2**31, 2**63 - 1, -(2**63)]
REALS = [-1.0, 1e300, float("inf")]
BLOBS = [b"", b"{}", b"\x00" * 32, b"\xff" * 33, b"x" * 70000]
whole, seen, bad = os.path.abspath("whole"), 0, []
tables = sqlite3.connect(whole + "/state.db").execute("SELECT name FROM sqlite_schema WHERE type='table'").fetchall()
wide = int(os.environ.get("TUTTI_RECORD_WIDE", "0"))
for (table,) in sorted(tables):
    for n, (_, column, kind, *_) in enumerate(sqlite3.connect(whole + "/state.db").execute(f"PRAGMA table_info({table})").fetchall()):
        values = {"TEXT": TEXTS, "INTEGER": NUMBERS, "REAL": REALS, "BLOB": BLOBS}[kind]
        for k, value in enumerate(values):
            for older in (False, True):
                shutil.rmtree(".tutti", ignore_errors=True)
                shutil.copytree(whole, ".tutti")
                db = sqlite3.connect(".tutti/state.db")
                try:
                    db.execute("PRAGMA ignore_check_constraints=ON")
                    db.execute(f"UPDATE OR REPLACE {table} SET {column} = ?", (value,))
                    if older:
                        for t in ("entry", "run", "system"):
                            db.execute(f"UPDATE {t} SET digest = ''")
                    db.commit()
                except sqlite3.Error:
                    continue
                finally:
                    db.close()
                verbs = VERBS if wide else [VERBS[(n + k) % len(VERBS)], VERBS[(n + 3 * k + 1) % len(VERBS)]]
                for verb in verbs:
                    try:
                        r = subprocess.run(["tutti", *verb, "--adopt"], capture_output=True, timeout=60)
                        code = r.returncode
                    except subprocess.TimeoutExpired:
                        code = "hangs"
                    seen += 1
                    if code == "hangs" or code < 0 or code >= 124:
                        bad.append(f"{table}.{column} = {str(value)[:40]!r}{' (older)' if older else ''}: {' '.join(verb)}: {code}")
print("\n".join(bad))
print("enough" if seen > 500 else f"only {seen}", "read,", len(bad), "crashed")
