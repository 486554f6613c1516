internal import VaultService

/// A connection to a bus that calls this daemon, and whose process is known.
final class BusPeer {
  /// The unique name of the connection, which no other gets while the bus runs.
  let name: String
  /// The process as a caller: of the call of which a part is being made, and otherwise of no call. See
  /// ``part(of:_:)``.
  private(set) var caller: Caller
  private let own: Caller
  /// The caller of the call that is begun and not answered; nil for none.
  private var call: Caller?
  /// The line in which the calls of the process get their turns, whatever the number of its connections.
  let line: Line
  /// False once the connection has ended, or the bus.
  private(set) var isHere = true
  /// True once the connection has asked for all properties of an object, as those do that keep them and follow their
  /// changes.
  var keepsProperties = false
  private let runs: () -> Bool
  private var endings: [Int: () -> Void] = [:]
  private var lastEnding = 0

  /// - Parameter runs: returns true while the process runs.
  init(_ name: String, _ caller: Caller, _ line: Line, runs: @escaping () -> Bool) {
    (self.name, self.caller, own, self.line, self.runs) = (name, caller, caller, line, runs)
  }

  // MARK: Calls

  /// The caller of a new call. What is recorded as of this caller is recorded of that call alone.
  func callerOfCall() -> Caller { own.forCall() }

  /// Begins a call; the former one has ended.
  func begin(_ call: Caller) { self.call = call }

  func endCall() { call = nil }

  /// Makes a part of a call. Between the parts, the connection's prompts and searches go on, and others tell it
  /// something, which is no part of the call.
  func part<E: Error>(of call: Caller, _ body: () throws(E) -> Void) throws(E) {
    let outer = caller
    caller = call
    defer { caller = outer }
    try body()
  }

  /// True when what is known about the process and its call may name items.
  var mayHoldNames: Bool { own.mayHoldNames || call?.mayHoldNames == true }

  /// Drops what names items.
  func forgetNames() {
    own.forgetNames()
    call?.forgetNames()
  }

  // MARK: The end

  /// True while the process runs that made the connection. Without it, the connection has no authority.
  var isRunning: Bool { isHere && runs() }

  /// True when something is kept for the connection until it ends.
  var isKept: Bool { !endings.isEmpty }

  /// Runs `ending` once the connection has ended. Until then it is not forgotten to make room for others, unless its
  /// process has most of all connections.
  ///
  /// - Returns: takes this back.
  @discardableResult
  func onEnd(_ ending: @escaping () -> Void) -> () -> Void {
    guard isHere else {
      ending()
      return {}
    }
    lastEnding += 1
    let number = lastEnding
    endings[number] = ending
    return { [weak self] in self?.endings[number] = nil }
  }

  func end() {
    isHere = false
    let endings = self.endings.sorted { $0.key < $1.key }
    self.endings = [:]
    for ending in endings { ending.value() }
  }
}
