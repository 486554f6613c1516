/// The reason why a call on a bus failed.
struct BusError: Error, Equatable, CustomStringConvertible {
  /// The error's D-Bus name.
  var name: String
  var text: String

  /// The bus is not there, or went away before the answer came.
  static let disconnected = BusError(name: "org.freedesktop.DBus.Error.Disconnected", text: "there is no connection")
  /// The reply does not have the expected type.
  static let malformed = BusError(
    name: "org.freedesktop.DBus.Error.InvalidArgs", text: "the message has the wrong type")

  /// The call was dropped, and nobody will answer it.
  static let failed = BusError(name: "org.freedesktop.DBus.Error.Failed", text: "the call failed")

  /// The caller may not know or do this.
  static func denied(_ text: String) -> BusError {
    BusError(name: "org.freedesktop.DBus.Error.AccessDenied", text: text)
  }

  /// There is too much of something.
  static func tooMuch(_ text: String) -> BusError {
    BusError(name: "org.freedesktop.DBus.Error.LimitsExceeded", text: text)
  }

  static func unknownObject(_ path: String) -> BusError {
    BusError(name: "org.freedesktop.DBus.Error.UnknownObject", text: "Unknown object '\(path)'.")
  }

  static func unknownInterface(_ interface: String) -> BusError {
    BusError(name: "org.freedesktop.DBus.Error.UnknownInterface", text: "Unknown interface '\(interface)'.")
  }

  static func readOnly(_ property: String) -> BusError {
    BusError(name: "org.freedesktop.DBus.Error.PropertyReadOnly", text: "Property '\(property)' is not writable.")
  }

  /// The values of a message have other types than these.
  static func expected(_ types: String, not other: String) -> BusError {
    BusError(
      name: "org.freedesktop.DBus.Error.InvalidArgs", text: "Invalid arguments '\(other)', expecting '\(types)'.")
  }

  /// True when nobody owns the called name, and no service could be started for it.
  var isNoService: Bool {
    ["ServiceUnknown", "NameHasNoOwner", "Spawn.ServiceNotFound"].contains {
      name == "org.freedesktop.DBus.Error." + $0
    }
  }

  var description: String { text.isEmpty ? name : text }
}
