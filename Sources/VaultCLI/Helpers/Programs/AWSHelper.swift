internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The `credential_process` of the AWS command line and SDKs ("Sourcing credentials with an external process").
///
/// The item `aws/prod` holds a secret access key, whose key id is in the attribute `access-key-id`. Without that
/// attribute, the item holds the JSON that `aws sts` prints.
enum AWSHelper: CredentialHelper {
  static let name = "aws"
  static let links: [String] = []
  static let programs = "the AWS command line and SDKs"
  static let takesTypedWords = true
  static let guide = """
    In ~/.aws/config:

      [profile prod]
      credential_process = vault helper aws prod

    and the secret access key, or what `aws sts` prints:

      vault set aws/prod --attr access-key-id=AKIAIOSFODNN7EXAMPLE
      aws sts get-session-token | vault set aws/prod --kind note --update

    An expiry of the item is passed on, and so is an expiry in such JSON; once it has passed, the credentials are no
    longer given.
    """

  private static let accessKey = "access-key-id"

  static func run(_ call: HelperCall) throws {
    let name = try NamedItem.name(call)
    let items = try HelperItems(call, for: "AWS credentials \(call.words[0])")
    guard let entry = try items.entry(name) else { throw NamedItem.missing(name) }
    try Output.json { object throws(Failure) in
      object.add("Version", 1)
      guard let id = entry.item.attributes[accessKey] else { return try add(entry, to: &object) }
      try checkIsKey(entry)
      object.add("AccessKeyId", id)
      try entry.value.bytes.withBytes { bytes throws(Failure) in try OneLine.check(bytes, of: name) }
      try object.add("SecretAccessKey", entry.value.bytes, of: name)
      object.add("Expiration", entry.item.expires.map(Timestamp.format))
    }
  }

  /// Throws if the item has the attribute with a key's id, but the JSON of credentials as its value: an update of the
  /// value keeps the attributes.
  private static func checkIsKey(_ entry: borrowing HelperItems.Entry) throws(Failure) {
    guard let frame = try? HelperInput.object(entry.value.bytes) else { return }
    let object = frame.member("Credentials", of: frame.root) ?? frame.root
    guard frame.text("AccessKeyId", of: object) != nil else { return }
    let name = entry.item.name
    let removal = Hint.vault("set \(Printable.line(name)) --update --keep-value --attr \(accessKey)=")
    throw Failure(
      .invalid,
      "\(Printable.quoted(name)) is the JSON of AWS credentials, and has the attribute \(accessKey), which belongs to "
        + "a secret access key",
      "remove the attribute with \(removal)")
  }

  /// Adds the credentials from a JSON value: an object of credentials, or an object around one.
  private static func add(_ entry: borrowing HelperItems.Entry, to result: inout JSONBuilder) throws(Failure) {
    let unusable = Failure(
      .invalid,
      "\(Printable.quoted(entry.item.name)) has no attribute \(accessKey), and is not the JSON of AWS credentials",
      "see `vault helper aws --help`")
    guard let frame = try? HelperInput.object(entry.value.bytes) else { throw unusable }
    let object = frame.member("Credentials", of: frame.root) ?? frame.root
    guard let id = frame.text("AccessKeyId", of: object),
      let secret = frame.member("SecretAccessKey", of: object).flatMap({ frame.secret($0) })
    else { throw unusable }
    let expires = try expiry(frame.member("Expiration", of: object), in: frame, entry.item)
    result.add("AccessKeyId", id)
    secret.withBytes { result.add("SecretAccessKey", secret: $0) }
    if let token = frame.member("SessionToken", of: object).flatMap({ frame.secret($0) }) {
      token.withBytes { result.add("SessionToken", secret: $0) }
    }
    result.add("Expiration", expires)
  }

  /// Returns the time at which the credentials expire: the stated time or the item's expiry, whichever comes first.
  ///
  /// - Parameter stated: a time of RFC 3339, or a Unix time, as `aws` writes it with `cli_timestamp_format = none`.
  /// - Throws: ``Failure`` if that time has passed, because AWS would refuse the credentials without telling the
  ///   reason. Also if the time cannot be read, because nobody would notice that it has passed.
  private static func expiry(
    _ stated: Frame.Node?, in frame: borrowing Frame, _ item: Wire.Item
  ) throws(Failure) -> String? {
    guard let stated else { return item.expires.map(Timestamp.format) }
    let text = frame.string(stated)
    let read = text.map(Timestamp.parse) ?? frame.wholePart(stated)
    guard let own = read, 0...Timestamp.last ~= own else {
      throw Failure(
        .invalid, "the time at which the credentials in \(Printable.quoted(item.name)) expire cannot be read",
        "write their Expiration as 2030-01-31T12:00:00Z or in Unix seconds, or leave it out, and store them with "
          + "--update"
      )
    }
    guard own > Int64(time(nil)) else {
      throw Failure(
        .invalid,
        "the credentials in \(Printable.quoted(item.name)) expired on \(LocalTime.text(own, to: STDERR_FILENO))",
        "store new ones with --update")
    }
    let told = text ?? Timestamp.format(own)
    return item.expires.map { $0 < own ? Timestamp.format($0) : told } ?? told
  }
}
