internal import CLinux
internal import Glibc
internal import VaultModel

/// The address that a service manager gives its own socket when it connects for a credential: which unit it is for, and under
/// which name.
///
/// systemd.exec(5), `LoadCredential=`: an abstract address, a NUL and then `HEX/unit/UNIT/ID`. Anybody can make one.
struct CredentialAddress: Equatable {
  let unit: String
  let id: CredentialID

  /// Reads what stands behind the NUL; nil where it is no such address.
  init?(parsing text: String) {
    let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, (1...16).contains(parts[0].utf8.count), parts[0].utf8.allSatisfy(Self.isHexDigit),
      parts[1] == "unit", let subject = try? Subject(parsing: "unit:\(parts[2])"), let unit = subject.wholeUnit,
      let id = try? CredentialID(String(parts[3]))
    else { return nil }
    (self.unit, self.id) = (unit, id)
  }

  /// The address at the other end of a socket; nil where it is no such one.
  init?(of socket: ClientSocket) {
    guard let name = socket.peerName(), name.first == 0, let text = String(validating: name.dropFirst(), as: UTF8.self)
    else { return nil }
    self.init(parsing: text)
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
  }
}
