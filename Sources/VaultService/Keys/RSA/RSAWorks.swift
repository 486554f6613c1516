internal import VaultCore
internal import VaultModel

/// The work with large RSA keys. Each piece of work has a process of its own. One process at a time makes signatures,
/// and one makes new keys; the users take turns.
///
/// So the keys of one user do not block the loop for others, and all work together keeps at most two processors busy. A
/// user's signature waits for at most one signature of each other user. No key is held here for a signature that waits:
/// its call hands the key over when its turn has come. A lock that takes the class of a key ends the process that has
/// the key.
package final class RSAWorks: SecretHolder {
  /// The kind of a piece of work; pieces in the same lane wait for each other.
  enum Lane: Hashable, CaseIterable { case signing, making }

  /// The most new keys that wait.
  package static let longestQueue = 8

  /// The place of one call in the queues.
  final class Place {
    enum State {
      /// The call has not asked a question.
      case idle
      /// The question waits for its turn.
      case queued
      /// The turn has come, and the call has not asked again yet.
      case called
      case running(RSAQuestion, end: () -> Void)
      case done(RSAQuestion, Result<SecretBox, RSAFailure>)
      /// A lock has taken the key.
      case cut
    }

    let user: UInt32
    var lane = Lane.signing
    /// The class of the key.
    var accessible = AccessClass.whenUnlocked
    var state = State.idle
    /// Repeats the call. Set once, by ``RSAOrder``.
    var goOn: () -> Void = {}

    init(user: UInt32) { self.user = user }

    /// True while the place waits for its turn, or its process works. False once the process has answered or was ended,
    /// even if the process is not gone yet.
    var isAtWork: Bool {
      switch state {
      case .queued, .called, .running: true
      case .idle, .done, .cut: false
      }
    }
  }

  private struct Queue {
    let user: UInt32
    var places: [Place]
  }

  let vault: Vault
  private let program: any RSAProgram
  /// The place whose turn it is, or whose process is not gone yet.
  private var current: [Lane: Place] = [:]
  /// The waiting places, by users; the first user is next.
  private var queues: [Lane: [Queue]] = [:]
  /// The places whose work a lock must end: their process or result holds a key, or their call is to store one.
  private var holding: [ObjectIdentifier: Place] = [:]
  private var orders = 0

  init(_ vault: Vault, _ program: any RSAProgram) {
    (self.vault, self.program) = (vault, program)
    super.init(in: vault.holders)
  }

  func nextNumber() -> Int {
    orders += 1
    return orders
  }

  /// The answer to a question; nil while the question waits or is worked on.
  ///
  /// - Parameter key: the private key in PKCS #8; called when the process is started.
  /// - Throws: the reason why the work has failed, and ``RSAStop/busy(_:)`` if too many new keys are to be made.
  func ask(
    _ place: Place, _ question: RSAQuestion, of accessible: AccessClass, key: () -> SecretBox?
  ) throws(RSAStop) -> SecretBox? {
    switch place.state {
    case .done(question, let result):
      forget(place)
      do throws(RSAFailure) { return try result.get() } catch { throw .failed(error) }
    case .running(question, _), .queued: return nil
    case .cut where !question.isSignature:
      forget(place)
      throw .locked
    case .called: break
    case .idle, .running, .done, .cut:
      leave(place)
      place.lane = question.makesKey ? .making : .signing
      place.accessible = accessible
      let isFirst = try begin(place)
      // A call that is to store a key ends at a lock even while it waits, because it may hold the key.
      if !question.isSignature { holding[ObjectIdentifier(place)] = place }
      guard isFirst else { return nil }
    }
    place.accessible = accessible
    start(place, question, key())
    return nil
  }

  /// Takes a place out of the queues. Work that waits is not begun, and work under way is ended.
  func leave(_ place: Place) {
    switch place.state {
    case .idle, .cut, .done: forget(place)
    case .queued:
      forget(place)
      remove(place)
    case .called:
      forget(place)
      current[place.lane] = nil
      callNext(place.lane)
    case .running(_, let end):
      forget(place)
      end()
    }
  }

  private func forget(_ place: Place) {
    place.state = .idle
    holding[ObjectIdentifier(place)] = nil
  }

  // MARK: Turns

  /// Lets a place wait for its turn; true if its turn has come already.
  private func begin(_ place: Place) throws(RSAStop) -> Bool {
    let lane = place.lane
    guard let served = current[lane] else {
      current[lane] = place
      place.state = .called
      return true
    }
    var waiting = queues[lane] ?? []
    let own = waiting.firstIndex { $0.user == place.user }
    if lane == .making {
      let isOwn = served.user == place.user && served.isAtWork
      guard own == nil, !isOwn else { throw .busy("another key is being made") }
      guard waiting.count < Self.longestQueue else { throw .busy("too many keys are waiting to be made") }
    }
    if let own { waiting[own].places.append(place) } else { waiting.append(Queue(user: place.user, places: [place])) }
    queues[lane] = waiting
    place.state = .queued
    return false
  }

  private func remove(_ place: Place) {
    guard let index = queues[place.lane]?.firstIndex(where: { $0.user == place.user }) else { return }
    queues[place.lane]?[index].places.removeAll { $0 === place }
    if queues[place.lane]?[index].places.isEmpty == true { queues[place.lane]?.remove(at: index) }
  }

  /// Calls the place that has waited longest, of the user whose turn was longest ago.
  private func callNext(_ lane: Lane) {
    guard current[lane] == nil, var queue = queues[lane]?.first else { return }
    let place = queue.places.removeFirst()
    queues[lane]?.removeFirst()
    if !queue.places.isEmpty { queues[lane]?.append(queue) }
    current[lane] = place
    place.state = .called
    place.goOn()
  }

  private func start(_ place: Place, _ question: RSAQuestion, _ key: SecretBox?) {
    let lane = place.lane
    holding[ObjectIdentifier(place)] = place
    let end = program.ask(question, key: key) { [weak place, log = vault.log] result in
      if case .failure(.unanswered(let reason)) = result { log.warning(reason) }
      // The place may have left the queues meanwhile.
      guard let place, case .running = place.state else { return }
      place.state = .done(question, result)
      place.goOn()
    } gone: { [weak self] in
      self?.current[lane] = nil
      self?.callNext(lane)
    }
    place.state = .running(question, end: end)
  }

  // MARK: Locks

  override package func letGo(for lock: Lock) {
    for place in holding.values where lock.takes(place.accessible) {
      leave(place)
      place.state = .cut
      place.goOn()
    }
  }

  override package func outlives(_ lock: Lock) -> Bool { holding.values.contains { lock.takes($0.accessible) } }
}

/// The reason why a call's work is not done.
enum RSAStop: Error {
  case busy(String)
  case failed(RSAFailure)
  /// A lock took the key.
  case locked
}

extension RSAQuestion {
  fileprivate var makesKey: Bool { if case .make = self { true } else { false } }
  fileprivate var isSignature: Bool { if case .sign = self { true } else { false } }
}

extension Lock {
  /// True when the lock takes the keys of a class.
  fileprivate func takes(_ accessible: AccessClass) -> Bool {
    switch accessible {
    case .whenUnlocked: reach.contains(.whenUnlocked)
    case .afterFirstUnlock: reach.contains(.afterFirstUnlock)
    case .always: reach.contains(.always)
    }
  }
}
