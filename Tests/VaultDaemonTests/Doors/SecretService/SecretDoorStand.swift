import Foundation
import Glibc
import NIOCore
import VaultCore
import VaultModel
import VaultStore
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

/// A daemon that serves the Secret Service on a private bus, and a program in Python of which each call is made by a
/// process of its own.
final class SecretDoorStand: Sendable {
  /// A call, as the processes make it. The texts are Python; in them, `c` is the process, see ``prelude``.
  struct Step {
    let call: SecretCall
    /// The interface in full.
    let interface: String
    /// Done before the call; its value is `c.ready`.
    var ready = "None"
    /// The path of the object that is called.
    let path: String
    /// The types of the values, and the values.
    var values = ""
    /// False for a call that is not answered for as long as it waits. Then the process only makes sure that the call
    /// was begun.
    var isAnswered = true
  }

  /// The way in which the processes make their calls.
  enum Way: String {
    case right
    /// With a value of a type that no call has.
    case wrong
    /// The process has ended before its call comes, for which another process has its connection.
    case orphaned
    /// The process ends once its call is begun, and before a part of it is made.
    case left
  }

  /// The process that made a call, and the last part of the name of the error that it got; empty if it got none.
  struct Made {
    let pid: Int32
    let error: String
  }

  /// The last parts of the paths of what was made for one call, and of an item that there is for all calls.
  struct Known {
    let item: String
    let other: String
    let collection: String
  }

  let connection: ConnectionStand
  let known: [SecretCall: Known]
  private let sandbox: Sandbox
  private let bus: PrivateBus

  /// The owner of the vault, from a session that has proved presence. A caller remembers its place in the log of one
  /// daemon, so no two stands share a caller.
  private static var owner: Caller {
    Caller(
      door: .varlink, uid: geteuid(), groups: [], pid: 1, started: nil, unit: nil,
      session: AuthenticationSession(uid: geteuid(), scope: .session, pid: 1, started: 1))
  }

  /// Makes an unlocked vault that has items and collections for all calls and whose store is checked.
  init(_ settings: String) throws {
    let sandbox = try Sandbox()
    do {
      let bus = try PrivateBus(.session, in: sandbox)
      let connection = try ConnectionStand.unlocked(
        "secret-service = on\nidle = off\n" + settings,
        environment: [
          "DBUS_SESSION_BUS_ADDRESS": bus.address, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=" + sandbox.systemBus,
        ],
        // With fewer, the portal's descriptors do not come.
        openFiles: 4096)
      (self.sandbox, self.bus, self.connection) = (sandbox, bus, connection)
      do {
        known = try connection.on { client in try Self.make(client) }
        try wait(for: "the name on the bus, and the check of the store") {
          try connection.on { client in client.door.secrets?.name.state == .owned && client.vault.isVerified }
        }
      } catch {
        connection.close()
        throw error
      }
    } catch {
      sandbox.close()
      throw error
    }
  }

  func close() {
    connection.close()
    sandbox.close()
  }

  private static func make(_ client: ConnectionStand.Inside) throws -> [SecretCall: Known] {
    guard let keyring = client.door.secrets?.keyring else { throw SandboxError("there is no door") }
    func make(_ name: String, in collection: CollectionID) throws -> KeyringPath {
      try keyring.make(
        name, try KeyringAttributes([(key: "n", value: name)]),
        Keyring.Secret(SecretBox(ConnectionStand.secret(Array("value".utf8))), contentType: "text/plain"),
        in: collection, replacing: nil, for: owner)
    }
    let other = try make("other", in: .login)
    var known: [SecretCall: Known] = [:]
    for call in SecretCall.allCases {
      let collection = try keyring.makeCollection(call.rawValue, isStandard: false, for: owner)
      _ = try make("inside", in: collection)
      let item = try make(call.rawValue, in: .login)
      known[call] = Known(item: item.element, other: other.element, collection: collection.element)
    }
    return known
  }

  // MARK: States

  /// Locks as a program on the bus does.
  func lock() throws {
    try connection.on { client in
      guard let keyring = client.door.secrets?.keyring else { return }
      try keyring.lock(for: Self.owner)
    }
  }

