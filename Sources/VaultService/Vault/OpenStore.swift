package import VaultCore
package import VaultModel
package import VaultStore

/// The store as the daemon found it: none, one that is open, or one that cannot be opened and is left untouched.
package struct OpenStore {
  package enum Content {
    case none
    case open(Keychain)
    case unreadable(VaultError)
  }

  private let directory: String
  package private(set) var content = Content.none
  /// The reason why the `always` items are not served, if they are not.
  package private(set) var bootKeyProblem: String?
  /// True when the boot key is still on its way.
  package private(set) var isAwaitingBootKey = false

  package init(directory: String) { self.directory = directory }

  /// Opens the store. ``openAlways(_:from:)`` comes next.
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

  /// Closes the store, whoever still refers to it.
  package mutating func close() throws(VaultError) {
    guard case .open(let keychain) = content else { return }
    content = .none
    try keychain.close()
  }

  package mutating func awaitBootKey() { isAwaitingBootKey = true }

  /// Opens the `always` items with the key that came from `bootKey`, or says why there is none.
  package mutating func openAlways(_ found: consuming Result<SecureBytes, KeystoreError>, from bootKey: BootKey) {
    isAwaitingBootKey = false
    bootKeyProblem = nil
    let reason: String
    switch consume found {
    case .success(let key):
      guard case .open(let keychain) = content else { return }
      do throws(VaultError) { return try keychain.openAlways(bootKey: key) } catch {
        reason = "the boot key at \(bootKey.place) is not this vault's"
      }
    case .failure(let error): reason = error.reason
    }
    bootKeyProblem = reason
  }
}
