internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The one line of a file that holds a vault's public key or a value sealed to such a key. The file may have other
/// lines before and after it.
enum DepositLine {
  /// The most bytes of a file with a key and of a file with a sealed value. The longest sealed value is 1 MiB in
  /// base64.
  private static let (longestKey, longestBox) = (64 << 10, 2 << 20)

  /// Returns the key from a file that `vault show-key` wrote; `-` means standard input.
  static func key(in path: String) throws(Failure) -> String {
    try find(
      "vault-key:", in: path, limit: longestKey, "holds no key of a vault", "name the output of `vault show-key`")
  }

  /// Returns the sealed value from a file that `vault deposit --seal` wrote; `-` means standard input.
  static func box(in path: String) throws(Failure) -> String {
    try find(
      "vault-deposit:", in: path, limit: longestBox, "holds no sealed deposit",
      "name the output of `vault deposit --seal`")
  }

  private static func find(
    _ prefix: String, in path: String, limit: Int, _ problem: String, _ advice: String
  ) throws(Failure) -> String {
    let content: SecretBuffer
    do throws(Failure) { content = try FileInput.readFile(path, limit: limit) } catch {
      throw error.exit == .invalid ? Failure(.invalid, error.event, advice) : error
    }
    let line = content.withBytes { bytes in Self.line(of: Span<UInt8>(_bytes: bytes), prefix) }
    let name = path == "-" ? "standard input" : Printable.quoted(path)
    guard let line else { throw Failure(.invalid, "\(name) \(problem)", advice) }
    return line
  }

  /// Returns the first line that begins with `prefix`, without the blanks at its end; nil if there is none or the line
  /// is not printable ASCII.
  static func line(of bytes: Span<UInt8>, _ prefix: String) -> String? {
    let lines = bytes.indices.map { bytes[$0] }.split(separator: UInt8(ascii: "\n"))
    guard var line = lines.first(where: { $0.starts(with: prefix.utf8) }) else { return nil }
    while let last = line.last, last == 0x20 || last == 0x09 || last == 0x0D { line.removeLast() }
    return line.allSatisfy { (0x21...0x7E).contains($0) } ? String(decoding: line, as: UTF8.self) : nil
  }
}
