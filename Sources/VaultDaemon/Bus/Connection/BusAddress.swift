internal import VaultBytes

/// The address of a bus: a Unix socket, in the notation of the D-Bus specification.
///
/// Other transports are ignored: one of them starts a program, another uses the network, and the units allow neither.
struct BusAddress: Equatable {
  /// The address in the form that `sd_bus_set_address` takes.
  var text: String

  /// The system bus: `$DBUS_SYSTEM_BUS_ADDRESS`, or the usual socket.
  static func system(_ environment: (String) -> String?) -> BusAddress? {
    BusAddress(environment("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket")
  }

  /// The session bus: `$DBUS_SESSION_BUS_ADDRESS`, or `bus` in `$XDG_RUNTIME_DIR`.
  static func session(_ environment: (String) -> String?) -> BusAddress? {
    if let address = environment("DBUS_SESSION_BUS_ADDRESS") { return BusAddress(address) }
    guard let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") else { return nil }
    return BusAddress("unix:path=" + escape(directory + "/bus"))
  }

  /// Keeps the Unix sockets of a list of addresses; nil when there is none.
  init?(_ list: String) {
    let sockets = list.split(separator: ";").filter { $0.hasPrefix("unix:path=") || $0.hasPrefix("unix:abstract=") }
    guard !sockets.isEmpty else { return nil }
    text = sockets.joined(separator: ";")
  }

  /// True if two addresses lead to the same bus, as far as the texts tell: the id of the bus in them does not count.
  func leads(to other: BusAddress) -> Bool {
    text.split(separator: ",").first == other.text.split(separator: ",").first
  }

  /// The id of the bus in the address, in hexadecimal digits, if it has one.
  var busID: String? {
    let key = "guid="
    return text.split(separator: ",").first { $0.hasPrefix(key) }.map { String($0.dropFirst(key.count)) }
  }

  /// Escapes a path: every byte outside the set `plain` is written in hex (D-Bus specification, Server Addresses).
  private static func escape(_ path: String) -> String {
    let plain = Set("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz/.".utf8)
    return PercentEscape.escaped(path, except: plain.contains)
  }
}
