internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultService

// Addresses that another process hands over. They are trusted less than an address from the daemon's own environment.
extension BusAddress {
  /// The most bytes of an address that is handed over.
  static let longest = 512

  /// Reads an address of one Unix socket.
  ///
  /// - Throws: the refusal of any other text.
  static func handed(_ text: String) throws(Refusal) -> BusAddress {
    let isPlain = text.utf8.count <= longest && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    guard isPlain, !text.contains(";"), let address = BusAddress(text), let name = address.socketName,
      !name.dropFirst().contains(0), name.count <= SocketName.longest
    else { throw .invalid("address") }
    return address
  }

  /// Checks that a process of this user listens at the address.
  ///
  /// - Throws: the refusal of an address at which nobody or another user listens.
  func checkListener() throws(Refusal) {
    guard let name = socketName, let descriptor = SocketName.connected(to: name) else {
      throw .misconfigured("no bus listens at \(text)")
    }
    defer { close(descriptor) }
    guard Self.owner(of: descriptor) == geteuid() else {
      throw .denied("the bus at \(text) belongs to another user")
    }
  }

  /// The user whose process listens at the other end of a connected socket; nil if the kernel does not tell.
  static func owner(of descriptor: Int32) -> uid_t? {
    var peer = vault_peer()
    return unsafe vault_peer_credentials(descriptor, &peer) == 0 ? peer.uid : nil
  }

  /// The name of the socket: a path, or a NUL and an abstract name. Nil if the address is not well-formed.
  var socketName: [UInt8]? {
    guard let first = text.split(separator: ",").first, let equals = first.firstIndex(of: "=") else { return nil }
    guard let value = PercentEscape.strictBytes(first[first.index(after: equals)...]), !value.isEmpty else {
      return nil
    }
    if first.hasPrefix("unix:abstract=") { return [0] + value }
    return value.first == UInt8(ascii: "/") ? value : nil
  }
}
