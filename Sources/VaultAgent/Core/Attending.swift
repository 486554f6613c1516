internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultProcess
internal import VaultWire

/// The stream of one vault's inquiries, on a thread of its own.
struct Attending: Sendable {
  let location: SocketLocation
  let isSystem: Bool
  let faces: Faces
  let queue: InquiryQueue
  /// Ends it.
  let end: Withdrawal

  /// Attends, across restarts of the daemon, until the end or a refusal.
  func run() {
    var pause: Int32 = 1000
    while !end.isRaised {
      var vault = Vault(at: location)
      vault.patience = .zero
      vault.cancellation = end.descriptor
      do {
        try vault.attend(faces: faces.names) { event in
          pause = 1000
          take(event)
          return true
        }
      } catch ClientError.fault(.denied(let reason)) {
        complain("may not attend: \(reason)")
        return
      } catch ClientError.disconnected, ClientError.noDaemon, ClientError.fault {
        // It may come back.
      } catch {
        complain("\(error)")
      }
      queue.withdraw(nil, at: location)
      var polled = pollfd(fd: end.descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&polled, 1, pause)
      pause = min(2 * pause, 60_000)
    }
  }

  private func complain(_ text: String) {
    StandardStream.errors.complain("vault-agent", "\(location.path): \(Printable.text(text))")
  }

  private func take(_ event: Wire.AttendReply) {
    switch event.event {
    case "inquiry":
      guard let inquiry = event.inquiry else { return }
      do throws(Withdrawal.Errno) {
        queue.put(try OpenInquiry(inquiry, at: location, isSystem: isSystem))
      } catch { complain("eventfd: error \(error.code)") }
    case "withdrawn": if let number = event.number { queue.withdraw(number, at: location) }
    case "notice": if let notice = notice(event) { faces.tell(notice) }
    default: break
    }
  }

  private func notice(_ event: Wire.AttendReply) -> Notice? {
    let title = isSystem ? "The machine's vault" : "Vault"
    let cause = event.cause.map { ": " + Printable.text($0) } ?? ""
    switch event.notice {
    case "locking": return Notice(title: title, text: "it locks in half a minute" + cause, isUrgent: false)
    case "locked": return Notice(title: title, text: "it is locked" + cause, isUrgent: false)
    case "unlocked": return Notice(title: title, text: "it is unlocked", isUrgent: false)
    case "failed-unlock":
      let who = event.asker.map { " by process \($0.pid) of \(Printable.text($0.user ?? "uid \($0.uid)"))" } ?? ""
      return Notice(title: title, text: "an attempt to open it failed" + who + cause, isUrgent: true)
    case "integrity": return Notice(title: title, text: "the check of the store failed" + cause, isUrgent: true)
    default: return nil
    }
  }
}
