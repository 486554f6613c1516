import Foundation
import Glibc
import Testing
import VaultTesting

/// A machine's vault, and processes that ask it for credentials as a service manager does, in cgroups where a service manager
/// would have its units.
final class CredentialStand {
  let sandbox: Sandbox
  private let cgroups: Cgroups
  private let slice: String
  /// A name that no other test's units have.
  private let prefix = "vault-test-\(getpid())-\(UInt32.random(in: .min ... .max))"

  /// - Parameter isSystem: whether it is the vault of the machine, and not of the user who runs the tests.
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

  /// Starts a machine's daemon, which may have so many files open.
  func start(openFiles: Int = 1024) throws {
    try sandbox.startDaemon(
      arguments: [
        "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", sandbox.configuration,
      ],
      through: ["/bin/sh", "-c", "ulimit -n \(openFiles) && exec \"$0\" \"$@\"", Sandbox.path(of: "vaultd")])
  }

  func unit(_ name: String) -> String { "\(prefix)-\(name).service" }

  /// The file that takes processes into a unit.
  func processes(of unit: String) -> String { cgroups.make(slice + "/" + self.unit(unit)) }

  /// Gives a unit an item as its credential.
  func grant(_ unit: String, _ item: String, as id: String) throws {
    try sandbox.must(["grant", "unit:" + self.unit(unit), item, "--as", id])
  }

  /// A process in a unit that asks for a credential.
  ///
  /// - Parameters:
  ///   - said: the unit that the address of its socket names; nil for the unit that it is in.
  ///   - pauses: whether it reads nothing before the file `read` is there.
  ///   - uid: the user that it is.
  ///   - leaves: whether it ends once it has connected, and leaves its socket to a child.
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

  /// The same, to its end: the bytes that came, or how many where they are more than a credential may have.
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

  /// The entries of the audit log that are of this door: action, outcome, item and detail.
  func entries() throws -> [String] {
    try sandbox.must(["audit", "--door", "credentials", "--json"]).split(separator: "\n").map { line in
      let entry = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
      let about = ["item", "detail"].compactMap { entry[$0] as? String }.joined(separator: ": ")
      return ["action", "outcome"].compactMap { entry[$0] as? String }.joined(separator: " ") + " " + about
    }
  }

  /// Waits until so many have connected that were begun.
  func awaitConnected(_ count: Int) throws {
    let path = sandbox.root + "/connected"
    try wait(for: "\(count) connections") {
      (try? Data(contentsOf: URL(fileURLWithPath: path)).count) ?? 0 >= count
    }
  }

  /// As systemd's read_full_file_full() asks. Abstract addresses are the machine's: each has the unit's name in it.
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

/// What a process reads that a unit is not to be started for: more than systemd takes.
let overflow = "1048577 bytes of ['-']"
