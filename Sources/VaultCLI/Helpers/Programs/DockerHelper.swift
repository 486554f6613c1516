internal import ArgumentParser
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Docker's credential store, as docker-credential-helpers defines it: JSON in and out. An error is one line on
/// standard output, and docker recognizes some errors by their text.
///
/// The item `docker/ghcr.io` holds the secret for that registry, with or without `https://` before it. Its attribute
/// `username` names the user.
enum DockerHelper: CredentialHelper {
  static let name = "docker"
  static let links = ["docker-credential-vault"]
  static let programs = "docker, and podman, buildah, skopeo and others with docker's credential helpers"
  static let guide = """
    In ~/.docker/config.json:

      { "credsStore": "vault" }

    or for one registry alone:

      { "credHelpers": { "ghcr.io": "vault" } }

    What docker stores for ghcr.io is the item docker/ghcr.io, whose attribute username is the user name.
    """

  private static let username = "username"
  private static let notFound = Failure(.missing, "credentials not found in native keychain")
  private static let noURL = Failure(.usage, "no credentials server URL")
  private static let noSecret = Failure(.usage, "no credentials secret")
  private static let noUsername = Failure(.usage, "no credentials username")

  static func run(_ call: HelperCall) throws {
    do throws(Failure) { try answer(call) } catch {
      try Output.line(Printable.line(error.message))
      throw ExitCode(1)
    }
  }

  private static func answer(_ call: HelperCall) throws(Failure) {
    guard call.words.count == 1 else { throw Failure(.usage, "Usage: \(links[0]) <store|get|erase|list|version>") }
    switch call.words[0] {
    case "store": try store(call)
    case "get": try get(call)
    case "erase": try erase(call)
    case "list": try list(call)
    case "version": try Output.line("\(links[0]) (vault) v\(ClientVersion.text)")
    default: throw Failure(.usage, "Unknown credential action `\(call.words[0])`")
    }
  }

  private static func get(_ call: HelperCall) throws(Failure) {
    let server = try server()
    let items = try HelperItems(call, for: "docker credentials for \(server)")
    let names = URLSpelling(server).all.map(name)
    guard let entry = try items.first(of: names, { name throws(Failure) in try items.entry(name) }) else {
      throw notFound
    }
    guard let user = entry.item.attributes[username], !user.isEmpty else {
      // Docker shows its own words; these are for the person who set the item.
      let set = Hint.vault("set \(Printable.line(entry.item.name)) --update --keep-value --attr \(username)=USER")
      Output.note("\(Printable.quoted(entry.item.name)) has no attribute \(username); \(set) adds it")
      throw noUsername
    }
    try Output.json { object throws(Failure) in
      object.add("ServerURL", server)
      object.add("Username", user)
      try object.add("Secret", entry.value.bytes, of: entry.item.name)
    }
  }

  private static func store(_ call: HelperCall) throws(Failure) {
    let text = try HelperInput.whole()
    let frame = try HelperInput.object(text)
    guard let server = frame.text("ServerURL"), !server.isEmpty else { throw noURL }
    guard let user = frame.text("Username"), !user.isEmpty else { throw noUsername }
    // If the secret is missing or empty, the stored one must stay.
    guard let secret = frame.member("Secret", of: frame.root).flatMap({ frame.secret($0) }), secret.count > 0 else {
      throw noSecret
    }
    var about = HelperItems.About()
    about.attributes = [username: user]
    let items = try HelperItems(call, for: "docker credentials for \(server)")
    let spelling = URLSpelling(server)
    try items.store(try items.stored(spelling, name) ?? name(of: spelling.usual), secret, as: .text, about)
  }

  private static func erase(_ call: HelperCall) throws(Failure) {
    let server = try server()
    let items = try HelperItems(call, for: "docker credentials for \(server)")
    guard let found = try items.stored(URLSpelling(server), name), try items.erase([found]) else { throw notFound }
  }

  private static func list(_ call: HelperCall) throws(Failure) {
    let items = try HelperItems(call, for: "docker credentials")
    let now = Int64(time(nil))
    let found = try items.items(in: name).filter { $0.expires.map { $0 > now } ?? true }.sorted { $0.name < $1.name }
    try Output.json { object in
      for item in found {
        guard let bytes = NameSegment.decode(item.name.dropFirst(name.count + 1)),
          let server = String(validating: bytes, as: UTF8.self)
        else { continue }
        object.add(server, item.attributes[username] ?? "")
      }
    }
  }

  /// The registry that standard input names.
  private static func server() throws(Failure) -> String {
    let text = try HelperInput.text()
    guard !text.isEmpty else { throw noURL }
    return text
  }

  private static func name(of server: String) -> String { "\(name)/\(NameSegment.encode(server))" }
}
