import Testing
import VaultModel

@testable import VaultService

/// A machine's vault, callers without a grant there, and the outcome of their requests.
struct RequestStand {
  let rooms: RoomStand

  /// - Parameter made: called with the path of the store before it is opened.
  init(
    _ settings: VaultSettings = VaultSettings(), items: [String] = ["a", "b"], made: (String) -> Void = { _ in }
  ) throws {
    rooms = try RoomStand.unlocked(settings, system: true, made: made)
    for item in items { try rooms.set(item) }
  }

  init(_ rooms: RoomStand) { self.rooms = rooms }

  var access: Access { rooms.access }
  var pending: [PendingRequest] { access.requests.pending }

  /// Makes a process of that user.
  static func caller(_ uid: UInt32 = 990, pid: Int32 = 50, started: UInt64 = 5, unit: String? = nil) -> Caller {
    var caller = RoomStand.caller(uid, session: pid, unit: unit)
    caller.started = started
    return caller
  }

  /// The answer to a caller that asks for an item.
  enum Answer: Equatable {
    case served
    /// The caller may wait for an answer to the request of that number.
    case asked(QuestionNumber)
    case wait(Wait)
    case refused(Refusal)
  }

  @discardableResult
  func ask(_ name: String, _ caller: Caller = caller(), for purpose: String? = "to work") throws -> Answer {
    let name = try ItemName(name)
    var isServed = false
    do throws(Refusal) {
      let wait = try rooms.items.get(name, for: caller, Said(purpose: purpose)) { _, _, _ in
        isServed = true
      }
      if case .approval(let number) = wait { return .asked(number) }
      if let wait { return .wait(wait) }
    } catch { return .refused(error) }
    #expect(isServed)
    return .served
  }

  /// Makes a request as a caller, and returns its number.
  func number(_ name: String, _ caller: Caller = caller()) throws -> QuestionNumber {
    let answer = try ask(name, caller)
    guard case .asked(let number) = answer else { throw RequestStandError(answer: answer) }
    return number
  }

  struct RequestStandError: Error { var answer: Answer? }

  func approve(
    _ number: QuestionNumber, uses: Int? = nil, seconds: Int64? = nil, session: Bool = false, always: Bool = false,
    process: Int32? = nil, started: UInt64? = nil, by caller: Caller? = nil
  ) throws(Refusal) {
    let terms = try ApprovalTerms(uses: uses, seconds: seconds, isOfSession: session, isForGood: always)
    let shown = process.map { ShownProcess($0, started: started) }
    _ = try access.approve(number, terms, process: shown, for: caller ?? rooms.administrator)
  }

  func deny(_ number: QuestionNumber, always: Bool = false) throws(Refusal) {
    _ = try access.deny(number, isForGood: always, for: rooms.administrator)
  }

  static let denied = Answer.refused(.denied("you may not do this"))
}
