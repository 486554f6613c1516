package import VaultModel

/// Something that a person is wanted for, for as long as a call waits for it or, of a request, until it is answered.
final class Inquiry {
  /// The kinds of inquiries; two calls that want the same join one.
  enum Matter: Hashable {
    /// To open the vault.
    case unlock
    /// To show what an item requires, in one authentication session.
    case presence(ItemName, Requirement, AuthenticationSession)
    /// To approve or deny the request of that number.
    case approval(Int)
    /// To allow one use of the key with that fingerprint, which asks for it each time: no two join.
    case confirmation(fingerprint: String, use: Int)

    /// What a person who dismisses it does not want to hear of.
    var topic: Topic {
      switch self {
      case .unlock: .unlock
      case .presence(let name, let requirement, let session): .presence(name, requirement, uid: session.uid)
      case .approval(let number): .approval(number)
      case .confirmation(let fingerprint, _): .confirmation(fingerprint: fingerprint)
      }
    }
  }

  /// What nobody is asked about for a while after a dismissal. A process can make itself as many sessions as it likes, so they do
  /// not tell one presence from another here.
  enum Topic: Hashable {
    case unlock
    case presence(ItemName, Requirement, uid: UInt32)
    case approval(Int)
    case confirmation(fingerprint: String)
  }

  /// The most askers that are told of.
  static let mostTold = 8

  let number: Int
  let matter: Matter
  /// The calls that wait, by their numbers, which count up.
  private var places: [Int: Place] = [:]
  /// True where it has changed since it was told.
  var hasChanged = false
  private var next = 0

  /// A call that waits. An object of its own: it leaves no copy of the caller's words in a table's memory.
  private final class Place {
    let caller: Caller
    let words: String
    let task: String?
    /// Tells it that it waits in vain.
    let giveUp: (Waiter.End) -> Void
    var asker: Asker?

    init(_ caller: Caller, _ words: String, _ task: String?, _ giveUp: @escaping (Waiter.End) -> Void) {
      (self.caller, self.words, self.task, self.giveUp) = (caller, words, task, giveUp)
    }
  }

  init(_ number: Int, _ matter: Matter) { (self.number, self.matter) = (number, matter) }

  var count: Int { places.count }

  /// Has a call wait; its number.
  func add(_ caller: Caller, _ words: String, task: String?, giveUp: @escaping (Waiter.End) -> Void) -> Int {
    next += 1
    places[next] = Place(caller, words, task, giveUp)
    hasChanged = true
    return next
  }

  /// Those that are told of: the ones that have waited longest. It takes a while to look at a process, so that is done once, when
  /// somebody is to be told.
  func askers(isSystem: Bool) -> [ToldAsker] {
    places.keys.sorted().prefix(Self.mostTold).compactMap { number in
      guard let place = places[number] else { return nil }
      let asker = place.asker ?? Asker(place.caller, isSystem: isSystem)
      place.asker = asker
      return ToldAsker(asker: asker, words: place.words, task: place.task)
    }
  }

  func remove(_ number: Int) {
    if places.removeValue(forKey: number) != nil { hasChanged = true }
  }

  /// Tells all that they wait in vain.
  func giveUp(_ end: Waiter.End) {
    for place in Array(places.values) { place.giveUp(end) }
  }
}

/// A call that waits for an inquiry, until it is let go of.
package final class Waiter {
  /// The reason why it is not to wait any more.
  package enum End {
    /// The person does not want to answer now.
    case dismissed
    /// No agent is there any more that can ask.
    case nobody
  }

  package let inquiry: Int
  private let number: Int
  private weak var attendance: Attendance?

  init(_ number: Int, of inquiry: Int, _ attendance: Attendance) {
    (self.number, self.inquiry, self.attendance) = (number, inquiry, attendance)
  }

  deinit { attendance?.leave(inquiry, number) }
}

/// A process that asks, as agents are told of it.
package struct ToldAsker {
  package let asker: Asker
  /// Its own words, one line; empty for none.
  package let words: String
  /// The daemon's words for what it is about to do, one line.
  package var task: String?
}

/// An inquiry as agents are told of it.
package struct ToldInquiry {
  package var number: Int
  /// `unlock`, `presence`, `approval` or `confirmation`.
  package var about: String
  package var askers: [ToldAsker] = []
  package var count = 0
  package var name: String?
  package var isMissing = false
  package var subject: Subject?
  package var right: Right?
  package var require: Requirement?
  /// The seconds for which a yes counts.
  package var reuse: Int64?
  package var idle: Int64?
  package var age: Int64?
}
