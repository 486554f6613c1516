import Foundation
import Testing
import VaultTesting

/// A daemon whose service manager keeps its connections, as systemd does with `FileDescriptorStoreMax=`.
@Suite("Credentials when the daemon is killed", .enabled(if: Cgroups.canBeMade, "makes cgroups, which needs root"))
struct KeptCredentialTests {
  /// Runs one scene of the script.
  private func run(_ scene: String) throws -> Outcome {
    let sandbox = try Sandbox()
    let cgroups = try Cgroups()
    defer {
      sandbox.close()
      cgroups.remove()
    }
    let unit = "vault-test-\(getpid())-\(UInt32.random(in: .min ... .max)).service"
    return try sandbox.run(
      [
        "-c", Self.script, scene, sandbox.root, Sandbox.path(of: "vaultd"), Sandbox.path(of: "vault"),
        cgroups.make("system.slice/" + unit), unit, password,
      ], program: "/usr/bin/python3")
  }

  @Test("a unit that waits waits on, and the next process answers it") func waiting() throws {
    let outcome = try run("waits")
    #expect(outcome.output == "9 the value\n", "\(outcome)")
  }

  @Test("a unit that has got a part of a value does not start") func partly() throws {
    let outcome = try run("part")
    let count = try #require(Int(outcome.output.prefix { $0 != " " }), "\(outcome)")
    #expect(count > 1 << 20, "\(outcome)")
  }

  @Test("a service manager that reads no notifications holds up nobody") func deaf() throws {
    let outcome = try run("deaf")
    #expect(outcome.output == "answered\n", "\(outcome)")
  }

  private static let script = """
    import array, os, signal, socket, subprocess, sys
    scene, root, vaultd, vault, place, unit, password = sys.argv[1:]
    path = {name: f"{root}/{name}" for name in ("socket", "credentials", "notify", "conf", "store")}
    open(path["conf"], "w").close()

    def listen(name):
        made = socket.socket(socket.AF_UNIX)
        made.bind(path[name])
        made.listen(64)
        return made

    listening = [listen("socket"), listen("credentials")]
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind(path["notify"])

    def told(what):
        while True:
            text, control, _, _ = notify.recvmsg(4096, 1024)
            if what in text:
                return [descriptor for _, _, data in control for descriptor in array.array("i", data)]

    def start(descriptors):
        def place_them():
            high = [os.dup2(descriptor, 200 + index) for index, descriptor in enumerate(descriptors)]
            for index, descriptor in enumerate(high):
                os.dup2(descriptor, 3 + index, inheritable=True)
        daemon = subprocess.Popen(
            ["/bin/sh", "-c", f'LISTEN_PID=$$ exec {vaultd} --system --store {path["store"]} --socket {path["socket"]} '
             f'--config {path["conf"]}'], preexec_fn=place_them, close_fds=False,
            env={**os.environ, "NOTIFY_SOCKET": path["notify"], "LISTEN_FDS": str(len(descriptors))}, stderr=sys.stderr)
        told(b"READY=1")
        return daemon

    def run(*words, text=""):
        return subprocess.run([vault, "--socket", path["socket"], *words], input=text, text=True, check=True,
                              capture_output=True).stdout

    def ask(pauses=False):
        pid = os.fork()
        if pid == 0:
            with open(place, "w") as processes:
                processes.write(str(os.getpid()))
            connection = socket.socket(socket.AF_UNIX)
            connection.bind(f"\\0{os.getpid():x}/unit/{unit}/key")
            connection.connect(path["credentials"])
            connection.shutdown(socket.SHUT_WR)
            if pauses:
                signal.pause()
            text = b""
            while part := connection.recv(65536):
                text += part
            print(len(text), text.decode()[:20])
            sys.stdout.flush()
            os._exit(0)
        return pid

    daemon = start([each.fileno() for each in listening])
    run("init", "--password-stdin", "--kdf-memory", "19m", "--kdf-passes", "2", text=password + "\\n")
    run("set", "item", text="the value" if scene != "part" else "v" * 600000)
    run("grant", "unit:" + unit, "item", "--as", "key")
    askers = []
    try:
        if scene == "deaf":
            run("lock")
            askers = [ask() for _ in range(40)]
            while run("status", "--json").count('"state":"locked"') != 1: pass
            for _ in range(40): run("status")
            print("answered")
        else:
            if scene == "waits": run("lock")
            signal.signal(signal.SIGUSR1, lambda *_: None)
            askers = [ask(pauses=scene == "part")]
            kept = told(b"FDSTORE")
            # It is on the way once the log has it.
            while scene == "part" and '"door":"credentials"' not in run("audit", "--json"): pass
            daemon.kill()
            daemon.wait()
            daemon = start([each.fileno() for each in listening] + kept)
            os.close(kept[0])
            run("unlock", "--password-stdin", text=password + "\\n")
            os.kill(askers[0], signal.SIGUSR1)
            os.waitpid(askers.pop(), 0)
    finally:
        for asker in askers:
            os.kill(asker, signal.SIGKILL)
            os.waitpid(asker, 0)
        daemon.kill()
        daemon.wait()
    """
}
