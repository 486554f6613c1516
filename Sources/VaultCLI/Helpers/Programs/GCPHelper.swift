internal import ArgumentParser
internal import VaultBytes
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
      try Output.json { object in
        object.add("version", 1)
        object.add("success", false)
        object.add("code", "\(error.exit.rawValue)")
        object.add("message", "vault: \(Printable.line(error.message))")
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
    try Output.json { object throws(Failure) in
      object.add("version", 1)
      object.add("success", true)
      object.add("token_type", type)
      try object.add(type == saml ? "saml_response" : "id_token", entry.value.bytes, of: name)
      object.add("expiration_time", entry.item.expires)
    }
  }
}
