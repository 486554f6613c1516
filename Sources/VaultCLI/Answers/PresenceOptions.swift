internal import ArgumentParser
internal import VaultModel

/// The options for the place of a `pam` slot's key.
struct PresenceOptions: ParsableArguments {
  static let names = KeystoreKind.allCases.map(\.rawValue).joined(separator: ", ")

  @Option(
    help: ArgumentHelp("The place for the key of a pam slot: \(PresenceOptions.names).", valueName: "keystore"),
    completion: .list(KeystoreKind.allCases.map(\.rawValue)), transform: Words.keystore)
  var keystore: KeystoreKind?

  @Flag(help: "Allow --keystore file in your own vault, where every program that you run can read the key.")
  var insecureFile = false

  /// States the cost of the chosen keystore on standard error, where it does not mix with the result.
  func sayCost() {
    if let keystore { Output.note("note: \(keystore.cost)") }
  }
}
