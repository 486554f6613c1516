package import VaultModel

/// A question for a person. It is open for as long as a call waits for the answer. The inquiry about a request is open
/// until the request is answered.
final class Inquiry {
  /// The subject matters of inquiries. Two calls with the same matter join one inquiry.
  enum Matter: Hashable {
    /// Asks a person to unlock the vault.
    case unlock
    /// Asks for the presence that an item requires, in one authentication session.
    case presence(ItemName, Requirement, AuthenticationSession)
    /// Asks an administrator to approve or deny the request with this number.
    case approval(QuestionNumber)
    /// Asks a person to allow one use of the key with this fingerprint, which requires such consent for each use. No
    /// two inquiries of this kind join.
    case confirmation(fingerprint: String, use: Int)

    /// The topic that a person who dismisses the inquiry does not want to hear of.
    var topic: Topic {
      switch self {
      case .unlock: .unlock
      case .presence(let name, let requirement, let session): .presence(name, requirement, uid: session.uid)
      case .approval(let number): .approval(number)
      case .confirmation(let fingerprint, _): .confirmation(fingerprint: fingerprint)
      }
    }
  }

  /// A topic about which nobody is asked for a while after a dismissal. A process can make any number of sessions, so a
  /// topic of presence names the uid instead of the session.
  enum Topic: Hashable {
    case unlock
    case presence(ItemName, Requirement, uid: UInt32)
    case approval(QuestionNumber)
    case confirmation(fingerprint: String)
  }

  /// The most askers that agents are told of.
  static let mostTold = 8

  let number: QuestionNumber
  let matter: Matter
  /// The calls that wait, by their ascending numbers.
  private var places: [Int: Place] = [:]
  /// True when the inquiry has changed since agents were told of it.
  var hasChanged = false
  /// True from a dismissal until another call waits: the calls that go on waiting do not ask the person again.
  var isQuiet = false
  private var next = 0

  /// A call that waits. It is an object of its own, so that no copy of the caller's words stays in a table's memory.
  private final class Place {
    let caller: Caller
    let words: String
    let task: String?
    /// True if the task names an item.
    let namesItem: Bool
    /// Ends the wait of the call without an answer.
    let giveUp: (Waiter.End) -> Void
    var asker: Asker?

    init(
      _ caller: Caller, _ words: String, _ task: String?, namesItem: Bool, _ giveUp: @escaping (Waiter.End) -> Void
    ) {
      (self.caller, self.words, self.task, self.giveUp) = (caller, words, task, giveUp)
      self.namesItem = namesItem
    }
  }

  init(_ number: QuestionNumber, _ matter: Matter) { (self.number, self.matter) = (number, matter) }

  var count: Int { places.count }

  /// Adds a call that waits, and returns its number.
  func add(
    _ caller: Caller, _ words: String, task: String?, namesItem: Bool, giveUp: @escaping (Waiter.End) -> Void
  ) -> Int {
    next += 1
    places[next] = Place(caller, words, task, namesItem: namesItem, giveUp)
    (hasChanged, isQuiet) = (true, false)
    return next
  }

  /// The askers that agents are told of: the calls that have waited longest. Describing a process takes a while, so
  /// each is described once, when an agent is first told of it.
  ///
  /// - Parameter hidesNames: true if no task that names an item is told.
  func askers(isSystem: Bool, hidesNames: Bool) -> [ToldAsker] {
    places.keys.sorted().prefix(Self.mostTold).compactMap { number in
      guard let place = places[number] else { return nil }
      let asker = place.asker ?? Asker(place.caller, isSystem: isSystem)
      place.asker = asker
      return ToldAsker(asker: asker, words: place.words, task: hidesNames && place.namesItem ? nil : place.task)
    }
  }

  func remove(_ number: Int) {
    if places.removeValue(forKey: number) != nil { hasChanged = true }
  }

  /// Ends the waits of all calls without an answer.
  func giveUp(_ end: Waiter.End) {
    for place in Array(places.values) { place.giveUp(end) }
  }
}

/// A call's place in an inquiry; the call waits until this object is released.
package final class Waiter {
  /// The reason why a call stops waiting.
  package enum End {
    /// The person does not want to answer now.
    case dismissed
    /// No agent that can ask is left.
    case nobody
  }

  package let inquiry: QuestionNumber
  private let number: Int
  private weak var attendance: Attendance?

  init(_ number: Int, of inquiry: QuestionNumber, _ attendance: Attendance) {
    (self.number, self.inquiry, self.attendance) = (number, inquiry, attendance)
  }

  deinit { attendance?.leave(inquiry, number) }
}

/// A process that asks, as described to agents.
package struct ToldAsker {
  package let asker: Asker
  /// The process's own words, in one line; empty for none.
  package let words: String
  /// The next action of the process in the daemon's words, in one line.
  package var task: String?
}

/// An inquiry, as described to agents.
package struct ToldInquiry {
  package var number: QuestionNumber
  /// `unlock`, `presence`, `approval` or `confirmation`.
  package var about: String
  package var askers: [ToldAsker] = []
  package var count = 0
  package var name: String?
  package var isMissing = false
  package var subject: Subject?
  package var right: Right?
  package var require: Requirement?
  /// The seconds for which a proof of presence counts.
  package var reuse: Int64?
  package var idle: Int64?
  package var age: Int64?
}
