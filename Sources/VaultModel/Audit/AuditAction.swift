/// The kinds of things that the audit log records. Raw values are stored and never change.
public enum AuditAction: UInt8, Named, Sendable {
  /// A value was read.
  case get = 1
  /// Something was done with a value that stayed in the daemon.
  case use = 2
  /// A value, or what is said about an item, was stored.
  case set = 3
  case delete = 4
  case move = 5
  /// Items were searched for or looked at, without their values.
  case find = 6
  case grant = 7
  case revoke = 8
  case deposit = 9
  case unlock = 10
  case lock = 11
  /// A way in was added, changed or removed, or the boot key was.
  case slot = 12
  case passwd = 13
  case rekey = 14
  case backup = 15
  case restore = 16
  case salvage = 17
  case export = 18
  /// Settings were read again.
  case settings = 19
  /// The audit log was read, turned on or off, or is not what it was.
  case audit = 20
  /// The vault was made.
  case create = 21
  /// Something else was asked for, which the caller may not ask for at all.
  case call = 22
  /// Somebody was asked to show its presence for an item.
  case proof = 23
  /// A caller without a grant asked for an item, so that an administrator may decide.
  case request = 24
  case approve = 25
  /// A request, or an approval, was denied, or a denial forgotten.
  case deny = 26
  /// An agent began to attend a person's session, or ended.
  case attend = 27
  /// A person did not want to answer now.
  case dismiss = 28
  /// A watcher did something with a version of an item.
  case receipt = 29
  /// The newest time that the store knows was set back to the clock.
  case clock = 30

  /// The name people and programs write.
  public var name: String { "\(self)" }
}

/// The outcomes of what the audit log records. Raw values are stored and never change.
public enum AuditOutcome: UInt8, Named, Sendable {
  case ok = 1
  /// The caller may not do that.
  case denied = 2
  /// The vault, or what was asked of it, was locked.
  case locked = 3
  /// A person would have had to show its presence first.
  case presence = 4
  /// There is no such item, version, slot or grant.
  case missing = 5
  case expired = 6
  /// A secret was wrong, or a person was not recognised.
  case unproven = 7
  /// The call was not one that can be done.
  case invalid = 8
  /// It could not be done: the store, the disk or another program failed.
  case failed = 9
  /// Somebody, or a lock, called it off.
  case cancelled = 10

  /// The name people and programs write.
  public var name: String { "\(self)" }
}
