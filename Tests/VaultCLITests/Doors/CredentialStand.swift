import Foundation
import Glibc
import Testing
import VaultTesting

/// A machine's vault, and processes that ask it for credentials as a service manager does, in the cgroups of such a
/// manager's units.
final class CredentialStand {
  let sandbox: Sandbox
  private let cgroups: Cgroups
  private let slice: String
  /// A prefix of unit names that no other test uses.
  private let prefix = "vault-test-\(getpid())-\(UInt32.random(in: .min ... .max))"

  /// - Parameter isSystem: true for the machine's vault, false for the vault of the user who runs the tests.
  init(isSystem: Bool = true, hasBootKey: Bool = false, hidesNames: Bool = false, settings: String = "") throws {
    sandbox = try Sandbox()
    cgroups = try Cgroups()
    slice = isSystem ? "system.slice" : "user.slice/user-\(getuid()).slice/user@\(getuid()).service/app.slice"
    try sandbox.configure(
      (hasBootKey ? "boot-key = \(sandbox.root)/boot.key\n" : "") + "hide-names = \(hidesNames)\n" + settings)
    if isSystem { try start() }
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
  }

  func close() {
    sandbox.close()
    cgroups.remove()
  }

  /// Starts the daemon of a machine's vault with this limit on open files.
  func start(openFiles: Int = 1024) throws {
    try sandbox.startDaemon(
      arguments: [
        "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", sandbox.configuration,
      ],
      through: ["/bin/sh", "-c", "ulimit -n \(openFiles) && exec \"$0\" \"$@\"", Sandbox.path(of: "vaultd")])
  }

  func unit(_ name: String) -> String { "\(prefix)-\(name).service" }

  /// The file that moves processes into a unit's cgroup.
  func processes(of unit: String) -> String { cgroups.make(slice + "/" + self.unit(unit)) }

  /// Moves a process into a unit's cgroup.
  func move(_ pid: Int32, to unit: String) throws {
    try "\(pid)".write(toFile: processes(of: unit), atomically: false, encoding: .utf8)
  }

  /// Grants a unit an item as its credential `id`.
  func grant(_ unit: String, _ item: String, as id: String) throws {
    try sandbox.must(["grant", "unit:" + self.unit(unit), item, "--as", id])
  }

  /// Starts a process in a unit that asks for a credential.
  ///
  /// - Parameters:
  ///   - said: the unit that the address of the process's socket names; nil for the unit that the process is in.
  ///   - pauses: true if the process reads nothing before the file `read` exists.
  ///   - uid: the user that the process runs as.
  ///   - leaves: true if the process ends once it has connected, and leaves its socket to a child.
  func begin(
    _ id: String, in unit: String?, saying said: String? = nil, address: String? = nil, pauses: Bool = false,
    uid: UInt32 = getuid(), leaves: Bool = false
  ) throws -> Begun {
    let place = unit.map { processes(of: $0) } ?? ""
    let hex = String(UInt64.random(in: .min ... .max), radix: 16)
    let name = address ?? "\(hex)/unit/\(self.unit(said ?? unit ?? "none"))/\(id)"
    return Begun(
      sandbox,
      [
        "-c", Self.script, place, name, sandbox.runtime + "/vault/credentials", pauses ? sandbox.root + "/read" : "",
        "\(uid)", sandbox.root + "/connected", leaves ? "leaves" : "",
      ], program: "/usr/bin/python3")
  }

  /// Asks for a credential and waits for the end: returns the bytes received, or their number if a credential cannot
  /// have so many.
  func ask(
    _ id: String, in unit: String?, saying said: String? = nil, address: String? = nil, uid: UInt32 = getuid()
  ) throws -> String {
    try begin(id, in: unit, saying: said, address: address, uid: uid).outcome().output
  }

  /// Kills the processes in a unit.
  func kill(_ unit: String) throws {
    for pid in try String(contentsOfFile: processes(of: unit), encoding: .utf8).split(separator: "\n") {
      Glibc.kill(try #require(pid_t(pid)), SIGKILL)
    }
  }

  /// The audit entries of this door: action, outcome, item and detail.
  func entries() throws -> [String] {
    try sandbox.must(["audit", "--door", "credentials", "--json"]).split(separator: "\n").map { line in
      let entry = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
      let about = ["item", "detail"].compactMap { entry[$0] as? String }.joined(separator: ": ")
      return ["action", "outcome"].compactMap { entry[$0] as? String }.joined(separator: " ") + " " + about
    }
  }

  /// Waits until `count` of the processes that were begun have connected.
  func awaitConnected(_ count: Int) throws {
    let path = sandbox.root + "/connected"
    try wait(for: "\(count) connections") {
      (try? Data(contentsOf: URL(fileURLWithPath: path)).count) ?? 0 >= count
    }
  }

  /// A client that asks as systemd's read_full_file_full() does. Abstract addresses are shared by the whole machine, so
  /// each contains the unit's name.
  private static let script = """
    import os, socket, sys, time
    place, name, path, pause, uid, connected, leaves = sys.argv[1:]
    if place:
        with open(place, "w") as processes: processes.write(str(os.getpid()))
    note = open(connected, "ab", buffering=0)
    os.setresuid(int(uid), int(uid), int(uid))
    connection = socket.socket(socket.AF_UNIX)
    if name: connection.bind("\\0" + name)
    connection.connect(path)
    connection.shutdown(socket.SHUT_WR)
    asker = os.getpid()
    if leaves and os.fork(): os._exit(0)
    while leaves and os.getppid() == asker: pass
    note.write(b".")
    while pause and not os.path.exists(pause): time.sleep(0.01)
    text = b""
    while True:
        part = connection.recv(1 << 16)
        if not part: break
        text += part
    print(text.decode() if len(text) < 100 else f"{len(text)} bytes of {sorted(set(text.decode()))}", end="")
    """
}

/// The output for a unit that must not start: the daemon sends more bytes than systemd takes.
let overflow = "1048577 bytes of ['-']"