  /// Confines the programs in Python to one grant, by default for something else, and so to nothing that there is.
  func confine(to pattern: String = "else/*", _ rights: String = "get") throws {
    let python = URL(fileURLWithPath: "/usr/bin/python3").resolvingSymlinksInPath().path
    try connection.on { client in
      let access = client.assembly.rooms.access
      access.add(.password, by: Self.owner, with: [])
      _ = try access.give(
        try Subject(parsing: "user:\(geteuid()),exe:\(python)"), try ItemPattern(pattern),
        try Rights(parsing: rights), until: nil, for: Self.owner)
    }
  }

  /// Has the check of the store fail.
  func damage() throws {
    try connection.edit("DELETE FROM audit WHERE id = (SELECT min(id) FROM audit)")
    try wait(for: "the check") { try connection.on { client in (try? client.vault.keychain().hasFailed) == true } }
  }

  // MARK: Calls

  /// Makes calls, one after the other, and returns when all of their processes are gone from the bus. Before a call of
  /// a prompt, programs find everything locked.
  ///
  /// - Returns: the process of each call; and the calls that were answered before the entries that they have made were
  ///   on the disk.
  func walk(_ steps: [Step], _ way: Way) throws -> (made: [SecretCall: Made], early: [String]) {
    try watch(way)
    let calls = steps.map { step in
      let known = known[step.call].map { ["'\($0.item)'", "'\($0.other)'", "'\($0.collection)'"] } ?? []
      let member = step.call.rawValue.split(separator: ".").last ?? ""
      let words = ["'\(step.call.rawValue)'", "'\(step.interface)'", "'\(member)'"] + known
      let lambdas = [step.ready, step.path, "[\(step.values)]"].map { "lambda c: \($0)" }
      return "walk(\((words + lambdas + [step.isAnswered ? "True" : "False"]).joined(separator: ", ")))\n"
    }
    let prelude = Self.prelude.replacing("ADDRESS", with: bus.address).replacing("ARMED", with: armed)
      .replacing("WAY", with: way.rawValue)
    let outcome = try sandbox.run(["-c", prelude + calls.joined()], program: "/usr/bin/python3", seconds: 120)
    guard outcome.status == 0 else { throw SandboxError("python3: \(outcome)") }
    try wait(for: "the end of the processes") {
      // The part of a call that finds its process gone may wait for a turn.
      try connection.on { client in
        client.door.secrets?.peers.peers.isEmpty == true && !client.assembly.turns.isAwaited
      }
    }
    var made: [SecretCall: Made] = [:]
    for line in outcome.output.split(separator: "\n") {
      let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      guard words.count == 3, let call = SecretCall(rawValue: words[0]), let pid = Int32(words[1]) else {
        throw SandboxError("python3: \(outcome)")
      }
      made[call] = Made(pid: pid, error: words[2])
    }
    return (made, try connection.on { client in client.answers })
  }

  /// The file that has the name of the call that is walked over now, once all that comes before it is done.
  private var armed: String { sandbox.root + "/armed" }

  /// Looks at each call that is walked over as soon as it is begun, and again before its answer goes out.
  private func watch(_ way: Way) throws {
    try connection.on { [armed] client in
      // Each part of a call comes in a turn of its own then.
      if way == .left { client.passAtEachLook(.milliseconds(3)) }
      guard let peers = client.door.secrets?.peers else { return }
      let begin = peers.begin
      peers.begin = { [unowned client] request, peer throws(BusError) in
        try begin(request, peer)
        let call = SecretCall(request.message.interface ?? "", request.message.member ?? "")
        guard let call, (try? String(contentsOfFile: armed, encoding: .utf8)) == call.rawValue else { return }
        let (pass, caller) = (request.pass, peer.caller)
        request.pass = { [unowned client] error in
          let refusal = pass(error)
          let hasUnwritten = (try? client.vault.keychain().hasUnwrittenAudit) != false
          if caller.passage.isRecorded, hasUnwritten || client.vault.audit.block.count > 0 {
            client.answers.append(call.rawValue)
          }
          return refusal
        }
        guard way == .left else { return }
        kill(peer.caller.pid, SIGKILL)
        while peer.isRunning {}
      }
    }
  }

