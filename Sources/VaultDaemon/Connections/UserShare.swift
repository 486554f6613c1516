internal import VaultService

/// The share of the daemon that all processes of one uid have together.
final class UserShare {
  /// The weight of an administrator's share; everybody else's is 1. So the administrator's tools get through when a
  /// service keeps the vault busy.
  static let administrator = 4

  let uid: UInt32
  let rate: RequestRate
  /// The line of calls that are answered at once, and below it the line of calls that take long. Neither line waits for
  /// the other.
  let answers: Line
  let works: Line
  /// The number of the uid's clients that were admitted and are not gone, at all doors.
  var clientCount = 0
  /// The number of bytes that the connections have sent and that are not handled yet.
  var pendingBytes = 0
  /// The number of bytes that were sent to the connections and that they have not taken.
  var unreadBytes = 0
  /// The time at which a connection last sent something, as ``Clients/heardNext()`` counts.
  var heard = 0
  /// The number of the uid's refused clients that are still connected.
  var lingering = 0

  init(uid: UInt32, _ rate: RequestRate) {
    self.uid = uid
    self.rate = rate
    answers = Line(of: uid)
    works = Line(of: uid)
  }

  /// The uid's factor compared to others: for turns, and for the number of connections.
  var weight: Int {
    get { Int(answers.weight) }
    set { (answers.weight, works.weight) = (Int64(newValue), Int64(newValue)) }
  }
}
