internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The requests of callers without a grant, and the answers of administrators. They are kept in memory, and end with
/// the daemon.
///
/// The list decides nothing: ``Access`` reads it, and is the only one that changes it. The list cannot grow without
/// bound: there is a limit for each subject, a limit for all subjects together, and a limit on the rate of new requests
/// of each subject. A subject at its limit displaces only its own requests. When all subjects together have reached
/// their limit, the subject with the most requests loses its oldest one; all strangers together count as one subject
/// there.
final class Requests: SecretHolder {
  /// A target that was denied a while ago, and that nobody may ask for yet.
  struct Denial {
    let target: RequestTarget
    /// The time until which nobody is asked, in `CLOCK_BOOTTIME` nanoseconds, and the nanoseconds from the denial to
    /// that time.
    fileprivate(set) var end: Int64
    fileprivate(set) var span: Int64
  }

  /// The most waiting requests of one subject, and of all subjects.
  static let (mostOfOne, most) = (16, 256)
  /// The most approvals, and the most temporary denials.
  static let (mostApprovals, mostDenials) = (256, 256)
  /// The time for which a first denial counts, and the longest time for a repeated one, in nanoseconds.
  static let (cooling, longestCooling): (Int64, Int64) = (60 * 1_000_000_000, 3600 * 1_000_000_000)

  /// Called with each change, with the number of the request.
  var changed: (QuestionNumber, RequestChange) -> Void = { _, _ in }

  /// The waiting requests, in the order in which they came.
  private(set) var pending: [PendingRequest] = []
  private(set) var approvals: [Approval] = []
  private(set) var denials: [Denial] = []
  /// The numbers of the approvals whose last use was a short while ago, the newest last.
  private var usedUp: [QuestionNumber] = []
  private var rates = RequestRates()

  // MARK: Asking

  /// Notes a request for something that no grant allows.
  ///
  /// - Parameters:
  ///   - asker: describes the process of a caller, which takes a while.
  ///   - isStranger: see ``PendingRequest/isOfStranger``.
  ///   - number: draws the number of a new request.
  ///   - now: the time in `CLOCK_BOOTTIME` nanoseconds.
  ///   - time: the time in Unix seconds.
  /// - Returns: the number of the request, and whether the request is new; nil if nobody is asked.
  func ask(
    _ right: Right, _ target: RequestTarget, _ words: String, _ caller: Caller, _ asker: (Caller) -> Asker,
    isStranger: Bool, number: () -> QuestionNumber, now: Int64, at time: Int64
  ) -> (number: QuestionNumber, isNew: Bool)? {
    if denials.contains(where: { $0.target == target && now < $0.end }) { return nil }
    if let index = pending.firstIndex(where: { $0.target == target && $0.right == right }) {
      let known = pending[index].asker
      pending[index].repeated(words, known.isSame(as: caller) ? known : asker(caller), at: time)
      return (pending[index].number, false)
    }
    guard rates.take(target.subject, isStranger: isStranger, now: now) else { return nil }
    makeRoom(for: target.subject)
    let request = PendingRequest(
      number(), target, right, words, asker(caller), isOfStranger: isStranger, at: time)
    pending.append(request)
    changed(request.number, .asked)
    return (request.number, true)
  }

  /// The seconds for which nobody is asked about a target because an administrator has denied it; nil if somebody would
  /// be asked.
  func cooling(_ target: RequestTarget, now: Int64) -> Int64? {
    denials.first { $0.target == target && now < $0.end }.map { ($0.end - now + 999_999_999) / 1_000_000_000 }
  }

  /// Drops the oldest request of a subject that has as many as one subject may have. If there are as many requests as
  /// there may be in all, drops the oldest request of the subject that has most, where all strangers count as one.
  private func makeRoom(for subject: Subject) {
    var victim = subject
    if pending.count(where: { $0.target.subject == subject }) < Self.mostOfOne {
      guard pending.count >= Self.most else { return }
      // If several have equally many, the strangers lose one.
      let (strangers, others) = (pending.filter(\.isOfStranger), pending.filter { !$0.isOfStranger })
      let party = others.ofHolderWithMost(\.target.subject)
      let most = strangers.count >= party.count ? strangers.ofHolderWithMost(\.target.subject) : party
      victim = most.first?.target.subject ?? subject
    }
    if let oldest = pending.first(where: { $0.target.subject == victim }) { drop(oldest.number, .dropped) }
  }