  /// In it, ADDRESS, ARMED and WAY stand for the bus, for ``armed`` and for the way.
  private static let prelude = """
    import os, signal, dbus, dbus.bus, dbus.lowlevel
    NAME, ROOT = 'org.freedesktop.secrets', '/org/freedesktop/secrets'
    LOGIN, SECRET = ROOT + '/collection/login', 'org.freedesktop.Secret.'
    PORTAL, DESKTOP = '/org/freedesktop/portal/desktop', 'org.freedesktop.portal.Desktop'
    def text(value): return dbus.String(value, variant_level=1)
    def table(**entries): return dbus.Dictionary(entries, signature='sv')
    def attributes(name, level=0): return dbus.Dictionary({'n': name}, signature='ss', variant_level=level)
    def label(name): return dbus.Dictionary({SECRET + 'Collection.Label': text(name)}, signature='sv')
    def properties(name): return dbus.Dictionary({SECRET + 'Item.Attributes': attributes(name, 1)}, signature='sv')
    # The writing end of a pipe that has no room.
    def full():
      global pipe
      pipe = os.pipe()
      os.set_blocking(pipe[1], False)
      try:
        while True: os.write(pipe[1], b'x' * 4096)
      except BlockingIOError: return pipe[1]
    class Process:
      def __init__(self, name, item, other, made):
        self.bus = dbus.bus.BusConnection('ADDRESS')
        self.name, self.made = name, f'{ROOT}/collection/{made}'
        self.item, self.other = f'{LOGIN}/{item}', f'{LOGIN}/{other}'
        self.session = self.service('OpenSession', 'sv', 'plain', '')[1]
        self.secret = dbus.Struct(
          (self.session, dbus.ByteArray(b''), dbus.ByteArray(b'new'), 'text/plain'), signature='oayays')
        self.handle = f'{PORTAL}/request/1/t{os.getpid()}'
      def call(self, path, interface, member, signature='', *values):
        return self.bus.call_blocking(NAME, path, interface, member, signature, values, timeout=60)
      def service(self, member, *values): return self.call(ROOT, SECRET + 'Service', member, *values)
      # The path of a prompt for an unlock.
      def prompt(self):
        path = self.service('Unlock', 'ao', [LOGIN])[1]
        assert path != '/'
        return path
      # The values with which the portal asks for a program's secret.
      def wish(self, file):
        # A process before this one may still have the name.
        self.bus.request_name(DESKTOP, 7)
        file = dbus.types.UnixFd(file)
        return ['osha{sv}', self.handle, 'org.example.' + self.name, file, table()]
      def send(self, path, interface, member, signature, *values):
        message = dbus.lowlevel.MethodCallMessage(NAME, path, interface, member)
        message.append(*values, signature=signature)
        self.bus.send_message(message)
        self.bus.flush()
      # Has the call begun, which is the next one of the connection.
      def begin(self, *call):
        self.send(*call)
        self.service('ReadAlias', 's', 'default')
      def retrieve(self, file):
        self.begin(PORTAL, 'org.freedesktop.impl.portal.Secret', 'RetrieveSecret', *self.wish(file))
    def lock():
      bus = dbus.bus.BusConnection('ADDRESS')
      try: bus.call_blocking(NAME, ROOT, SECRET + 'Service', 'Lock', 'ao', ([LOGIN],), timeout=60)
      except dbus.DBusException: pass
      bus.close()
    def arm(name):
      with open('ARMED', 'w') as file: file.write(name)
    def make(name, interface, member, known, ready, path, values, is_answered):
      c = Process(name, *known)
      c.ready = ready(c)
      where, what = path(c), values(c)
      if 'WAY' == 'wrong': what = ['y', dbus.Byte(1)]
      if 'WAY' == 'orphaned':
        own = os.getpid()
        if os.fork(): os._exit(0)
        while os.getppid() == own: pass
      arm(name)
      if 'WAY' == 'left' and not is_answered:
        c.send(where, interface, member, *what)
        signal.pause()
      try: (c.call if is_answered or 'WAY' in ('wrong', 'orphaned') else c.begin)(where, interface, member, *what)
      except dbus.DBusException as error: return error.get_dbus_name().split('.')[-1]
      return ''
    def walk(name, interface, member, item, other, made, *call):
      arm('')
      if interface == SECRET + 'Prompt': lock()
      read, write = os.pipe()
      pid = os.fork()
      if not pid:
        os.close(read)
        try: error = make(name, interface, member, (item, other, made), *call)
        except BaseException as failure: error = repr(failure).replace(' ', '_')
        os.write(write, error.encode())
        os._exit(0)
      os.close(write)
      error = b''
      while part := os.read(read, 100): error += part
      os.close(read)
      os.waitpid(pid, 0)
      print(name, pid, error.decode())

    """
}
