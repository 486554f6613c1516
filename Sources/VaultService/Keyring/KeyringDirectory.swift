internal import VaultModel

/// The collections of the keyring that programs have made, and the one that is the default. Both lie in the clear in
/// the file `keyring` beside the store, so that paths and aliases are known before the first unlock.
///
/// The file is a copy for that time only: what counts is in the vault's items (``Keyring/Records``), and each unlock
/// writes the file anew if it differs. A change of the file is worth nothing to an attacker: at worst, a program looks
/// for its secrets in another collection until the next unlock.
struct KeyringDirectory: Equatable {
  /// The most collections that programs can make.
  static let most = 256

  /// The collections that programs have made, in the order in which they were made.
  var made: [CollectionID] = []
  var standard = CollectionID.login

  /// All collections in the order in which programs see them, without the shared items.
  var all: [CollectionID] { [.login] + made + [.session] }

  func has(_ collection: CollectionID) -> Bool { collection != .shared && all.contains(collection) }

  // MARK: The file

  private static let header = "vault keyring 1"

  var text: String {
    let lines = [Self.header, "default \(standard.element)"] + made.map { "collection \($0.element)" }
    return lines.map { $0 + "\n" }.joined()
  }

  init() {}

  /// Reads the file's text; nil if no program of ours wrote it.
  init?(parsing text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.first == Self.header[...], lines.last?.isEmpty == true, lines.count - 3 <= Self.most else { return nil }
    for (index, line) in lines.dropFirst().dropLast().enumerated() {
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      guard words.count == 2, let collection = CollectionID(element: String(words[1])) else { return nil }
      switch (index, words[0]) {
      case (0, "default"): standard = collection
      case (1..., "collection"):
        guard case .made = collection, !made.contains(collection) else { return nil }
        made.append(collection)
      default: return nil
      }
    }
    guard has(standard), standard != .session else { return nil }
  }
}

/// The file that keeps a ``KeyringDirectory`` beside the store, mode 0600.
struct KeyringFile {
  private let path: String

  init(directory: String) { path = directory + "/keyring" }

  /// Reads the file. A file that is missing, or that another user could have written, tells nothing.
  ///
  /// - Parameter doubt: called with the reason why the file is not used, if there is one.
  func read(doubt: (String) -> Void) -> KeyringDirectory {
    do throws(TextFile.Problem) {
      if let read = KeyringDirectory(parsing: try TextFile.readOwn(path, limit: 64 << 10)) { return read }
      doubt("\(path) is not a list of collections")
    } catch .missing {
    } catch {
      doubt("\(path) is not used")
    }
    return KeyringDirectory()
  }

  func write(_ directory: KeyringDirectory) throws(SystemError) { try TextFile.replace(path, with: directory.text) }
}
