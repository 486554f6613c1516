/// The open inquiries, at most one on each matter, and the topics about which nobody is asked for a while.
final class Inquiries {
  private var byNumber: [QuestionNumber: Inquiry] = [:]
  private var numbers: [Inquiry.Matter: QuestionNumber] = [:]
  /// The times until which nobody is asked about these topics, in `CLOCK_BOOTTIME` nanoseconds.
  private var dismissals: [Inquiry.Topic: Int64] = [:]

  var isEmpty: Bool { byNumber.isEmpty }
  var all: [Inquiry] { Array(byNumber.values) }
  /// The inquiry with this number.
  subscript(number: QuestionNumber) -> Inquiry? { byNumber[number] }
  /// The inquiry on this matter.
  subscript(matter: Inquiry.Matter) -> Inquiry? { numbers[matter].flatMap { byNumber[$0] } }

  @discardableResult func open(_ number: QuestionNumber, _ matter: Inquiry.Matter) -> Inquiry {
    let inquiry = Inquiry(number, matter)
    (byNumber[number], numbers[matter]) = (inquiry, number)
    return inquiry
  }

  /// Ends an inquiry; false if it is not open.
  func close(_ number: QuestionNumber) -> Bool {
    guard let inquiry = byNumber.removeValue(forKey: number) else { return false }
    numbers[inquiry.matter] = nil
    return true
  }

  // MARK: Dismissals

  /// Stops all inquiries about a topic until `end`. Both times are in `CLOCK_BOOTTIME` nanoseconds.
  func dismiss(_ topic: Inquiry.Topic, until end: Int64, now: Int64) {
    dismissals = dismissals.filter { $0.value > now }
    dismissals[topic] = end
  }

  /// The time from which people may be asked about a topic again, in `CLOCK_BOOTTIME` nanoseconds; nil if they may be
  /// asked now.
  func dismissalEnd(of topic: Inquiry.Topic, now: Int64) -> Int64? {
    guard let end = dismissals[topic] else { return nil }
    if end <= now { dismissals[topic] = nil }
    return end > now ? end : nil
  }

  /// Lets people be asked about a topic again.
  func forgetDismissal(of topic: Inquiry.Topic) { dismissals[topic] = nil }

  // MARK: Locks

  /// True if an inquiry or a dismissal may name an item.
  var mayHoldNames: Bool {
    byNumber.values.contains { $0.matter != .unlock } || dismissals.contains { $0.key != .unlock }
  }

  /// Forgets everything that may name items.
  ///
  /// New tables are made, because a table from which entries were removed keeps its memory with short names in it, and
  /// a `filter` that removes nothing returns the same table.
  func forgetNames() {
    let (inquiry, dismissal) = (self[.unlock], dismissals[.unlock])
    (byNumber, numbers, dismissals) = ([:], [:], [:])
    if let inquiry { (byNumber[inquiry.number], numbers[.unlock]) = (inquiry, inquiry.number) }
    dismissals[.unlock] = dismissal
  }
}
