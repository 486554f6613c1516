internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultProcess
internal import VaultWire

/// Another keyring on the session bus, which the program `vault-keyring` reaches. Nothing that the program says is
/// trusted.
final class OtherKeyring {
  private static let program = "vault-keyring"
  /// The bus name that every keyring has.
  static let usualName = "org.freedesktop.secrets"

  /// The name on the bus.
  let name: String
  /// The keyring's collections, with those that were made since.
  private(set) var collections: [ProviderCollection] = []
  private let socket: Int32
  private let pid: pid_t
  private var reader = FrameReader(limit: ProviderReply.frameLimit)

  /// Finds the keyring, and lists its collections. Nil if the bus is there, has no program with that name, and would
  /// start none; whatever else keeps a keyring from answering is an error.
  ///
  /// - Parameters:
  ///   - name: its name on the bus; nil for libsecret's own variable, or else the usual name.
  ///   - session: the session of the vault, whose own daemon the keyring must not be.
  init?(_ name: String?, besides session: Session) throws(Failure) {
    let daemon = try session.call { vault in try vault.status() }.pid
    self.name = name ?? Environment.variable("SECRET_SERVICE_BUS_NAME") ?? Self.usualName
    (socket, pid) = try Self.start()
    switch try reply(to: .open(name: self.name, daemon: daemon)) {
    case .collections(let collections): self.collections = collections
    case .failed(let failure):
      if failure.code == .absent { return nil }
      throw self.failure(failure)
    default: throw Self.wrong
    }
  }

  /// Finds a keyring that must be there; see ``init(_:besides:)``.
  static func found(_ name: String?, besides session: Session) throws(Failure) -> OtherKeyring {
    if let keyring = try OtherKeyring(name, besides: session) { return keyring }
    let name = Printable.text(name ?? Environment.variable("SECRET_SERVICE_BUS_NAME") ?? usualName)
    throw Failure(.unavailable, "no keyring answers at \(name) on the session bus", remedy)
  }

  private static let remedy = "start it, or name another keyring with --bus-name"

  deinit {
    close(socket)
    // All of its work is done, or its result is not wanted.
    kill(pid, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
  }

  /// Starts the program with a socket as its standard input, and no environment but what leads to the bus.
  private static func start() throws(Failure) -> (socket: Int32, pid: pid_t) {
    let path = try Helper.path(of: program)
    var low: [Int32] = [-1, -1]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &low) == 0 else {
      throw Failure(.system, "cannot start \(program): \(Output.describe(errno))")
    }
    // The numbers must not collide with the program's own descriptors.
    let ends = low.map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
    for descriptor in low { close(descriptor) }
    let variables = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"].compactMap { name in
      Environment.variable(name).map { "\(name)=\($0)" }
    }
    let started = try? StartedProgram(
      [path, "transfer"], environment: variables, descriptors: [.ours(ends[1]), .null, .null], hasOwnSession: false)
    close(ends[1])
    guard let started, ends[0] >= 0 else {
      close(ends[0])
      throw Failure(.software, "cannot start \(program)", "run `\(path) --help` to see whether it starts")
    }
    return (ends[0], started.pid)
  }

  // MARK: Calls

  /// Unlocks a collection, for which the keyring may ask a person.
  func unlock(_ collection: Int) throws(Failure) -> ProviderFailure? {
    switch try reply(to: .unlock(collection: collection)) {
    case .done: return nil
    case .failed(let failure): return failure
    default: throw Self.wrong
    }
  }

  /// Lists the items of a collection; the failure if the keyring does not.
  func list(_ collection: Int) throws(Failure) -> Result<[ProviderPlace], ProviderFailure> {
    try send(.list(collection: collection))
    var places: [ProviderPlace] = []
    while true {
      switch try receive() {
      case .listed(let place):
        guard places.count < ProviderReply.most.items else { throw Self.wrong }
        places.append(place)
      case .done: return .success(places)
      case .failed(let failure): return .failure(failure)
      default: throw Self.wrong
      }
    }
  }

  /// Sends a call that has exactly one reply, and returns the reply.
  func reply(to call: ProviderCall, value: borrowing SecretBuffer? = nil) throws(Failure) -> ProviderReply {
    try send(call, value: value)
    return try receive()
  }

  /// Makes a collection.
  func make(_ label: String) throws(Failure) -> Result<Int, ProviderFailure> {
    switch try reply(to: .make(label: label)) {
    case .made(let number):
      guard number == collections.count else { throw Self.wrong }
      collections.append(ProviderCollection(path: "", label: label, isLocked: false, aliases: []))
      return .success(number)
    case .failed(let failure): return .failure(failure)
    default: throw Self.wrong
    }
  }

  static let wrong = Failure(
    .software, "\(program) gave an answer that makes no sense",
    "install it from the package that this vault comes from")

  private func failure(_ failure: ProviderFailure) -> Failure {
    let reason = Printable.text(failure.reason)
    switch failure.code {
    case .refused: return Failure(.usage, reason, "name another keyring with --bus-name")
    case .locked: return Failure(.retry, reason)
    case .lost: return Failure(.retry, "the other keyring does not answer any more: \(reason)", Self.again)
    case .absent, .gone, .unavailable: return Failure(.unavailable, reason, Self.remedy)
    }
  }

  // MARK: Frames

  private func send(_ call: ProviderCall, value: borrowing SecretBuffer? = nil) throws(Failure) {
    let frame =
      switch value {
      case .some(let value): value.withBytes { call.frame(value: $0) }
      case .none: call.frame()
      }
    try frame.withBytes { bytes throws(Failure) in
      var rest = bytes
      while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes {
          unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw Self.ended }
        rest = rest.extracting(droppingFirst: count)
      }
    }
  }

  private func receive() throws(Failure) -> ProviderReply {
    while true {
      let frame: Frame?
      do throws(FrameError) { frame = try reader.next() } catch { throw Self.wrong }
      if let frame {
        guard let reply = ProviderReply(frame) else { throw Self.wrong }
        if let failure = reply.failure, failure.code == .lost { throw self.failure(failure) }
        return reply
      }
      var chunk = SecretBuffer()
      let count = chunk.append(count: 64 << 10) { bytes in
        unsafe bytes.withUnsafeMutableBytes { unsafe read(socket, $0.baseAddress, $0.count) }
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.ended }
      do throws(FrameError) {
        try chunk.withBytes { bytes throws(FrameError) in try reader.append(bytes.extracting(..<count)) }
      } catch {
        throw Self.wrong
      }
    }
  }

  private static let ended = Failure(.unavailable, "\(program) has ended, or lost the bus", again)

  private static let again = "run the same command again; it continues where this run ended"
}
