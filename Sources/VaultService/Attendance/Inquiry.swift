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
  }

  /// The most askers that are told of.
  static let mostTold = 8

  let number: Int
  let matter: Matter
  /// The calls that wait, by their numbers.
  private(set) var waiters: [Int: Waiter] = [:]
  /// Those that are told of, and their numbers.
  private(set) var askers: [(waiter: Int, asker: Asker, words: String)] = []
  /// True where it has changed since it was told.
  var hasChanged = false
  private var next = 0

  init(_ number: Int, _ matter: Matter) { (self.number, self.matter) = (number, matter) }

  var count: Int { waiters.count }

  /// - Parameter asker: the process of the caller, which takes a while to look at.
  func add(_ waiter: Waiter, _ words: String, _ asker: () -> Asker) {
    next += 1
    waiter.number = next
    waiters[next] = waiter
    if askers.count < Self.mostTold { askers.append((next, asker(), words)) }
    hasChanged = true
  }

  func remove(_ number: Int) {
    guard waiters.removeValue(forKey: number) != nil else { return }
    if let index = askers.firstIndex(where: { $0.waiter == number }) {
      // As a whole, lest a copy of the last one stays behind the end.
      askers = Array(askers[..<index] + askers[(index + 1)...])
    }
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
  /// Told where it waits in vain; not of an answer.
  let giveUp: (End) -> Void
  fileprivate(set) var number = 0
  private weak var attendance: Attendance?

  init(_ inquiry: Int, _ attendance: Attendance, giveUp: @escaping (End) -> Void) {
    (self.inquiry, self.attendance, self.giveUp) = (inquiry, attendance, giveUp)
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
