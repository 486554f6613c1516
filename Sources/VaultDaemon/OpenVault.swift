internal import VaultCore
internal import VaultStore

/// The store as the daemon found it: none, one that is open, or one that cannot be opened and is left untouched.
struct OpenVault {
  enum Content {
    case none
    case open(Keychain)
    case unreadable(VaultError)
  }

  private let directory: String
  private(set) var content = Content.none
  /// Why the `always` items are not served, if they are not.
  private(set) var bootKeyProblem: String?

  init(directory: String) { self.directory = directory }

  /// Opens the store, and what the boot key opens of it.
  mutating func open(bootKey path: String) {
    do throws(VaultError) {
      let keychain = try Keychain(opening: directory)
      content = .open(keychain)
      openAlways(keychain, bootKey: path)
    } catch .noVault {
      content = .none
    } catch {
      content = .unreadable(error)
    }
  }

  private mutating func openAlways(_ keychain: Keychain, bootKey path: String) {
    bootKeyProblem = nil
    do {
      try keychain.openAlways(bootKey: BootKey.read(path))
    } catch BootKey.Problem.missing {
      bootKeyProblem = "there is no boot key at \(path): `always` items are served only after an unlock"
    } catch BootKey.Problem.unusable(let reason) {
      bootKeyProblem = "\(reason): `always` items are served only after an unlock"
    } catch {
      bootKeyProblem = "the boot key at \(path) is not this vault's: `always` items are served only after an unlock"
    }
  }
}
