internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The credential plugin of kubectl and Kubernetes' client libraries (client.authentication.k8s.io/v1, ExecCredential).
///
/// The item `kubectl/prod` holds a bearer token or, if its kind is `tls-key`, a client's key with its certificate. The
/// answer has no room for a user name and a password, so that an item of those is refused.
enum KubectlHelper: CredentialHelper {
  static let name = "kubectl"
  static let links: [String] = []
  static let programs = "kubectl, helm and others that read a kubeconfig"
  static let takesTypedWords = true
  static let guide = """
    In the kubeconfig:

      users:
      - name: prod
        user:
          exec:
            apiVersion: client.authentication.k8s.io/v1
            command: vault
            args: [helper, kubectl, prod]
            interactiveMode: IfAvailable

    and the token, or a client's key with its certificate:

      vault set kubectl/prod --kind api-key
      cat client.key client.crt | vault set kubectl/prod --kind tls-key

    An expiry of the item is passed on. A password with a user name is refused,
    because kubectl takes only a token or a key from a helper.
    """

  private static let variable = "KUBERNETES_EXEC_INFO"
  private static let versions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]

  static func run(_ call: HelperCall) throws {
    let name = try NamedItem.name(call)
    let (version, mayAsk) = try asked()
    let items = try HelperItems(call, for: "Kubernetes credentials \(call.words[0])", mayAsk: mayAsk)
    guard let entry = try items.entry(name) else { throw NamedItem.missing(name) }
    try refusePassword(entry.item)
    try Output.json { object throws(Failure) in
      object.add("apiVersion", version)
      object.add("kind", "ExecCredential")
      try object.add("status") { status throws(Failure) in
        status.add("expirationTimestamp", entry.item.expires.map(Timestamp.format))
        if entry.item.kind == ItemKind.tlsKey.rawValue { return try add(certificateAndKey: entry, to: &status) }
        try entry.value.bytes.withBytes { bytes throws(Failure) in try OneLine.check(bytes, of: name) }
        try status.add("token", entry.value.bytes, of: name)
      }
    }
  }

  /// Refuses the password of basic auth, which a server must not get as a bearer token.
  private static func refusePassword(_ item: Wire.Item) throws(Failure) {
    guard item.kind == ItemKind.password.rawValue, let user = item.attributes["username"], !user.isEmpty else { return }
    throw Failure(
      .invalid,
      "\(Printable.quoted(item.name)) is a password with a user name, and kubectl takes only a token or a client's key "
        + "from a helper",
      "let \(Hint.vault("inject")) write the kubeconfig; a token is of kind \(ItemKind.apiKey.rawValue)")
  }

  /// Returns the version that the caller asks for, and whether a person may be asked.
  private static func asked() throws(Failure) -> (version: String, mayAsk: Bool) {
    guard let text = Environment.variable(variable) else { return (versions[0], true) }
    var bytes = SecretBuffer()
    bytes.append(utf8: text)
    let frame = try HelperInput.object(bytes, variable)
    guard let version = frame.text("apiVersion"), versions.contains(version) else {
      throw Failure(.usage, "\(variable) is not of version \(versions[0])", "set that apiVersion in the kubeconfig")
    }
    let spec = frame.member("spec", of: frame.root)
    let interactive = spec.flatMap { frame.member("interactive", of: $0) }.flatMap { frame.bool($0) }
    return (version, interactive ?? true)
  }

  private static func add(
    certificateAndKey entry: borrowing HelperItems.Entry, to object: inout JSONBuilder
  ) throws(Failure) {
    let certificate = PEM.blocks(of: "CERTIFICATE", in: entry.value.bytes)
    let key = PEM.blocks(of: "PRIVATE KEY", in: entry.value.bytes)
    guard certificate.count > 0, key.count > 0 else {
      throw Failure(
        .invalid, "\(Printable.quoted(entry.item.name)) has no certificate with its key", "store both in one value")
    }
    certificate.withBytes { object.add("clientCertificateData", secret: $0) }
    key.withBytes { object.add("clientKeyData", secret: $0) }
  }
}

extension PEM {
  /// The blocks whose label ends with `label`, such as `EC PRIVATE KEY` for `PRIVATE KEY`, as they stand in the text,
  /// each with a newline at its end; nothing if the text is no PEM.
  fileprivate static func blocks(of label: StaticString, in text: borrowing SecretBuffer) -> SecretBuffer {
    text.withBytes { text in
      var found = SecretBuffer(capacity: text.byteCount + 1)
      var offset = 0
      while let block = try? PEM.block(in: text, from: offset) {
        offset = block.end
        guard text.hasBytes(label, at: block.label.upperBound - label.utf8CodeUnitCount) else { continue }
        found.append(text.extracting(block.start..<block.end))
        if text.byte(block.end - 1) != 0x0A { found.append(0x0A) }
      }
      return found
    }
  }
}
