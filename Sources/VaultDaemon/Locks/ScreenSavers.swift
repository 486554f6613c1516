/// The screen lockers that announce on the session bus when they cover the screen.
///
/// All of them send `ActiveChanged(true)`, each under its own name: KDE and most small desktops use the freedesktop
/// name (Idle Inhibition Service draft), GNOME and Xfce their own.
final class ScreenSavers {
  private struct Kind {
    var name: String
    var path: String
  }

  private static let kinds = [
    Kind(name: "org.freedesktop.ScreenSaver", path: "/org/freedesktop/ScreenSaver"),
    Kind(name: "org.gnome.ScreenSaver", path: "/org/gnome/ScreenSaver"),
    Kind(name: "org.xfce.ScreenSaver", path: "/org/xfce/ScreenSaver"),
  ]

  /// The names of the lockers that are on the bus.
  var watched: [String] { names.filter { $0.owner != nil }.map(\.name) }

  /// The reason why nobody knows whether one of the lockers is on the bus; nil if that is known.
  var doubt: String? { names.lazy.compactMap(\.doubt).first }

  private let names: [BusName]

  /// - Parameter onLock: runs with the locker's name when it has covered the screen.
  init(on bus: Bus, onLock: @escaping (_ name: String) -> Void) {
    names = Self.kinds.map { kind in
      let name = BusName(kind.name, on: bus)
      // The signal may come from any object, because KDE has two objects for its locker.
      name.onSignal(kind.name, "ActiveChanged") { message in
        if (try? message.flag()) == true { onLock(kind.name) }
      }
      name.onChange = { [unowned bus, unowned name] in
        guard name.owner != nil else { return }
        // The locker may have covered the screen before the daemon could hear it. Not every locker answers.
        bus.call(name.object(kind.path, kind.name).method("GetActive"), starts: false) { result in
          if let reply = try? result.get(), (try? reply.flag()) == true { onLock(kind.name) }
        }
      }
      return name
    }
  }
}
