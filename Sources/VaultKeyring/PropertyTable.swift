internal import CSecret
internal import VaultModel
internal import VaultWire

/// The properties of an object of another keyring, as it has told them.
///
/// A property that is missing, or has another type than the Secret Service API gives it, is an error, so that it never
/// counts as an empty one.
@safe struct PropertyTable: ~Copyable {
  private let table: OpaquePointer

  /// - Parameter table: a GVariant of the type `a{sv}`, which this value owns from now on.
  init(_ table: OpaquePointer) { unsafe self.table = table }

  deinit { unsafe g_variant_unref(table) }

  func text(_ name: String) throws(ProviderFailure) -> String {
    try unsafe with(name, "s") { value throws(ProviderFailure) in
      guard let text = unsafe g_variant_get_string(value, nil) else { throw Self.missing(name) }
      return unsafe String(cString: text)
    }
  }

  func flag(_ name: String) throws(ProviderFailure) -> Bool {
    try unsafe with(name, "b") { value throws(ProviderFailure) in unsafe g_variant_get_boolean(value) != 0 }
  }

  /// A time in Unix seconds; 0 if there is none, or none that a vault can keep.
  func time(_ name: String) -> Int64 {
    let time = try? unsafe with(name, "t") { value throws(ProviderFailure) in unsafe g_variant_get_uint64(value) }
    guard let time = Int64(exactly: time ?? 0), KeyringFacts.times.contains(time) else { return 0 }
    return time
  }

  func paths(_ name: String) throws(ProviderFailure) -> [String] {
    try unsafe with(name, "ao") { value throws(ProviderFailure) in try unsafe Self.paths(value) }
  }

  /// The paths in an array of object paths.
  static func paths(_ array: OpaquePointer) throws(ProviderFailure) -> [String] {
    var paths: [String] = []
    for index in unsafe 0..<g_variant_n_children(array) {
      let child = unsafe g_variant_get_child_value(array, index)
      defer { unsafe g_variant_unref(child) }
      let path = unsafe g_variant_get_string(child, nil).map { unsafe String(cString: $0) } ?? ""
      guard path.utf8.count <= ProviderReply.longestPath else {
        throw ProviderFailure(
          .unavailable, "an object path has \(path.utf8.count) bytes, more than \(ProviderReply.longestPath)")
      }
      paths.append(path)
    }
    return paths
  }

  func pairs(_ name: String) throws(ProviderFailure) -> [Wire.KeyringAttribute] {
    try unsafe with(name, "a{ss}") { value throws(ProviderFailure) in
      var pairs: [Wire.KeyringAttribute] = []
      for index in unsafe 0..<g_variant_n_children(value) {
        let entry = unsafe g_variant_get_child_value(value, index)
        defer { unsafe g_variant_unref(entry) }
        guard let key = unsafe Self.text(entry, 0), let value = unsafe Self.text(entry, 1) else {
          throw Self.missing(name)
        }
        pairs.append(Wire.KeyringAttribute(key: key, value: value))
      }
      return pairs
    }
  }

  private static func text(_ entry: OpaquePointer?, _ index: gsize) -> String? {
    let child = unsafe g_variant_get_child_value(entry, index)
    defer { unsafe g_variant_unref(child) }
    return unsafe g_variant_get_string(child, nil).map { unsafe String(cString: $0) }
  }

  private func with<R>(
    _ name: String, _ type: String, _ body: (OpaquePointer) throws(ProviderFailure) -> R
  ) throws(ProviderFailure) -> R {
    guard let value = unsafe vault_property(table, name, type) else { throw Self.missing(name) }
    defer { unsafe g_variant_unref(value) }
    return try unsafe body(value)
  }

  private static func missing(_ name: String) -> ProviderFailure {
    ProviderFailure(.unavailable, "the keyring does not report its property \(name)")
  }
}
