internal import ArgumentParser
internal import VaultModel

/// The place where the key of a `pam` slot is to lie.
struct PresenceOptions: ParsableArguments {
  static let names = KeystoreKind.allCases.map(\.rawValue).joined(separator: ", ")

  @Option(
    help: ArgumentHelp("Where the key of a pam slot lies: \(PresenceOptions.names).", valueName: "keystore"),
    completion: .list(KeystoreKind.allCases.map(\.rawValue)), transform: Words.keystore)
  var keystore: KeystoreKind?

  @Flag(help: "Allow --keystore file in your own vault, where every program of yours can read the key.")
  var insecureFile = false

  /// The cost of the choice, said once it is made; on the error output, where it is in nobody's way.
  func sayCost() {
    if let keystore { Output.note("note: \(keystore.cost)") }
  }
}
