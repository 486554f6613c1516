internal import VaultService

/// The share that all users without any known right have together. A user namespace has thousands of uids, so a share
/// for each of them would leave little for everybody else.
final class Strangers {
  fileprivate let answers = Line.Account()
  fileprivate let works = Line.Account()
  fileprivate var pendingBytes = 0
  fileprivate var unreadBytes = 0
}

/// The share of the daemon that all processes of one uid have together.
final class UserShare {
  /// The weight of an administrator's share; everybody else's is 1. So the administrator's tools get through when a
  /// service keeps the vault busy.
  static let administrator = 4

  let uid: UInt32
  let rate: RequestRate
  /// The line of calls that are answered at once, and the line (`works`) of calls that take long. Neither line waits
  /// for the other.
  let answers: Line
  let works: Line
  /// The number of the uid's clients that were admitted and are not gone, at all doors.
  var clientCount = 0
  /// The number of bytes that the connections have sent and that are not handled yet.
  private(set) var pendingBytes = 0
  /// The number of bytes that were sent to the connections and that they have not taken.
  private(set) var unreadBytes = 0
  /// True for a user without any known right, who shares one account with all other such users.
  private(set) var isStranger = false
  /// The revision of the rights at which ``isStranger`` was last determined.
  private var revision: Int?
  private let strangers: Strangers
  private let own = (answers: Line.Account(), works: Line.Account())
  /// The time at which a connection last sent something, as ``Clients/heardNext()`` counts.
  var heard = 0
  /// The number of the uid's refused clients that are still connected.
  var lingering = 0
  /// The time at which the journal was last told of a client that found no room, in nanoseconds of `CLOCK_MONOTONIC`.
  private var told: Int64?

  init(uid: UInt32, _ rate: RequestRate, among strangers: Strangers = Strangers(), isStranger: Bool = false) {
    self.uid = uid
    self.rate = rate
    self.strangers = strangers
    answers = Line(of: uid, account: own.answers)
    works = Line(of: uid, account: own.works)
    if isStranger { setStranger(true) }
  }

  /// The weight of the uid's share against other shares: for turns, and for the number of connections.
  var weight: Int {
    get { Int(answers.weight) }
    set { (answers.weight, works.weight) = (Int64(newValue), Int64(newValue)) }
  }

  // MARK: Strangers

  /// Notes whether a caller with the uid has any right. A user is no stranger if any of the user's processes has one.
  ///
  /// - Parameter revision: the revision of all rights.
  func note(_ hasRights: @autoclosure () -> Bool, _ revision: Int) {
    guard weight == 1, isStranger || self.revision != revision else { return }
    let hasRights = hasRights()
    setStranger(!hasRights)
    if hasRights { self.revision = revision }
  }

  private func setStranger(_ new: Bool) {
    guard new != isStranger else { return }
    isStranger = new
    (answers.account, works.account) = new ? (strangers.answers, strangers.works) : own
    strangers.pendingBytes += new ? pendingBytes : -pendingBytes
    strangers.unreadBytes += new ? unreadBytes : -unreadBytes
  }

  // MARK: The journal

  /// Returns true when the journal may be told of a client that finds no room: once a minute, so that a program that
  /// connects again and again does not fill it. `now` is in nanoseconds of `CLOCK_MONOTONIC`.
  func mayTell(now: Int64) -> Bool {
    if let told, now - told < 60_000_000_000 { return false }
    told = now
    return true
  }

  // MARK: Bytes

  /// Counts further bytes that the connections have sent, or bytes that were handled, as a negative number.
  func countPending(_ more: Int) {
    pendingBytes += more
    if isStranger { strangers.pendingBytes += more }
  }

  /// Counts further bytes that the connections leave unread, or bytes that they took, as a negative number.
  func countUnread(_ more: Int) {
    unreadBytes += more
    if isStranger { strangers.unreadBytes += more }
  }

  /// The bytes that were sent and are not handled yet, of all connections that are counted together with this uid's.
  var pendingTogether: Int { isStranger ? strangers.pendingBytes : pendingBytes }

  /// The bytes that are not read yet, of all connections that are counted together with this uid's.
  var unreadTogether: Int { isStranger ? strangers.unreadBytes : unreadBytes }
}

extension UserShare {
  /// The line that the calls of a cost are charged to.
  func line(of cost: CallCost) -> Line {
    switch cost {
    case .answer: answers
    case .work: works
    }
  }
}
