internal import CSecret
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The collections and items of a keyring, by their object paths.
struct ProviderItems: ~Copyable {
  private static let root = "/org/freedesktop/secrets"
  private static let collection = "org.freedesktop.Secret.Collection"
  private static let item = "org.freedesktop.Secret.Item"

  private let provider: Provider

  init(_ provider: consuming Provider) { self.provider = provider }

  // MARK: Reading

  /// All collections, in the keyring's order. A collection whose properties cannot be read has the reason instead.
  func collections() throws(ProviderFailure) -> [ProviderCollection] {
    let paths = try collectionPaths()
    var aliases: [String: [String]] = [:]
    for alias in ["default", "login", "session"] {
      if let path = try path(alias) { aliases[path, default: []].append(alias) }
    }
    var found: [ProviderCollection] = []
    for path in paths {
      let names = aliases[path] ?? []
      do throws(ProviderFailure) {
        let table = try properties(path, Self.collection)
        found.append(
          ProviderCollection(
            path: path, label: try table.text("Label"), isLocked: try table.flag("Locked"), aliases: names))
      } catch {
        if error.code == .lost { throw error }
        if error.code == .gone, try !collectionPaths().contains(path) { continue }
        found.append(
          ProviderCollection(path: path, label: "", isLocked: false, aliases: names, problem: error.reason))
      }
    }
    return found
  }

  private func collectionPaths() throws(ProviderFailure) -> [String] {
    let paths = try properties(Self.root, "org.freedesktop.Secret.Service").paths("Collections")
    let most = ProviderReply.most.collections
    guard paths.count <= most else {
      throw ProviderFailure(.unavailable, "the keyring has \(paths.count) collections, more than \(most)")
    }
    return paths
  }

  /// The path of the collection with this alias; nil if the keyring says that there is none.
  private func path(_ alias: String) throws(ProviderFailure) -> String? {
    var error: UnsafeMutablePointer<GError>?
    let path = unsafe secret_service_read_alias_dbus_path_sync(provider.service, alias, nil, &error)
    if unsafe error != nil {
      let failure = unsafe Self.failure(&error)
      guard failure.code == .gone else { throw failure }
      return nil
    }
    guard let path = unsafe path else { return nil }
    defer { unsafe g_free(path) }
    return unsafe String(cString: path)
  }

  func isLocked(_ collection: String) throws(ProviderFailure) -> Bool {
    try properties(collection, Self.collection).flag("Locked")
  }

  /// Unlocks a collection; the keyring may ask a person.
  func unlock(_ collection: String) throws(ProviderFailure) {
    var error: UnsafeMutablePointer<GError>?
    let isUnlocked = unsafe vault_unlock(provider.service, collection, &error) != 0
    guard unsafe error == nil else { throw unsafe Self.failure(&error) }
    guard isUnlocked else { throw ProviderFailure(.locked, "nobody unlocked it") }
  }

  /// The paths of a collection's items, in the keyring's order.
  func items(in collection: String) throws(ProviderFailure) -> [String] {
    let paths = try properties(collection, Self.collection).paths("Items")
    let most = ProviderReply.most.items
    guard paths.count <= most else {
      throw ProviderFailure(.unavailable, "it has \(paths.count) items, more than \(most)")
    }
    return paths
  }

  /// True if `failure` says that an item is gone and its collection no longer lists it. Some keyrings give the same
  /// error for an item that they cannot read.
  func isGone(_ item: String, from collection: String, _ failure: ProviderFailure) throws(ProviderFailure) -> Bool {
    guard failure.code == .gone else { return false }
    return try !items(in: collection).contains(item)
  }

  /// The time at which an item was made.
  func created(_ item: String) throws(ProviderFailure) -> Int64 { try properties(item, Self.item).time("Created") }

