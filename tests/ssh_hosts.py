"""Hosts for tests and measurements: network namespaces on one bridge, each with an sshd of its own. Needs root, ip and sshd."""
import os, shutil, subprocess, tempfile, time


def possible():
    """Why there can be none here, or nothing. Root inside a container may not make networks."""
    if os.geteuid() != 0 or not shutil.which("ip") or not os.path.exists("/usr/sbin/sshd"):
        return "needs root, ip and sshd"
    probe = f"{os.getpid() % 10000}"
    made = subprocess.run(["sh", "-c", f"ip netns add tt{probe}p && ip netns del tt{probe}p && ip link add tp{probe} type bridge && ip link del tp{probe}"], capture_output=True)
    return "" if made.returncode == 0 else "no network namespaces or bridges here"


def sh(script, check=True):
    r = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)
    if check and r.returncode:
        raise SystemExit(f"cannot set up: {script}\n{r.stderr}")
    return r.stdout


class Hosts:
    def __init__(self, names):
        self.names = names
        self.id = os.getpid() % 10000
        self.net = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}"
        self.dir = tempfile.mkdtemp(prefix="tutti-hosts-")
        self.sshds = []

    def namespace(self, name):
        return f"tt{self.id}{name}"

    def address(self, name):
        return f"{self.net}.{self.names.index(name) + 1}"

    def up(self):
        sh(f"ip link add tb{self.id} type bridge; ip addr add {self.net}.254/24 dev tb{self.id}; ip link set tb{self.id} up; cd {self.dir};"
           "ssh-keygen -q -t ed25519 -N '' -f key; ssh-keygen -q -t ed25519 -N '' -f hostkey; cp key.pub authorized; mkdir -p /run/sshd")
        for name in self.names:
            n = self.namespace(name)
            sh(f"set -e; ip netns add {n}; ip link add tv{self.id}{name} type veth peer name eth0 netns {n}; ip link set tv{self.id}{name} master tb{self.id} up;"
               f"ip netns exec {n} ip addr add {self.address(name)}/24 dev eth0; ip netns exec {n} ip link set eth0 up; ip netns exec {n} ip link set lo up")
            with open(f"{self.dir}/sshd-{name}", "w") as f:
                f.write(f"HostKey {self.dir}/hostkey\nAuthorizedKeysFile {self.dir}/authorized\nPidFile none\nStrictModes no\nUsePAM no\n"
                        "PermitRootLogin yes\nPasswordAuthentication no\nMaxSessions 100\nMaxStartups 100\n")
            # Each has a directory of its own for what tutti keeps there.
            self.sshds.append(subprocess.Popen(["ip", "netns", "exec", n, "unshare", "-m", "sh", "-c",
                                                "mount --make-rprivate /; mkdir -p /var/lib/tutti; mount -t tmpfs none /var/lib/tutti;"
                                                f"exec /usr/sbin/sshd -D -f {self.dir}/sshd-{name} -E {self.dir}/{name}.log"]))
        for name in self.names:
            for _ in range(200):
                if subprocess.run(["sh", "-c", f"exec 3<>/dev/tcp/{self.address(name)}/22"], executable="/bin/bash", capture_output=True).returncode == 0:
                    break
                time.sleep(0.05)

    def down(self):
        for name in self.names:
            sh(f"ip netns pids {self.namespace(name)} | xargs -r kill -9; ip netns del {self.namespace(name)}", check=False)
        for p in self.sshds:
            p.wait()
        sh(f"ip link del tb{self.id}; rm -rf {self.dir}", check=False)

    def cut(self, name):
        sh(f"ip link set tv{self.id}{name} down")

    def mend(self, name):
        sh(f"ip link set tv{self.id}{name} up")

    def described(self):
        """The `hosts` of a system, in YAML."""
        return "hosts:\n" + "".join(f"  {n}: {{ssh: root@{self.address(n)}, address: {self.address(n)}, identity: {self.dir}/key, options: [StrictHostKeyChecking=no, "
                                    f"UserKnownHostsFile=/dev/null, LogLevel=ERROR, ServerAliveInterval=1]}}\n" for n in self.names)
