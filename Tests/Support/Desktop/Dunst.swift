import Foundation
import Glibc

/// The notification daemon dunst, on its own display and on the session bus of one sandbox.
///
/// A left click means the default action or, if there are several, opens a menu from which a script picks;
/// a right click closes.
public final class Dunst: Sendable {
  /// True if dunst and a display are available.
  public static let isPossible = unsafe Display.isPossible && access("/usr/bin/dunst", X_OK) == 0
  public static let why: String = "needs Xvfb, xdotool and dunst"

  private static let service = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"
  private static let commands = "org.dunstproject.cmd0"

  private let sandbox: Sandbox
  private let bus: PrivateBus
  private let display: Display
  private let program: PrivateBus.Service
  private var choice: String { sandbox.root + "/choice" }

  /// A notification as it is shown; `message` is the markup that is drawn.
  public struct Shown: Equatable {
    public let summary: String
    public let body: String
    public let message: String
  }

  /// Starts dunst, and returns when it has its name on the bus.
  public init(on bus: PrivateBus) throws {
    (sandbox, self.bus) = (bus.sandbox, bus)
    let menu = sandbox.root + "/menu"
    // A line of the menu has the form: #LABEL (SUMMARY) [NUMBER,KEY]
    try Executable.write("#!/bin/sh\nexec grep -F \",$(cat '\(sandbox.root)/choice')]\"\n", to: menu)
    let settings = sandbox.root + "/dunstrc"
    try """
    [global]
        dmenu = \(menu)
        origin = top-left
        offset = 0x0
        width = 700
        height = 500
        markup = full
        format = "%s\\n%b"
        history_length = 20
        mouse_left_click = do_action
        mouse_right_click = close_current
    [urgency_normal]
        timeout = 0

    """.write(toFile: settings, atomically: true, encoding: .utf8)
    display = try Display(in: sandbox)
    program = try bus.program(
      Self.service, "/usr/bin/env", ["DISPLAY=" + display.name, "/usr/bin/dunst", "-conf", settings])
  }

  /// Ends dunst and its display. Call this, or release this object, before the sandbox is closed.
  public func stop() {
    program.stop()
    display.close()
  }

  deinit { stop() }

  /// Clicks on the notification, and picks the action with that key if there are several.
  public func choose(_ key: String) throws {
    try key.write(toFile: choice, atomically: true, encoding: .utf8)
    try click(1)
  }

  /// Closes the notification, as a person does.
  public func dismiss() throws { try click(3) }

  /// Waits until `count` notifications are shown.
  public func wait(for count: Int) throws {
    let end = ContinuousClock.now + .seconds(60)
    while try shownNow() != "v u \(count)" {
      if ContinuousClock.now > end {
        throw SandboxError("dunst shows \(try shownNow()) and not \(count): \(program.log)")
      }
    }
  }

  /// Closes all notifications, which ``history()`` then returns.
  public func closeAll() throws { try bus.call(Self.service, Self.path, Self.commands, "NotificationCloseAll") }

  /// The notifications that were shown and are closed, the last one first.
  public func history() throws -> [Shown] {
    let outcome = try sandbox.run(
      [
        "--address=" + bus.address, "--json=short", "call", Self.service, Self.path, Self.commands,
        "NotificationListHistory",
      ],
      program: "/usr/bin/busctl")
    struct Text: Decodable { let data: String }
    struct Entry: Decodable { let summary, body, message: Text }
    struct Reply: Decodable { let data: [[Entry]] }
    return try JSONDecoder().decode(Reply.self, from: Data(outcome.output.utf8)).data.joined().map {
      Shown(summary: $0.summary.data, body: $0.body.data, message: $0.message.data)
    }
  }

  private func click(_ button: Int) throws {
    try wait(for: 1)
    try display.click("dunst", x: 30, y: 20, button: button)
  }

  private func shownNow() throws -> String {
    try bus.call(
      Self.service, Self.path, "org.freedesktop.DBus.Properties", "Get", "ss", Self.commands, "displayedLength")
  }
}
