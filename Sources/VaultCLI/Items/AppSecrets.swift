internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The secrets with which sandboxed programs encrypt their data (vault-secret-service(7)).
enum AppSecrets {
  /// The most programs that a question names.
  private static let mostLines = 20

  /// Returns the ID of the program whose secret the item is; nil for any other item.
  static func app(_ item: Wire.Item) -> String? {
    let pairs = item.keyring?.attributes.map { (key: $0.key, value: $0.value) } ?? []
    return (try? KeyringAttributes(pairs))?.portalApp
  }

  /// Returns the programs whose secrets are among the items with these names. A secret that was moved to another folder
  /// has a name that says nothing, so the items themselves are examined.
  static func apps(among names: [String], _ session: Session) throws(Failure) -> [String] {
    // Few items are looked at one by one. Items that cannot be found are left to the deletion, which reports them.
    if names.count <= 16 { return names.compactMap { name in (try? session.look(at: name)).flatMap(app) } }
    let wanted = Set(names.map { Array($0.utf8) })
    let items = try session.call { vault in try vault.find("name~\(Predicates.quote("**"))") }
    return items.filter { wanted.contains(Array($0.name.utf8)) }.compactMap(app)
  }

  /// A line for each program about its loss.
  static func lines(_ apps: [String]) -> [String] {
    let lines = apps.prefix(mostLines).map { app in
      let program = app.isEmpty ? "a program outside of sandboxes" : Printable.whole(app)
      return "\(program) could not read its own data any more"
    }
    return lines + (apps.count > mostLines ? ["and \(apps.count - mostLines) more programs"] : [])
  }
}
