internal import CSecret
internal import Glibc
internal import VaultHelper
internal import VaultModel
internal import VaultWire

/// The program `vault-keyring`: keeps presence keys in another Secret Service, such as GNOME Keyring or KeePassXC, and
/// moves items between such a keyring and the vault.
///
/// For the daemon it never prompts, because nobody is there to answer a program that a daemon started. A locked keyring
/// counts as unavailable then.
public enum Keyring {
  /// Runs the program and returns its exit code (sysexits.h).
  public static func main(_ arguments: [String]) -> Int32 {
    guard arguments == ["transfer"] else { return program.main(arguments) }
    return HelperProgram.converse("vault-keyring", frames: ProviderCall.frameLimit) { conversation in
      var conversation = conversation
      Transfer.run(&conversation)
      return 0
    }
  }

  static let program = KeystoreProgram(name: "vault-keyring") {
    request, key throws(KeystoreError) -> KeystoreReply in
    let items = try PresenceItems(provider: Provider(busName(request.place), unlike: getppid()), vault: request.vault)
    switch request.operation {
    case .store: return .stored(locator: Array(try items.store(key).utf8))
    case .fetch: return .fetched(key: try items.fetch(try id(request.locator)))
    case .remove:
      try items.remove(try id(request.locator))
      return .removed
    }
  }

  /// The bus name from the settings, or else from libsecret's own variable, or else the usual name.
  private static func busName(_ place: String) -> String {
    if !place.isEmpty { return place }
    // The environment is read before GLib starts a thread.
    if let name = unsafe getenv("SECRET_SERVICE_BUS_NAME") { return unsafe String(cString: name) }
    return "org.freedesktop.secrets"
  }

  /// Reads a key's id from its locator: 32 hex digits.
  private static func id(_ locator: [UInt8]) throws(KeystoreError) -> String {
    let digits = Set("0123456789abcdef".utf8)
    guard locator.count == 32, locator.allSatisfy(digits.contains) else {
      throw KeystoreError(.damaged, "the slot does not say which key of the keyring is its own")
    }
    return String(decoding: locator, as: UTF8.self)
  }

  static func newID() throws(KeystoreError) -> String {
    var random: (UInt64, UInt64) = (0, 0)
    guard unsafe vault_random(&random, 16) != 0 else { throw KeystoreError(.unavailable, "no random bytes") }
    let digits = [random.0, random.1].map { part in
      let text = String(part, radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }
    return digits.joined()
  }
}

/// Takes the message out of a GError and frees the error.
func takeMessage(_ error: inout UnsafeMutablePointer<GError>?) -> String {
  guard let failure = unsafe error else { return "no reason given" }
  let message = unsafe failure.pointee.message.map { unsafe String(cString: $0) } ?? "no reason given"
  unsafe g_clear_error(&error)
  return message
}
