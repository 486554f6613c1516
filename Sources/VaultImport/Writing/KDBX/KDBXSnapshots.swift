internal import VaultWire

/// The earlier versions of an entry, made from the earlier values of its fields: each value begins a version.
///
/// This is the opposite of ``KDBXHistory``. A field without earlier values is the same in all versions.
struct KDBXSnapshots {
  /// An earlier version: the values of the fields that have changed since, by their names, and the time at which the
  /// version began.
  struct Version {
    let values: [String: [UInt8]]
    let time: Int64?
  }

  /// The versions, the oldest first.
  let versions: [Version]
  /// The fields that have earlier values. A version without a value for one of them does not have the field.
  let changed: Set<String>

  init(_ fields: [Field]) {
    let old = fields.earlier.map { (key: Self.key($0), value: $0.value, time: $0.time) }
    changed = Set(old.map(\.key))
    var values: [String: [UInt8]] = [:]
    versions = old.map { key, value, time in
      values[key] = value
      return Version(values: values, time: time)
    }
  }

  /// The name that a field has in the format.
  private static func key(_ field: Field) -> String {
    field.role == .oldPassword ? "Password" : field.name
  }
}
