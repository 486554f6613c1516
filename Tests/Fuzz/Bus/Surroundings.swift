internal import CSystemd
internal import Glibc
internal import VaultService

// In place of a bus: the parts of the daemon that the door of the Secret Service stands on, without a bus, a loop or
// other processes. The files of the door and of messages are the daemon's own.

/// A connection that is never made. Messages can be made for it, and what would be sent is counted.
@safe final class Bus {
  let files = GivenFiles()
  let connection: OpaquePointer?
  let isConnected = true
  let id: String? = "00"
  let watcher = DescriptorWatcher()
  /// Called with each message that would be sent.
  var isSent: (BusMessage) -> Void = { _ in }

  init() {
    var made: OpaquePointer?
    var ends: [Int32] = [-1, -1]
    precondition(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    precondition(unsafe sd_bus_new(&made) >= 0)
    precondition(unsafe sd_bus_set_fd(made, ends[0], ends[0]) >= 0)
    precondition(unsafe sd_bus_negotiate_fds(made, 1) >= 0)
    // The greeting stays unanswered.
    precondition(unsafe sd_bus_start(made) >= 0)
    unsafe connection = unsafe made
  }

  func add(_ part: any BusPart) {}

  func signal(
    _ member: String, of interface: String, at path: String, to receiver: String?,
    _ write: (BusWriter) throws(BusError) -> Void
  ) throws(BusError) {
    var made: OpaquePointer?
    let result = unsafe sd_bus_message_new_signal(connection, &made, path, interface, member)
    guard let message = unsafe made, result >= 0 else { throw .malformed }
    defer { unsafe sd_bus_message_unref(message) }
    let writer = unsafe BusWriter(message)
    try write(writer)
    precondition(writer.failure == 0, "a signal cannot be written")
    unsafe send(message)
  }

  func whenTaken(_ then: @escaping () -> Void) { then() }

  func send(_ message: OpaquePointer) {
    unsafe sd_bus_message_seal(message, 1, 0)
    unsafe isSent(BusMessage(message))
  }
}

protocol BusPart: AnyObject {
  func install(on connection: OpaquePointer)
  func remove()
}

/// The bus itself, which sends nothing here.
enum BusMethod {
  enum Object {
    static let driver = (destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus")
  }
}

final class Clients {}

/// The calls of programs, answered at once.
final class BusPeers {
  typealias Work = (BusRequest, BusPeer) throws(BusError) -> Void

  struct Limits {
    var withDescriptors = 16
  }

  let clock: Clock
  var begin: (BusRequest, BusPeer) throws(BusError) -> Void = { _, _ in }
  var refuses: (BusRequest, BusPeer, BusError) -> Void = { _, _, _ in }
  var confinement: (Caller) -> String? = { _ in nil }
  var cost: (BusRequest) -> CallCost = { _ in .answer }
  var canDecide: (BusPeer, @escaping () -> Void) -> Bool = { _, _ in true }
  var known: [String: BusPeer] = [:]
  /// Makes the peer of this name.
  var make: (String) -> BusPeer = { _ in preconditionFailure("nobody calls") }

  init(on bus: Bus, _ clients: Clients, _ turns: Turns, _ clock: Clock, by door: Caller.Door, limits: Limits) {
    self.clock = clock
  }

  var peers: [BusPeer] { Array(known.values) }

  func find(_ name: String, then: @escaping (Result<BusPeer?, BusError>) -> Void) { then(.success(known[name])) }

  func charge(_ name: String, since began: Int64) {}

  func holder(of peer: BusPeer) -> AnyHashable { AnyHashable(ObjectIdentifier(peer.line)) }

  /// Inputs are short, and some of their secrets are to be long.
  func isLong(_ request: BusRequest) -> Bool { request.size >= 160 }

  func refuse(_ error: BusError, later: (@escaping () -> Void) -> Void, _ isMeant: (BusRequest) -> Bool) {}

  func take(_ request: BusRequest, _ work: @escaping Work) {
    let peer = known[request.sender] ?? make(request.sender)
    known[request.sender] = peer
    request.begin(for: peer)
    do throws(BusError) {
      try request.part { () throws(BusError) in
        try begin(request, peer)
        try work(request, peer)
      }
    } catch {
      request.fail(error)
    }
  }

  /// Ends the connection of this name.
  func end(_ name: String) { known.removeValue(forKey: name)?.end() }
}

/// A name that this daemon has.
final class ServedName {
  enum State: Equatable {
    case none, requested, owned, taken, lost
    case refused(BusError)
  }

  let name: String
  private(set) var state = State.none
  var onChange: () -> Void = {}

  init(_ name: String, on bus: Bus) { self.name = name }

  func request() {
    state = .owned
    onChange()
  }

  func release() { state = .none }
}

/// A name that the first program has.
final class BusName {
  var owner: String? = ":1.1"
  let doubt: String? = nil
  var onChange: () -> Void = {}

  init(_ name: String, on bus: Bus) {}

  func whenKnown(_ then: () -> Void) { then() }
}

/// Descriptors that are ready when the fuzzer says so.
final class DescriptorWatcher {
  struct Readiness: OptionSet {
    let rawValue: UInt32
    static let writable = Readiness(rawValue: 4)
  }

  private var watches: [Int32: () -> Void] = [:]

  func watch(_ descriptor: Int32, for events: Readiness, _ handler: @escaping () -> Void) throws(SystemError) {
    watches[descriptor] = handler
  }

  func forget(_ descriptor: Int32) { watches[descriptor] = nil }

  func fire() { for handler in Array(watches.values) { handler() } }
}

// The state of the name on a bus: it is this daemon's.
extension SecretServiceDoor {
  struct NameProblem: Equatable {}
  struct Standing {}

  func lookAtName() { name.request() }
  func lookAtOwner() {}
  func tellWaiting() {}
}

/// Files are closed at once, and writing to them waits for nobody.
final class GivenFiles {
  func expect() {}

  func expectNoMore() {}

  func close(_ file: Int32, then: () -> Void = {}) {
    Glibc.close(file)
    then()
  }

  func run<T>(_ work: () -> T, then: (T) -> Void) { then(work()) }
}

extension BusMessage {
  func file() throws(BusError) -> Int32 {
    let file = fcntl(try descriptor(), F_DUPFD_CLOEXEC, 3)
    guard file >= 0 else { throw .failed }
    return file
  }
}

extension Refusal {
  /// In place of the words of the wire's errors.
  var reason: String { String(describing: self) }
}
