internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The secrets with which sandboxed programs encrypt their data (vault-secret-service(7)).
enum AppSecrets {
  /// The most programs that a question names.
  private static let mostLines = 20

  /// The program whose secret an item is, as its id; nil for other items.
  static func app(_ item: Wire.Item) -> String? {
    let pairs = item.keyring?.attributes.map { (key: $0.key, value: $0.value) } ?? []
    return (try? KeyringAttributes(pairs))?.portalApp
  }

  /// The programs whose secrets are among the items of these names. A secret that was moved to another folder has a
  /// name that says nothing.
  static func apps(among names: [String], _ session: Session) throws(Failure) -> [String] {
    // A few items are looked at; of items that cannot be found, the deletion says more.
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
