internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The executable of Google Cloud's executable-sourced credentials (AIP-4117).
///
/// The item `gcp/ci` holds an OIDC token or a SAML response.
enum GCPHelper: CredentialHelper {
  static let name = "gcp"
  static let links: [String] = []
  static let programs = "Google Cloud's libraries, by workload identity federation"
  static let takesTypedWords = true
  static let guide = """
    In the credential configuration that GOOGLE_APPLICATION_CREDENTIALS names:

      "credential_source": {
        "executable": {
          "command": "/usr/bin/vault helper gcp ci",
          "timeout_millis": 5000
        }
      }

    with GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1 in the environment, and the token:

      vault set gcp/ci --expires 1h

    The token's type is the one that the configuration names.
    """

  private static let saml = "urn:ietf:params:oauth:token-type:saml2"
  private static let idToken = "urn:ietf:params:oauth:token-type:id_token"

  static func run(_ call: HelperCall) throws {
    do throws(Failure) { try answer(call) } catch {
      try Output.json { writer in
        writer.beginObject()
        writer.key("version")
        writer.integer(1)
        writer.key("success")
        writer.bool(false)
        writer.key("code")
        writer.string("\(error.exit.rawValue)")
        writer.key("message")
        writer.string("vault: \(Printable.line(error.message))")
        writer.endObject()
      }
      throw ExitCode(error.exit.rawValue)
    }
  }

  private static func answer(_ call: HelperCall) throws(Failure) {
    let name = try NamedItem.name(call)
    let mayAsk = Environment.variable("GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE") != "0"
    let items = try HelperItems(call, for: "vault helper gcp \(call.words[0])", mayAsk: mayAsk)
    guard let entry = try items.entry(name) else { throw NamedItem.missing(name) }
    let type = Environment.variable("GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE") ?? idToken
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("version")
    writer.integer(1)
    writer.key("success")
    writer.bool(true)
    writer.key("token_type")
    writer.string(type)
    writer.key(type == saml ? "saml_response" as StaticString : "id_token")
    try writer.secret(entry.value.bytes, of: name)
    if let expires = entry.item.expires {
      writer.key("expiration_time")
      writer.integer(expires)
    }
    writer.endObject()
    try Output.json(writer.take())
  }
}
