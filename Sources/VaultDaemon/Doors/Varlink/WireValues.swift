internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

/// Conversions from the vault's values to those of the interface.
extension Wire.Item {
  init(_ item: ItemInfo) {
    self.init(
      name: item.name.text, kind: item.kind.rawValue, attributes: item.attributes,
      accessible: item.policy.accessible.name, require: item.policy.require.name, reuse: Int(item.policy.reuseWindow),
      version: item.current.number,
      created: item.created, modified: item.modified, expires: item.expires, size: item.current.size,
      deleted: item.trashed?.time,
      deletion: item.trashed.map { Int($0.number) }, creator: item.creator, writer: item.current.writer,
      use: item.use?.name, keyType: Items.keyType(of: item), keyBits: Items.rsaBits(of: item),
      neverRead: item.policy.isNeverRead ? true : nil, keyring: item.keyring.map(Wire.Keyring.init))
  }
}

extension Wire.Keyring {
  init(_ facts: KeyringFacts) {
    self.init(
      id: facts.id.text, order: String(facts.order), label: facts.label, contentType: facts.contentType,
      attributes: facts.attributes.entries.map { Wire.KeyringAttribute(key: $0.key, value: $0.value) },
      created: facts.created, modified: facts.modified)
  }
}

extension Wire.CodeTerms {
  init(_ terms: CodeTerms) {
    self.init(
      issuer: terms.issuer, account: terms.account, digits: terms.digits, algorithm: terms.algorithm,
      period: terms.period, counter: terms.counter.map(Int.init), steam: terms.isSteam ? true : nil)
  }
}

extension Wire.Version {
  init(_ version: VersionInfo, isCurrent: Bool) {
    self.init(
      version: version.number, created: version.created, size: version.size, current: isCurrent, writer: version.writer)
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

extension Wire.Method {
  init(_ method: WaysIn.Method) {
    self.init(
      name: method.name, available: method.obstacle == nil, possible: method.isPossible,
      reason: method.obstacle?.reason, advice: method.obstacle?.advice)
  }
}

extension Wire.Warning {
  init(_ warning: VaultWarning) {
    self.init(about: warning.topic.rawValue, text: warning.text, advice: warning.advice, since: warning.since)
  }
}

extension Wire.Integrity {
  init(_ state: IntegrityState) {
    switch state {
    case .unchecked: self.init(state: "unchecked")
    case .checking(let done, let total): self.init(state: "checking", done: done, of: total)
    case .ok: self.init(state: "ok")
    case .failed: self.init(state: "failed")
    }
  }
}

extension Wire.Finding {
  init(_ finding: Finding) {
    self.init(
      kind: finding.kind.rawValue, item: finding.item.map(Int.init), name: finding.name?.text, text: finding.text)
  }
}

extension Wire.Verification {
  init(_ result: CheckResult) {
    self.init(
      records: result.records, unharmed: result.unharmed, harmed: result.harmed, omitted: result.omitted,
      unchecked: result.unchecked.map(\.name), reason: result.reason, changed: result.changed.map(\.name))
  }
}

extension Wire.MonitorReply {
  /// - Parameter time: Unix time in seconds.
  init(_ event: VaultEvent, at time: Int64) {
    switch event {
    case .state(let state):
      self.init(event: "state", time: time, state: state.kind.rawValue, cause: state.cause.text)
    case .item(let name, let change, let new, let version, _):
      self.init(event: "item", time: time, name: name.text, change: change.rawValue, to: new?.text, version: version)
    case .integrityFailed(let cause):
      self.init(event: "integrity", time: time, state: "failed", cause: cause)
    case .request(let number, let change):
      self.init(event: "request", time: time, change: change.rawValue, number: number.value)
    }
  }
}
