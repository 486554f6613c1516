/// The program that shows the desktop's notifications (Desktop Notifications Specification 1.2), on its own connection.
///
/// It trusts only messages from the process that owned the name at the beginning, and only those about a notification
/// from this connection.
@safe final class NotificationServer {
  private static let name = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"
  private static let driver = "org.freedesktop.DBus"
  /// Microseconds within which a server must answer.
  private static let patience: UInt64 = 3_000_000
  /// The most signals that are kept while the number of a notification is not known yet.
  private static let kept = 256

  /// The contents of a notification.
  struct Content {
    var summary: String
    /// The text, without markup.
    var body: String
    /// The keys and labels of the buttons.
    var actions: [(key: String, label: String)] = []
    var isCritical: Bool
    /// False for a notification that disappears by itself.
    var stays: Bool
  }

  /// The way in which a notification ended.
  enum End: Equatable {
    /// A click on the button with this key.
    case action(String)
    case closedByPerson
    /// The notification expired, or something else closed it.
    case closed
  }

  private let bus: DesktopBus
  private var owner = ""
  private var capabilities: Set<String> = []
  private var early: [(UInt32, End)] = []

  /// Finds the server, which the bus may start.
  init(_ address: String?, until withdrawal: Withdrawal?) throws(FaceError) {
    bus = try DesktopBus(address)
    for rule in [
      "type='signal',sender='\(Self.name)',path='\(Self.path)',interface='\(Self.name)'",
      "type='signal',sender='\(Self.driver)',interface='\(Self.driver)',member='NameOwnerChanged',arg0='\(Self.name)'",
    ] {
      _ = try callDriver("AddMatch", until: withdrawal) { (message) throws(FaceError) in try message.append(rule) }
    }
    owner = try findOwner(withdrawal)
    let reply = try call("GetCapabilities", until: withdrawal) { (_) throws(FaceError) in }
    guard let list = reply.strings() else { throw .unavailable("the notification server's answer is not understood") }
    capabilities = Set(list)
  }

  /// True when the server's notifications have buttons.
  var hasActions: Bool { capabilities.contains("actions") }

  /// Shows a notification and returns its number.
  func show(_ content: Content, until withdrawal: Withdrawal?) throws(FaceError) -> UInt32 {
    let body = capabilities.contains("body-markup") ? Markup.escaped(content.body) : content.body
    let cookie = try bus.send(to: owner, Self.path, Self.name, "Notify") { (message) throws(FaceError) in
      try message.append("vault")
      try message.append(unsigned: 0)
      try message.append("dialog-password")
      try message.append(content.summary)
      try message.append(body)
      try message.append(list: content.actions.flatMap { [$0.key, $0.label] })
      try message.append("urgency", byte: content.isCritical ? 2 : 1)
      try message.append(signed: content.stays ? 0 : -1)
    }
    do throws(FaceError) { return try number(of: cookie, until: withdrawal) } catch {
      // The server shows it in any case, and nothing else would close it.
      if case .withdrawn = error, let number = try? number(of: cookie, until: nil) { close(number) }
      throw error
    }
  }

  /// Waits for the number of a notification.
  private func number(of cookie: UInt64, until withdrawal: Withdrawal?) throws(FaceError) -> UInt32 {
    let reply = try served(reply(to: cookie, from: owner, withdrawal))
    guard let number = reply.unsigned(), number != 0 else {
      throw .unavailable("the notification server's answer is not understood")
    }
    return number
  }

  /// Waits for the end of a notification.
  func end(of number: UInt32, until withdrawal: Withdrawal) throws(FaceError) -> End {
    while true {
      if let index = early.firstIndex(where: { $0.0 == number }) { return early.remove(at: index).1 }
      early = []
      try note(bus.next(until: withdrawal, by: nil))
    }
  }

  /// Closes a notification, without waiting for the server.
  func close(_ number: UInt32) {
    _ = try? bus.send(to: owner, Self.path, Self.name, "CloseNotification") { (message) throws(FaceError) in
      try message.append(unsigned: number)
    }
  }

  private func findOwner(_ withdrawal: Withdrawal?) throws(FaceError) -> String {
    for isLast in [false, true] {
      let reply = try callDriver("GetNameOwner", until: withdrawal) { (message) throws(FaceError) in
        try message.append(Self.name)
      }
      if reply.error == nil, let owner = reply.string() { return owner }
      if isLast { break }
      _ = try callDriver("StartServiceByName", until: withdrawal) { (message) throws(FaceError) in
        try message.append(Self.name)
        try message.append(unsigned: 0)
      }
    }
    throw .unavailable("nothing shows notifications")
  }

  private func callDriver(
    _ member: String, until withdrawal: Withdrawal?, _ arguments: (DesktopMessage) throws(FaceError) -> Void
  ) throws(FaceError) -> DesktopMessage {
    let cookie = try bus.send(to: Self.driver, "/org/freedesktop/DBus", Self.driver, member, arguments)
    return try reply(to: cookie, from: Self.driver, withdrawal)
  }

  private func call(
    _ member: String, until withdrawal: Withdrawal?, _ arguments: (DesktopMessage) throws(FaceError) -> Void
  ) throws(FaceError) -> DesktopMessage {
    let cookie = try bus.send(to: owner, Self.path, Self.name, member, arguments)
    return try served(reply(to: cookie, from: owner, withdrawal))
  }

  private func served(_ reply: DesktopMessage) throws(FaceError) -> DesktopMessage {
    if let error = reply.error { throw .unavailable("the notification server says \(error)") }
    return reply
  }

  /// Waits for a reply. The sender is checked, because another connection could send a reply with the same number.
  private func reply(
    to cookie: UInt64, from sender: String, _ withdrawal: Withdrawal?
  ) throws(FaceError) -> DesktopMessage {
    let deadline = Clock.now() + Self.patience
    while true {
      let message = try bus.next(until: withdrawal, by: deadline)
      if message.repliesTo == cookie {
        // The bus answers in place of a sender that has gone.
        if message.sender == sender || (message.sender == Self.driver && message.error != nil) { return message }
      } else {
        try note(message)
      }
    }
  }

  /// Keeps a signal that reports the end of a notification.
  private func note(_ message: DesktopMessage) throws(FaceError) {
    if message.sender == Self.driver, message.isSignal(Self.driver, "NameOwnerChanged") {
      guard message.string() == Self.name, let old = message.string(), !owner.isEmpty, old == owner else { return }
      throw .unavailable("the notification server went away")
    }
    guard message.sender == owner, !owner.isEmpty else { return }
    if message.isSignal(Self.name, "ActionInvoked") {
      guard let number = message.unsigned(), let key = message.string() else { return }
      keep(number, .action(key))
    } else if message.isSignal(Self.name, "NotificationClosed") {
      guard let number = message.unsigned(), let reason = message.unsigned() else { return }
      keep(number, reason == 2 ? .closedByPerson : .closed)
    }
  }

  private func keep(_ number: UInt32, _ end: End) {
    if early.count < Self.kept { early.append((number, end)) }
  }
}

/// The markup in the body of a notification.
enum Markup {
  /// Escapes text so that it is shown exactly as it is.
  static func escaped(_ text: String) -> String {
    text.reduce(into: "") { escaped, character in
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.append(character)
      }
    }
  }
}
