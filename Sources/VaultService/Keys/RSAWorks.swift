internal import VaultCore
internal import VaultModel

/// The work with large RSA keys: in a process for each piece of it, one at a time for signatures and one for new keys,
/// users in turns.
///
/// So nobody's keys keep the loop from others, nor more than two processors busy, and a user's signature waits for one
/// of each other user at most. No key is kept for work that waits: a call hands its key over when its turn has come. A
/// lock that takes the class of a key ends the process that has it.
package final class RSAWorks: SecretHolder {
  /// Works of one lane wait for each other.
  enum Lane: Hashable, CaseIterable { case signing, making }

  /// The most new keys that wait.
  package static let longestQueue = 8

  /// The place of one call.
  final class Place {
    enum State {
      /// Nothing is asked.
      case idle
      /// It waits for its turn.
      case queued
      /// Its turn has come, and it has not asked yet.
      case called
      case running(RSAQuestion, end: () -> Void)
      case done(RSAQuestion, Result<SecretBox, RSAFailure>)
      /// A lock has taken the key.
      case cut
    }

    let user: UInt32
    var lane = Lane.signing
    /// The class of the key that it is about.
    var accessible = AccessClass.whenUnlocked
    var state = State.idle
    /// Has the call be made again. Set once, by ``RSAOrder``.
    var goOn: () -> Void = {}

    init(user: UInt32) { self.user = user }

    /// False where its process has answered, or was ended, and is not gone yet.
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
  /// Those who wait, by users; the first one is next.
  private var queues: [Lane: [Queue]] = [:]
  /// Those who have something of a key's.
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

  /// The answer to a question; nil while it waits or is worked on.
  ///
  /// - Parameters:
  ///   - key: the private key in PKCS #8; asked for when the process is started.
  /// - Throws: where it came to nothing, and ``Refusal/busy(_:)`` where too many new keys are to be made.
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
      // What is to be stored waits with it.
      if !question.isSignature { holding[ObjectIdentifier(place)] = place }
      guard isFirst else { return nil }
    }
    place.accessible = accessible
    start(place, question, key())
    return nil
  }

  /// Takes a place back: what it waits for is not begun, and what is done for it ends.
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

  /// Has a place wait for its turn; true where that has come already.
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

  /// Calls the one that has waited longest of the user whose turn was longest ago.
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
    let end = program.ask(question, key: key) { [weak place] result in
      // It may have been taken back meanwhile.
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

/// The reason why a call is not worked on.
enum RSAStop: Error {
  case busy(String)
  case failed(RSAFailure)
  /// The key was taken by a lock.
  case locked
}

extension RSAQuestion {
  fileprivate var makesKey: Bool { if case .make = self { true } else { false } }
  fileprivate var isSignature: Bool { if case .sign = self { true } else { false } }
}

extension Lock {
  /// True when it takes the keys of a class.
  fileprivate func takes(_ accessible: AccessClass) -> Bool {
    switch accessible {
    case .whenUnlocked: reach.contains(.whenUnlocked)
    case .afterFirstUnlock: reach.contains(.afterFirstUnlock)
    case .always: reach.contains(.always)
    }
  }
}
