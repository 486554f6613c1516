/// The kinds of events that the audit log records. Raw values are stored and never change.
public enum AuditAction: UInt8, Named, Sendable {
  /// A value was read.
  case get = 1
  /// A value was used without leaving the daemon.
  case use = 2
  /// A value, or other data of an item, was stored.
  case set = 3
  case delete = 4
  case move = 5
  /// Items were searched or viewed, without their values.
  case find = 6
  case grant = 7
  case revoke = 8
  case deposit = 9
  case unlock = 10
  case lock = 11
  /// A slot, or the boot key, was added, changed or removed.
  case slot = 12
  case passwd = 13
  case rekey = 14
  case backup = 15
  case restore = 16
  case salvage = 17
  case export = 18
  /// The settings were read again.
  case settings = 19
  /// The audit log was read, turned on or off, or found altered.
  case audit = 20
  /// The vault was created.
  case create = 21
  /// The caller made a call of another kind, which it may not make at all.
  case call = 22
  /// Somebody was asked to show presence for an item.
  case proof = 23
  /// A caller without a grant asked for an item, so that an administrator may decide.
  case request = 24
  case approve = 25
  /// A request or an approval was denied, or a denial was forgotten.
  case deny = 26
  /// An agent began or ceased to attend a person's session.
  case attend = 27
  /// A person declined to answer for now.
  case dismiss = 28
  /// A watcher reported what it has done with a version of an item.
  case receipt = 29
  /// The newest time that the store knows was set back to the time of the clock.
  case clock = 30
  /// An import from another program's files began; each item that it stores has an entry of its own.
  case `import` = 31

  /// The name that people and programs write.
  public var name: String { "\(self)" }
}

/// The outcomes of the events that the audit log records. Raw values are stored and never change.
public enum AuditOutcome: UInt8, Named, Sendable {
  case ok = 1
  /// The caller lacks the right to do that.
  case denied = 2
  /// The vault, or the requested item, was locked.
  case locked = 3
  /// A person would have had to show presence first.
  case presence = 4
  /// There is no such item, version, slot or grant.
  case missing = 5
  case expired = 6
  /// A secret was wrong, or a person was not recognized.
  case unproven = 7
  /// The call was invalid.
  case invalid = 8
  /// The action failed: the store, the disk or another program failed.
  case failed = 9
  /// Somebody, or a lock, canceled the action.
  case cancelled = 10

  /// The name that people and programs write.
  public var name: String { "\(self)" }
}
