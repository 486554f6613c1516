package import VaultCore
package import VaultModel
package import VaultStore

/// The store as the daemon found it: none, an open one, or one that cannot be opened and is left untouched.
package struct OpenStore {
  package enum Content {
    case none
    case open(Keychain)
    case unreadable(VaultError)
  }

  private let directory: String
  package private(set) var content = Content.none
  /// The reason why the `always` items are not served; nil if they are.
  package private(set) var bootKeyProblem: String?
  /// True if the boot key could not be read; it may still be the right key.
  package private(set) var isBootKeyUnread = false
  /// The file that the boot key was read from, as it was then; nil if there was none.
  private(set) var bootKeyFile: FileStamp?
  /// True while the boot key is being fetched.
  package private(set) var isAwaitingBootKey = false

  package init(directory: String) { self.directory = directory }

  /// Opens the store. The caller calls ``openAlways(_:from:)`` next.
  mutating func open() {
    do throws(VaultError) {
      let keychain = try Keychain(opening: directory)
      keychain.keyCheck = KeyCheck.publicKey
      keychain.partsCheck = KeyCheck.checkParts
      content = .open(keychain)
    } catch .noVault {
      content = .none
    } catch {
      content = .unreadable(error)
    }
  }

  /// Closes the store, even if other objects still refer to it.
  package mutating func close() throws(VaultError) {
    guard case .open(let keychain) = content else { return }
    content = .none
    try keychain.close()
  }

  package mutating func awaitBootKey() { isAwaitingBootKey = true }

  /// Opens the `always` items with the key found at `bootKey`, or keeps the reason why there is none.
  package mutating func openAlways(_ found: consuming Result<SecureBytes, KeystoreError>, from bootKey: BootKey) {
    isAwaitingBootKey = false
    (bootKeyProblem, isBootKeyUnread) = (nil, false)
    bootKeyFile = bootKey.path.flatMap { FileStamp($0) }
    let reason: String
    switch consume found {
    case .success(let key):
      guard case .open(let keychain) = content else { return }
      do throws(VaultError) { return try keychain.openAlways(bootKey: key) } catch {
        reason = bootKey.problem(error)
      }
    case .failure(let error):
      reason = error.reason
      isBootKeyUnread = error.code == .refused || error.code == .unavailable
    }
    bootKeyProblem = reason
  }
}
