internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultProcess
internal import VaultWire

/// The stream of one vault's inquiries, on its own thread.
struct Attending {
  /// A vault to attend.
  struct Place {
    let location: SocketLocation
    let isSystem: Bool
    /// False for the machine's vault when no setting asks for it. Then a person who may not attend it gets no message.
    let isWanted: Bool
  }

  private let place: Place
  private let faces: [String]
  private let queue: InquiryQueue
  private let notices: NoticeQueue
  private let end: Withdrawal

  private var location: SocketLocation { place.location }

  /// The time without a sign of life after which the daemon's questions are withdrawn. It is long, because this program
  /// asks the daemon for such a sign during the whole session.
  private static let silence = Duration.seconds(60)

  /// - Parameter end: the signal that ends the stream.
  init(_ place: Place, _ faces: [String], _ queue: InquiryQueue, _ notices: NoticeQueue, _ end: Withdrawal) {
    (self.place, self.faces, self.queue, self.notices, self.end) = (place, faces, queue, notices, end)
  }

  /// Attends the vault, across restarts of the daemon, until the end or a refusal.
  func run() {
    var pause: Int32 = 1000
    var told = ""
    while !end.isRaised {
      var vault = Vault(at: location)
      (vault.patience, vault.silence) = (.zero, Self.silence)
      vault.cancellation = end.descriptor
      do {
        try vault.attend(faces: faces) { event in
          pause = 1000
          told = ""
          take(event)
          return true
        }
      } catch ClientError.fault(.denied(let reason, _)) {
        if place.isWanted { complain("you may not attend: \(reason)") }
        return
      } catch ClientError.disconnected {
        // The daemon may come back.
      } catch {
        // The error is reported once, not at each attempt, and not when this program itself is ending.
        if !end.isRaised, told != "\(error)" { complain("\(error); trying again") }
        told = "\(error)"
      }
      queue.withdraw(nil, at: location, atEnd: end.isRaised)
      var polled = pollfd(fd: end.descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&polled, 1, pause)
      pause = min(2 * pause, 60_000)
    }
  }

  private func complain(_ text: String) {
    StandardStream.errors.complain(AgentProgram.name, "\(location.path): \(Printable.text(text))")
  }

  private func take(_ event: Wire.AttendReply) {
    switch event.event {
    case "inquiry":
      guard let inquiry = event.inquiry else { return }
      do throws(Withdrawal.Errno) {
        queue.put(try OpenInquiry(inquiry, at: location, isSystem: place.isSystem))
      } catch { complain("eventfd: \(SystemText.of(error.code))") }
    case "withdrawn": if let number = event.number { queue.withdraw(number, at: location) }
    case "notice": if let notice = notice(event) { notices.put(notice) }
    default: break
    }
  }

  private func notice(_ event: Wire.AttendReply) -> Notice? {
    let title = QuestionText.title(isSystem: place.isSystem)
    let cause = event.cause.map { ": " + Printable.text($0) } ?? ""
    switch event.notice {
    case "locking":
      let why =
        switch event.cause {
        case "idle": ", because nobody uses it"
        case "age": ", because it has been open for the maximum time"
        default: ", as it was asked to"
        }
      return Notice(title: title, text: "it locks in half a minute" + why, isUrgent: false)
    case "locked":
      let isBy = event.cause?.hasPrefix("by ") == true
      return Notice(title: title, text: "locked" + (isBy ? String(cause.dropFirst()) : cause), isUrgent: false)
    case "unlocked": return Notice(title: title, text: "it is unlocked", isUrgent: false)
    case "failed-unlock":
      // An attempt from this agent has its own message.
      if event.asker?.pid == Int(getpid()) { return nil }
      let who = event.asker.map { " by process \($0.pid) of \(Printable.text($0.user ?? "uid \($0.uid)"))" } ?? ""
      return Notice(title: title, text: "an attempt to open it failed" + who + cause, isUrgent: true)
    case "integrity": return Notice(title: title, text: "the check of the store failed" + cause, isUrgent: true)
    default: return nil
    }
  }
}
