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

    /// What a person who dismisses it does not want to hear of.
    var topic: Topic {
      switch self {
      case .unlock: .unlock
      case .presence(let name, let requirement, let session): .presence(name, requirement, uid: session.uid)
      case .approval(let number): .approval(number)
      }
    }
  }

  /// What nobody is asked about for a while after a dismissal. A process can make itself as many sessions as it likes, so they do
  /// not tell one presence from another here.
  enum Topic: Hashable {
    case unlock
    case presence(ItemName, Requirement, uid: UInt32)
    case approval(Int)
  }

  /// The most askers that are told of.
  static let mostTold = 8

  let number: Int
  let matter: Matter
  /// What tells each call that it waits in vain, by the numbers of those that wait.
  private(set) var waiters: [Int: (Waiter.End) -> Void] = [:]
  /// Those that are told of, and their numbers.
  private var first: [Place] = []
  /// True where it has changed since it was told.
  var hasChanged = false
  private var next = 0

  private struct Place {
    let waiter: Int
    let caller: Caller
    let words: String
    var asker: Asker?
  }

  init(_ number: Int, _ matter: Matter) { (self.number, self.matter) = (number, matter) }

  var count: Int { waiters.count }

  /// Has a call wait; its number.
  func add(_ caller: Caller, _ words: String, giveUp: @escaping (Waiter.End) -> Void) -> Int {
    next += 1
    waiters[next] = giveUp
    if first.count < Self.mostTold { first.append(Place(waiter: next, caller: caller, words: words)) }
    hasChanged = true
    return next
  }

  /// Those that are told of. It takes a while to look at a process, so that is done once, when somebody is to be told.
  func askers(isSystem: Bool) -> [(asker: Asker, words: String)] {
    for index in first.indices where first[index].asker == nil {
      first[index].asker = Asker(first[index].caller, isSystem: isSystem)
    }
    return first.compactMap { place in place.asker.map { ($0, place.words) } }
  }

  func remove(_ number: Int) {
    guard waiters.removeValue(forKey: number) != nil else { return }
    // As a whole, lest a copy of the last one stays behind the end.
    if first.contains(where: { $0.waiter == number }) { first = first.filter { $0.waiter != number } }
    hasChanged = true
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

/// An inquiry as agents are told of it.
package struct ToldInquiry {
  package var number: Int
  /// `unlock`, `presence` or `approval`.
  package var about: String
  package var askers: [(asker: Asker, words: String)] = []
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
