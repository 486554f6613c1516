internal import VaultAPI
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Between the values of the vault and those of the interface.
extension Wire.Item {
  init(_ item: ItemInfo) {
    self.init(
      name: item.name.text, kind: item.kind.rawValue, attributes: item.attributes,
      accessible: item.policy.accessible.name, require: item.policy.require.name, reuse: Int(item.policy.reuseWindow),
      version: item.current.number,
      created: item.created, modified: item.modified, expires: item.expires, size: item.current.size)
  }
}

extension Wire.Version {
  init(_ version: VersionInfo, isCurrent: Bool) {
    self.init(version: version.number, created: version.created, size: version.size, current: isCurrent)
  }
}

extension Wire.Slot {
  init(_ slot: SlotRecord, isStale: Bool) {
    self.init(
      id: Int(slot.id), kind: slot.kind.name, label: slot.label,
      created: slot.created, kdfMemory: slot.kdf?.memory ?? 0, kdfPasses: slot.kdf?.passes ?? 0,
      keystore: slot.terms?.keystore, users: slot.terms?.users.map(Int.init) ?? [],
      stale: isStale ? true : nil)
  }
}

extension Fault {
  /// A parameter that cannot be what it is.
  static func invalid(_ parameter: String) -> Fault { .service(.invalidParameter(parameter: parameter)) }
}
