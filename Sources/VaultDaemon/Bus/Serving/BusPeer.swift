internal import VaultService

/// A connection to a bus that calls this daemon, and whose process is known.
final class BusPeer {
  /// The unique name of the connection, which no other gets while the bus runs.
  let name: String
  /// The process as a caller: the caller of the call whose part is running now, and otherwise a caller without a call.
  /// See ``part(of:_:)``.
  private(set) var caller: Caller
  private let own: Caller
  /// The caller of the call that is begun and not answered; nil for none.
  private var call: Caller?
  /// The line in which the calls of the process get their turns, whatever the number of its connections.
  let line: Line
  /// False once the connection has ended, or the bus.
  private(set) var isHere = true
  /// True once the connection has asked for all properties of an object, as programs do that keep the properties and
  /// follow their changes.
  var keepsProperties = false
  private let runs: () -> Bool
  private var endings: [Int: () -> Void] = [:]
  private var lastEnding = 0

  /// - Parameter runs: returns true while the process runs.
  init(_ name: String, _ caller: Caller, _ line: Line, runs: @escaping () -> Bool) {
    (self.name, self.caller, own, self.line, self.runs) = (name, caller, caller, line, runs)
  }

  // MARK: Calls

  /// Returns the caller of a new call. Whatever is recorded for this caller belongs to that call alone.
  func callerOfCall() -> Caller { own.forCall() }

  /// Begins a call; the former one has ended.
  func begin(_ call: Caller) { self.call = call }

  func endCall() { call = nil }

  /// Runs a part of a call, with the call's caller as ``caller``. Work between the parts does not belong to the call:
  /// the connection's prompts and searches continue, and signals are sent to it.
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

  /// True while the process that made the connection runs. Without it, the connection has no authority.
  var isRunning: Bool { isHere && runs() }

  /// True when something is kept for the connection until it ends.
  var isKept: Bool { !endings.isEmpty }

  /// Runs `ending` once the connection has ended. Until then, the connection does not give way to others, unless its
  /// holder has the most connections; see ``BusPeers/leaving``.
  ///
  /// - Returns: a closure that drops `ending` without running it.
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
