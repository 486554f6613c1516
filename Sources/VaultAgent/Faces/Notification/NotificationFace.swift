internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultProcess

/// Asks through the desktop's notifications, with buttons.
///
/// Nothing can be typed there, so a question for a secret or a line is left to the next face and is not shown here.
/// Each question has its own connection, so no connection is open while no question is.
final class NotificationFace: Face {
  let name = FaceName.notification
  let takesSecrets = false
  /// The address of the bus; nil for the session's own.
  private let address: String?
  private var shown: Shown?

  init(busAt address: String? = nil) { self.address = address }

  deinit { clear() }

  /// The notification server may start later, so only the bus counts.
  var obstacle: String? {
    do throws(FaceError) { _ = try DesktopBus(address) } catch { return error.reason }
    return nil
  }

  func ask(_ question: Question, until withdrawal: Withdrawal) throws(FaceError) -> Answer {
    let actions: [(key: String, label: String)]
    switch question.kind {
    case .secret, .visible, .presence: throw .unsuitable
    case .choice: actions = [("yes", "Yes"), ("no", "No")]
    case .approval(let session):
      actions =
        [("once", "Allow once")] + (session ? [("session", "For this process")] : [])
        + [("always", "Always"), ("deny", "Deny")]
    }
    let server = try NotificationServer(address, until: withdrawal)
    guard server.hasActions else { throw .unsuitable }
    let number = try server.show(Self.content(question, actions), until: withdrawal)
    // A key that was not offered is not an answer, and does not close the notification.
    defer { server.close(number) }
    while true {
      switch try server.end(of: number, until: withdrawal) {
      case .action(let key):
        guard actions.contains(where: { $0.key == key }) else { continue }
        switch key {
        case "yes": return .yes
        case "once": return .once
        case "session": return .session
        case "always": return .always
        default: return .no
        }
      case .closedByPerson: return .dismissed
      case .closed: throw .unavailable("the notification was closed, but not by a person")
      }
    }
  }

  func show(_ question: Question, dismissed: Withdrawal) throws(FaceError) {
    clear()
    let server = try NotificationServer(address, until: nil)
    guard server.hasActions else { throw .unsuitable }
    let number = try server.show(Self.content(question, [(key: "not-now", label: "Not now")]), until: nil)
    shown = try Shown(server, number, dismissed)
  }

  func clear() {
    shown?.end()
    shown = nil
  }

  func tell(_ notice: Notice) -> Bool {
    let content = NotificationServer.Content(
      summary: notice.title, body: notice.text, isCritical: notice.isUrgent, stays: notice.isUrgent)
    do throws(FaceError) {
      _ = try NotificationServer(address, until: nil).show(content, until: nil)
      return true
    } catch {
      return false
    }
  }

  private static func content(
    _ question: Question, _ actions: [(key: String, label: String)]
  ) -> NotificationServer.Content {
    let words = question.words.map { ["It says: \(Printable.said($0))"] } ?? []
    return NotificationServer.Content(
      summary: question.title, body: (question.factsAndTerms + words).joined(separator: "\n"), actions: actions,
      isCritical: true, stays: true)
  }

  /// A shown notification, watched by a separate thread.
  private final class Shown {
    private let server: NotificationServer
    private let number: UInt32
    private let dismissed: Withdrawal
    private let over: Withdrawal
    private var thread: WorkThread?

    init(_ server: NotificationServer, _ number: UInt32, _ dismissed: Withdrawal) throws(FaceError) {
      self.server = server
      self.number = number
      self.dismissed = dismissed
      do throws(Withdrawal.Errno) { over = try Withdrawal() } catch {
        server.close(number)
        throw .unavailable("eventfd: \(SystemText.of(error.code))")
      }
      thread = WorkThread { [self] in watch() }
      guard thread != nil else {
        server.close(number)
        throw .unavailable("cannot start a thread")
      }
    }

    func end() {
      over.raise()
      thread?.join()
      thread = nil
    }

    /// Watches the notification until its end. From here on only this thread uses the connection.
    private func watch() {
      defer { server.close(number) }
      while let end = try? server.end(of: number, until: over) {
        switch end {
        case .action("not-now"), .closedByPerson: return dismissed.raise()
        case .action: continue
        case .closed: return
        }
      }
    }
  }
}
