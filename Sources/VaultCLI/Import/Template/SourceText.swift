internal import VaultBytes
internal import VaultModel

/// The bytes of a source of one file, kept for the template that is made of it.
final class SourceText {
  private(set) var bytes = SecretBuffer()
  private(set) var files = 0

  /// Takes note of a file of `count` bytes.
  func begin(_ count: Int) throws(Failure) {
    files += 1
    guard files == 1 else { throw Self.notOne }
    guard count <= Template.limit else {
      throw Failure(.invalid, "a template has at most \(Counted.size(Template.limit))", "leave --template out")
    }
    bytes.reserve(count)
  }

  /// Takes the next bytes of the file.
  func add(_ part: borrowing SecretBuffer) { part.withBytes { bytes.append($0) } }

  private static let notOne = Failure(
    .invalid, "a template is made of one file, and the source has several", "import each file by itself")
}
