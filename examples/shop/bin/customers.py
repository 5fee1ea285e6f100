"""Customers: ask again and again until told to stop (SIGTERM), then say how it went. usage: customers.py URL"""
import collections, signal, sys, time, urllib.request

stop = False
def end(*_):
    global stop
    stop = True
signal.signal(signal.SIGTERM, end)
good, bad, seen = 0, 0, collections.Counter()
while not stop:
    try:
        text = urllib.request.urlopen(sys.argv[1], timeout=30).read().decode()
        seen[text.split(",")[0]] += 1
        good += 1
    except Exception as e:
        bad += 1
        print("failed:", e, file=sys.stderr)
    time.sleep(0.01)
print(f"{good} requests answered, {bad} failed")
for who, n in sorted(seen.items()):
    print(f"  {n:5} by {who}")
sys.exit(1 if bad else 0)
