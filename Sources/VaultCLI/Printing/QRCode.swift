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
    let path = try Helper.path(of: program)
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
  /// The path of an installed helper.
  ///
  /// - Throws: ``Failure`` if the helper is not where this program or a build of it has its helpers.
  static func path(of name: String) throws(Failure) -> String {
    if let path = OwnProgram.helper(name) { return path }
    if let path = OwnProgram.barredHelper(name) { throw .notExecutable(path) }
    throw Failure(.unavailable, "\(name) is not installed below libexec, nor beside vault", "install it")
  }
}