  /// True for the number of a request or an approval, also of one that was used up a short while ago.
  func has(_ number: QuestionNumber) -> Bool {
    request(number) != nil || approvals.contains { $0.number == number } || isUsedUp(number)
  }

  /// The request with that number.
  func request(_ number: QuestionNumber) -> PendingRequest? { pending.first { $0.number == number } }

  /// Removes a request, with the change that ended it.
  func drop(_ number: QuestionNumber, _ change: RequestChange) {
    guard let index = pending.firstIndex(where: { $0.number == number }) else { return }
    pending.remove(at: index)
    changed(number, change)
  }

  // MARK: Answers

  /// True if there is room for an approval.
  func hasRoom(for approval: Approval, now: Int64) -> Bool {
    approvals.count { $0.counts(at: now) && !$0.isReplaced(by: approval) } < Self.mostApprovals
  }

  /// Approves a request for the item that has the requested name now. The approval replaces an earlier approval of the
  /// same right on the same target for the same process. There must be room for it.
  func approve(_ request: PendingRequest, _ new: Approval, now: Int64) {
    forgetOver(now)
    approvals.removeAll { $0.isReplaced(by: new) }
    approvals.append(new)
    denials.removeAll { $0.target == request.target }
    drop(request.number, .approved)
  }

  /// Denies a request, or revokes an approval. Nobody is asked about the same target again for a while, which is longer
  /// after each denial.
  func deny(_ number: QuestionNumber, _ target: RequestTarget, now: Int64) {
    approvals.removeAll { $0.number == number }
    // Denials are forgotten some time after their end.
    denials.removeAll { now >= $0.end + Self.longestCooling }
    if let index = denials.firstIndex(where: { $0.target == target }) {
      denials[index].span = min(2 * denials[index].span, Self.longestCooling)
      denials[index].end = now + denials[index].span
    } else {
      if denials.count >= Self.mostDenials, let first = denials.indices.min(by: { denials[$0].end < denials[$1].end }) {
        denials.remove(at: first)
      }
      denials.append(Denial(target: target, end: now + Self.cooling, span: Self.cooling))
    }
    drop(number, .denied)
  }

  /// Forgets the denial of a target, so that it may be asked for again.
  func forgetDenial(of target: RequestTarget) { denials.removeAll { $0.target == target } }

  /// Revokes approvals, and returns them.
  func revoke(_ isMeant: (Approval) -> Bool) -> [Approval] {
    let gone = approvals.filter(isMeant)
    let numbers = Set(gone.map(\.number))
    approvals.removeAll { numbers.contains($0.number) }
    return gone
  }

  // MARK: Approvals

  /// The approval that now gives the right to a caller, who is the subject of `target`.
  ///
  /// - Parameter item: looks up the item that has the name now; called if other conditions of an approval are met.
  func approval(
    _ right: Right, _ target: RequestTarget, _ caller: Caller, now: Int64, of item: () -> ItemBinding?
  ) -> Approval? {
    let found = approvals.filter { $0.target == target && $0.counts(at: now) && $0.allows(right, caller) }
    guard !found.isEmpty, let item = item() else { return nil }
    return found.first { $0.item == item }
  }

  /// Notes a use of an approval.
  func use(_ number: QuestionNumber) {
    guard let index = approvals.firstIndex(where: { $0.number == number }) else { return }
    approvals[index].use()
    guard approvals[index].uses == 0 else { return }
    approvals.remove(at: index)
    usedUp = usedUp.suffix(Self.mostApprovals - 1) + [number]
  }

  /// True for an approval of which no use is left.
  func isUsedUp(_ number: QuestionNumber) -> Bool { usedUp.contains(number) }

  /// Forgets approvals that have ended.
  func forgetOver(_ now: Int64) { approvals.removeAll { !$0.counts(at: now) } }

  // MARK: Locks

  /// Forgets all requests, approvals and denials, because their names must not stay in memory, or because the vault has
  /// another store now.
  ///
  /// The arrays are replaced as a whole, because an array that is emptied keeps its memory with short names in it.
  func reset() {
    let numbers = pending.map(\.number)
    (pending, approvals, denials) = ([], [], [])
    for number in numbers { changed(number, .dropped) }
  }

  override func letGo(for lock: Lock) {
    approvals.removeAll { $0.process != nil }
    if lock.reach.contains(.names) { reset() }
  }

  override func outlives(_ lock: Lock) -> Bool {
    approvals.contains { $0.process != nil }
      || lock.reach.contains(.names) && !(pending.isEmpty && approvals.isEmpty && denials.isEmpty)
  }
}
