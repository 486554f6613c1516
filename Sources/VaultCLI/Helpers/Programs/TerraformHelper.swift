internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The credentials helper of Terraform and OpenTofu ("Credentials Helpers" in Terraform's internals documentation).
///
/// The item `terraform/app.terraform.io` holds the token for that host.
enum TerraformHelper: CredentialHelper {
  static let name = "terraform"
  static let links = ["terraform-credentials-vault"]
  static let programs = "terraform, and tofu"
  static let guide = """
    A link, where Terraform looks for it:

      mkdir -p ~/.terraform.d/plugins
      ln -s "$(command -v vault)" \\
        ~/.terraform.d/plugins/terraform-credentials-vault

    and in ~/.terraformrc (~/.tofurc):

      credentials_helper "vault" {}

    `terraform login` then stores the token for app.terraform.io as the item terraform/app.terraform.io.
    """

  static func run(_ call: HelperCall) throws {
    if call.words.isEmpty { throw call.lacking("an action: get, store or forget") }
    if call.words.count == 1 { throw call.lacking("the name of a host") }
    guard call.words.count == 2 else { throw call.unusable }
    let host = call.words[1]
    let spelling = URLSpelling(host)
    let items = try HelperItems(call, for: "terraform, a token for \(host)")
    switch call.words[0] {
    case "get": try get(spelling, items)
    case "store":
      let name = try items.stored(spelling, name) ?? name(of: spelling.usual)
      try items.store(name, token(), as: .text, HelperItems.About(kind: .apiKey))
    case "forget":
      // A missing token counts as forgotten.
      if let found = try items.stored(spelling, name) { try items.erase([found]) }
    default: throw call.unusable
    }
  }

  private static func name(of host: String) -> String { "\(name)/\(NameSegment.encode(host))" }

  private static func get(_ spelling: URLSpelling, _ items: HelperItems) throws(Failure) {
    var object = JSONBuilder()
    // An empty object means that there is no token.
    let names = spelling.all.map(name)
    if let value = try items.first(of: names, { name throws(Failure) in try items.value(name) }) {
      try object.add("token", value.bytes, of: value.name)
    }
    try Output.json(object.take())
  }

  /// Returns the token from the object on standard input. An object with more members cannot be stored, and that must
  /// be an error.
  private static func token() throws(Failure) -> SecretBuffer {
    let object = try HelperInput.object(HelperInput.whole())
    guard object.members(of: object.root).map(\.key) == ["token"],
      let token = object.member("token", of: object.root).flatMap({ object.secret($0) })
    else { throw Failure(.invalid, "only credentials that consist of a token alone can be stored") }
    return token
  }
}
