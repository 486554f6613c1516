internal import CLinux
internal import Glibc
internal import VaultModel

/// The address that a service manager gives its own socket when it connects for a credential. It names the unit and the
/// credential.
///
/// systemd.exec(5), `LoadCredential=`: an abstract address, made of a NUL and `HEX/unit/UNIT/ID`. Any process can make
/// one.
struct CredentialAddress: Equatable {
  let unit: String
  let id: CredentialID

  /// Reads the text after the NUL; nil when it is not such an address.
  init?(parsing text: String) {
    let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, (1...16).contains(parts[0].utf8.count), parts[0].utf8.allSatisfy(Self.isHexDigit),
      parts[1] == "unit", let subject = try? Subject(parsing: "unit:\(parts[2])"), let unit = subject.wholeUnit,
      let id = try? CredentialID(String(parts[3]))
    else { return nil }
    (self.unit, self.id) = (unit, id)
  }

  /// Reads the address at the other end of a socket; nil when it is not such an address.
  init?(of socket: ClientSocket) {
    guard let name = socket.peerName(), name.first == 0, let text = String(validating: name.dropFirst(), as: UTF8.self)
    else { return nil }
    self.init(parsing: text)
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
  }
}
