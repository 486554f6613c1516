internal import VaultModel

/// An item of a helper's folder that a person named in the other program's settings.
enum NamedItem {
  /// Returns the name of the one item that the words name. The word is not encoded, since a valid name cannot leave the
  /// folder.
  static func name(_ call: HelperCall) throws(Failure) -> String {
    if call.words.isEmpty { throw call.lacking("the name of an item in the folder \(call.helper.name)") }
    guard call.words.count == 1 else { throw call.unusable }
    return try name(call.words[0], in: call.helper.name)
  }

  static func name(_ word: String, in folder: String) throws(Failure) -> String {
    let name = "\(folder)/\(word)"
    do throws(NameError) { _ = try ItemName(name) } catch {
      throw Failure(.usage, "\(Printable.quoted(name)) is not a valid item name: \(error.reason)", "choose another")
    }
    return name
  }

  /// The failure for an item that is missing or has expired.
  static func missing(_ name: String) -> Failure {
    Failure(.missing, "no item \(Printable.quoted(name)), or it has expired", "store it with \(Hint.vault("set"))")
  }
}
