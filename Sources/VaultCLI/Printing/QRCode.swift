internal import Glibc
internal import VaultBytes
internal import VaultProcess
internal import VaultWire

/// Draws a secret on standard output as a QR code for a camera, with the program `vault-qr`.
enum QRCode {
  private static let program = "vault-qr"

  /// Draws a text.
  ///
  /// - Parameter text: the text for the camera. The program gets it on its standard input.
  static func show(_ text: borrowing SecretBuffer) throws(Failure) {
    guard let path = Helper.path(of: program) else {
      throw Failure(.unavailable, "\(program) is not installed below libexec, nor beside vault", "install it")
    }
    switch text.withBytes({ Tool.feed([path], $0, output: STDOUT_FILENO) }) {
    case 0: return
    case 65: throw Failure(.invalid, "it is too long for a QR code", "print it without --qr")
    case 69: throw Failure(.unavailable, "the terminal is too narrow for the QR code", "widen it, or zoom out")
    case 74: throw Failure(.io, "cannot write the output", "check the space or the other end of the pipe")
    default: throw Failure(.software, "\(program) failed", "run `\(path) --help` to see whether it starts")
    }
  }
}

/// The programs that the client starts because they need libraries which a static client lacks.
enum Helper {
  /// The path of an installed helper: below `libexec` beside the directory of `vault`, or in the directory of `vault`
  /// itself, as in a build. Nil if it is in neither.
  static func path(of name: String) -> String? {
    guard let directory = ownDirectory() else { return nil }
    return ["\(directory)/../libexec/vault/\(name)", "\(directory)/\(name)"].first { path in
      unsafe access(path, X_OK) == 0
    }
  }

  private static func ownDirectory() -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
    guard count > 0, count < bytes.count else { return nil }
    let path = String(validating: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return path.flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
  }
}
