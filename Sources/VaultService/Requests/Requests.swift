internal import VaultCore
internal import VaultModel
internal import VaultStore

/// What callers without a grant have asked for, and what administrators have answered: in memory, gone with the daemon.
///
/// It decides nothing: ``Access`` asks it, and is the only one that changes it. Nobody pushes out another's requests, and
/// nobody makes it grow: each subject, and all together, have a bound, and a rate at which new ones come to be.
final class Requests: SecretHolder {
  /// A target that was denied a while ago, and may not ask again yet.
  struct Denial {
    let target: RequestTarget
    /// The time until which nobody is asked, `CLOCK_BOOTTIME` nanoseconds, and the nanoseconds from the denial to that.
    fileprivate(set) var end: Int64
    fileprivate(set) var span: Int64
  }

  /// The most that wait of one subject, and of all.
  static let (mostOfOne, most) = (16, 256)
  /// The most approvals, and the most denials that are remembered for a time.
  static let (mostApprovals, mostDenials) = (256, 256)
  /// How long a denial counts at first, and at the longest, in nanoseconds.
  static let (cooling, longestCooling): (Int64, Int64) = (60 * 1_000_000_000, 3600 * 1_000_000_000)

  /// Told of each change, by the number of the request.
  var changed: (Int, RequestChange) -> Void = { _, _ in }
  /// Draws the number of a request.
  var draw: () -> Int = { 100_000 + Int(RandomBytes.uniform(below: 900_000)) }

  /// In the order of their coming.
  private(set) var pending: [PendingRequest] = []
  private(set) var approvals: [Approval] = []
  private(set) var denials: [Denial] = []
  private var rates = RequestRates()

  // MARK: Asking

  /// Takes note that somebody asks for something without a grant.
  ///
  /// - Parameters:
  ///   - asker: the process of a caller, which takes a while to look at.
  ///   - now: `CLOCK_BOOTTIME` nanoseconds.
  ///   - time: Unix seconds.
  /// - Returns: the number of the request, and whether it is a new one; nil where nobody is asked.
  func ask(
    _ right: Right, _ target: RequestTarget, _ words: String, _ caller: Caller, _ asker: (Caller) -> Asker, now: Int64,
    at time: Int64
  ) -> (number: Int, isNew: Bool)? {
    if denials.contains(where: { $0.target == target && now < $0.end }) { return nil }
    if let index = pending.firstIndex(where: { $0.target == target && $0.right == right }) {
      let known = pending[index].asker
      pending[index].repeated(words, known.isSame(as: caller) ? known : asker(caller), at: time)
      return (pending[index].number, false)
    }
    guard rates.take(target.subject, now: now) else { return nil }
    makeRoom(for: target.subject)
    let request = PendingRequest(freeNumber(), target, right, words, asker(caller), at: time)
    pending.append(request)
    changed(request.number, .asked)
    return (request.number, true)
  }

  /// The seconds for which nobody is asked for that because an administrator has denied it; nil where somebody would be.
  func cooling(_ target: RequestTarget, now: Int64) -> Int64? {
    denials.first { $0.target == target && now < $0.end }.map { ($0.end - now + 999_999_999) / 1_000_000_000 }
  }

  /// Pushes out the oldest request of a subject that has as many as one may have or, where there are as many as there may be,
  /// of the one that has most.
  private func makeRoom(for subject: Subject) {
    let own = pending.count { $0.target.subject == subject }
    guard own >= Self.mostOfOne || pending.count >= Self.most else { return }
    var victim = subject
    if own < Self.mostOfOne {
      let counts = Dictionary(grouping: pending, by: \.target.subject).mapValues(\.count)
      victim = counts.max { $0.value < $1.value }?.key ?? subject
    }
    if let oldest = pending.first(where: { $0.target.subject == victim }) { drop(oldest.number, .dropped) }
  }

  private func freeNumber() -> Int {
    while true {
      let number = draw()
      let isTaken = pending.contains { $0.number == number } || approvals.contains { $0.number == number }
      if !isTaken { return number }
    }
  }

  /// The request of that number.
  func request(_ number: Int) -> PendingRequest? { pending.first { $0.number == number } }

  /// Takes a request out, which has come to that.
  func drop(_ number: Int, _ change: RequestChange) {
    guard let index = pending.firstIndex(where: { $0.number == number }) else { return }
    pending.remove(at: index)
    changed(number, change)
  }

  // MARK: Answers

  /// Approves a request for the item that has its name now, in place of an earlier approval of the same; false where
  /// there are too many.
  func approve(
    _ request: PendingRequest, _ item: ItemBinding, _ terms: ApprovalTerms, by uid: UInt32, now: Int64
  ) -> Bool {
    forgetOver(now)
    let new = Approval(request, item, terms, by: uid, now: now)
    approvals.removeAll { $0.target == new.target && $0.right == new.right && $0.process == new.process }
    guard approvals.count < Self.mostApprovals else { return false }
    approvals.append(new)
    denials.removeAll { $0.target == request.target }
    drop(request.number, .approved)
    return true
  }

  /// Denies a request, or takes an approval back, so that nobody is asked for that again for a while, each time for longer.
  func deny(_ number: Int, _ target: RequestTarget, now: Int64) {
    approvals.removeAll { $0.number == number }
    // A while after the end of the last one all is forgotten.
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

  /// Has a target that was denied be asked about again; false where it was not.
  func forgetDenial(of target: RequestTarget) -> Bool {
    let count = denials.count
    denials.removeAll { $0.target == target }
    return denials.count < count
  }

  /// Takes approvals of a subject back, and gives them.
  func revoke(_ subject: Subject, _ isMeant: (ItemName) -> Bool) -> [Approval] {
    let gone = approvals.filter { $0.target.subject == subject && isMeant($0.target.name) }
    let numbers = Set(gone.map(\.number))
    approvals.removeAll { numbers.contains($0.number) }
    return gone
  }

  // MARK: Approvals

  /// The approval by which a caller that is that subject may do that now.
  ///
  /// - Parameter item: looks up the item that has the name now, for approvals that count otherwise.
  func approval(
    _ right: Right, _ target: RequestTarget, _ caller: Caller, now: Int64, of item: () -> ItemBinding?
  ) -> Approval? {
    let found = approvals.filter { $0.target == target && $0.counts(at: now) && $0.allows(right, caller) }
    guard !found.isEmpty, let item = item() else { return nil }
    return found.first { $0.item == item }
  }

  /// Takes note that an approval was needed.
  func use(_ number: Int) {
    guard let index = approvals.firstIndex(where: { $0.number == number }) else { return }
    approvals[index].use()
    if approvals[index].uses == 0 { approvals.remove(at: index) }
  }

  /// Forgets what counts no more.
  func forgetOver(_ now: Int64) { approvals.removeAll { !$0.counts(at: now) } }

  // MARK: Locks

  /// Forgets everything: the names must not stay, or the store is another one.
  ///
  /// The lists go as a whole: one that is emptied keeps its memory, in which short names stand that moved there.
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