  /// Reads an item; the reply says why it cannot be stored if it is beyond the limits of a vault.
  func read(_ item: String) throws(ProviderFailure) -> ProviderReply {
    let table = try properties(item, Self.item)
    let (label, attributes) = (try table.text("Label"), try table.pairs("Attributes"))
    let bytes = attributes.reduce(label.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    let cut = String(label.unicodeScalars.prefix(256))
    if attributes.count > KeyringAttributes.maximumCount {
      return .tooLarge(
        label: cut, reason: "it has \(attributes.count) attributes, more than \(KeyringAttributes.maximumCount)")
    }
    if bytes > KeyringFacts.maximumBytes {
      return .tooLarge(
        label: cut, reason: "its label and attributes have \(bytes) bytes, more than \(KeyringFacts.maximumBytes)")
    }
    let secret = try secret(of: item)
    guard secret.count <= ValueLimits.bytes else {
      return .tooLarge(label: cut, reason: "its secret has \(secret.count) bytes, more than \(ValueLimits.bytes)")
    }
    let (type, longest) = (secret.contentType, KeyringFacts.maximumContentTypeBytes)
    guard type.utf8.count <= longest else {
      return .tooLarge(label: cut, reason: "its content type has \(type.utf8.count) bytes, more than \(longest)")
    }
    let content = ProviderContent(
      label: label, contentType: type, attributes: attributes, created: table.time("Created"),
      modified: table.time("Modified"))
    return .item(content, value: secret.copy())
  }

  private func secret(of item: String) throws(ProviderFailure) -> Secret {
    var error: UnsafeMutablePointer<GError>?
    guard
      let value = unsafe secret_service_get_secret_for_dbus_path_sync(provider.service, item, nil, &error)
    else {
      if unsafe error == nil { throw ProviderFailure(.locked, "it is locked") }
      throw unsafe Self.failure(&error)
    }
    return unsafe Secret(value)
  }

  // MARK: Writing

  /// Makes a collection, and returns its path.
  func make(_ label: String) throws(ProviderFailure) -> String {
    var error: UnsafeMutablePointer<GError>?
    let path = unsafe vault_create_collection(provider.service, label, "", &error)
    guard let path = unsafe path else {
      if unsafe error == nil { throw ProviderFailure(.locked, "nobody allowed the new collection") }
      throw unsafe Self.failure(&error)
    }
    defer { unsafe g_free(path) }
    // GNOME Keyring returns this path when it can ask nobody.
    guard unsafe String(cString: path) != "/" else {
      throw ProviderFailure(.locked, "nobody allowed the new collection")
    }
    return unsafe String(cString: path)
  }

  /// Stores an item in a collection, unless the same one is there already. A keyring may keep no content types, and may
  /// give a schema to an item that has none.
  func store(
    _ content: ProviderContent, _ value: borrowing SecretBuffer, in collection: String
  ) throws(ProviderFailure) -> ProviderReply.Storing {
    let attributes = unsafe Self.attributes(content.attributes)
    defer { unsafe g_variant_unref(attributes) }
    var error: UnsafeMutablePointer<GError>?
    guard let paths = unsafe vault_search(provider.bus, provider.owner, collection, attributes, &error) else {
      throw unsafe Self.failure(&error)
    }
    defer { unsafe g_variant_unref(paths) }
    let found = try unsafe PropertyTable.paths(paths)
    var isBeside = false
    for path in found {
      let table: PropertyTable
      do throws(ProviderFailure) { table = try properties(path, Self.item) } catch {
        if try isGone(path, from: collection, error) { continue }
        throw error
      }
      guard Self.isSame(try table.pairs("Attributes"), content.attributes) else { continue }
      isBeside = true
      guard try table.text("Label").utf8.elementsEqual(content.label.utf8), try secret(of: path).equals(value)
      else { continue }
      return .present
    }
    let secret = unsafe Self.secret(value, content.contentType)
    defer { unsafe vault_value_unref(secret) }
    let isMade =
      unsafe vault_create_item(provider.service, collection, content.label, attributes, secret, &error) != 0
    guard isMade else {
      if unsafe error == nil { throw ProviderFailure(.locked, "nobody allowed it") }
      throw unsafe Self.failure(&error)
    }
    return isBeside ? .beside : .new
  }

  /// True if the attributes of an item are the same, apart from a schema that the keyring added.
  private static func isSame(_ there: [Wire.KeyringAttribute], _ here: [Wire.KeyringAttribute]) -> Bool {
    let schema = ForeignItem.schema
    let hasSchema = here.contains { $0.key == schema }
    func pairs(_ list: [Wire.KeyringAttribute]) -> KeyringAttributes? {
      try? KeyringAttributes(list.filter { hasSchema || $0.key != schema }.map { ($0.key, $0.value) })
    }
    guard let there = pairs(there) else { return false }
    return there == pairs(here)
  }

  private static func attributes(_ attributes: [Wire.KeyringAttribute]) -> OpaquePointer? {
    let builder = unsafe vault_attributes_begin()
    for attribute in attributes { unsafe vault_attributes_add(builder, attribute.key, attribute.value) }
    return unsafe vault_attributes_end(builder)
  }

  /// A secret for libsecret, which keeps its copy in memory that it wipes.
  private static func secret(_ value: borrowing SecretBuffer, _ contentType: String) -> OpaquePointer? {
    let type = contentType.isEmpty ? "text/plain" : contentType
    return unsafe value.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        // The length is given; `UInt8` and `CChar` have the same layout. libsecret takes no null pointer.
        guard let start = bytes.baseAddress else { return unsafe secret_value_new("", 0, type) }
        return unsafe secret_value_new(start.assumingMemoryBound(to: CChar.self), gssize(bytes.count), type)
      }
    }
  }

  // MARK: Parts

  private func properties(_ path: String, _ interface: String) throws(ProviderFailure) -> PropertyTable {
    var error: UnsafeMutablePointer<GError>?
    guard let table = unsafe vault_properties(provider.bus, provider.owner, path, interface, &error) else {
      throw unsafe Self.failure(&error)
    }
    return unsafe PropertyTable(table)
  }

  /// Takes a failure out of a GError, and frees the error.
  private static func failure(_ error: inout UnsafeMutablePointer<GError>?) -> ProviderFailure {
    let meaning = unsafe error.map { UInt8(bitPattern: unsafe vault_error_meaning($0)) } ?? 0
    if let error = unsafe error { unsafe vault_strip_error(error) }
    let reason = unsafe takeMessage(&error)
    return switch meaning {
    case UInt8(ascii: "l"): ProviderFailure(.locked, "it is locked")
    case UInt8(ascii: "g"): ProviderFailure(.gone, reason)
    case UInt8(ascii: "e"): ProviderFailure(.lost, reason)
    default: ProviderFailure(.unavailable, reason)
    }
  }

  /// A secret that libsecret holds, in memory that it wipes.
  @safe private struct Secret: ~Copyable {
    private let value: OpaquePointer

    init(_ value: OpaquePointer) { unsafe self.value = value }

    deinit { unsafe vault_value_unref(value) }

    var contentType: String {
      unsafe secret_value_get_content_type(value).map { unsafe String(cString: $0) } ?? ""
    }

    var count: Int { withBytes { $0.byteCount } }

    func copy() -> SecretBuffer { withBytes { SecretBuffer(copying: $0) } }

    func equals(_ other: borrowing SecretBuffer) -> Bool {
      withBytes { mine in
        other.withBytes { theirs in
          let (mine, theirs) = (Span<UInt8>(_bytes: mine), Span<UInt8>(_bytes: theirs))
          guard mine.count == theirs.count else { return false }
          var difference: UInt8 = 0
          for index in mine.indices { difference |= mine[index] ^ theirs[index] }
          return difference == 0
        }
      }
    }

    private func withBytes<R: ~Copyable>(_ body: (RawSpan) -> R) -> R {
      var count: gsize = 0
      let start = unsafe secret_value_get(value, &count)
      // The bytes are valid for as long as this holds the value.
      return unsafe body(
        RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count))))
    }
  }
}
