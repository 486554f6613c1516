extension Wire {
  /// A way in.
  public struct Slot: Hashable, WireValue {
    /// Its number.
    public var id: Int
    /// `password`, `recovery`, `pam` or `login`.
    public var kind: String
    /// The name that its owner gave it.
    public var label: String
    /// Unix time in seconds.
    public var created: Int64
    /// Argon2id's memory in bytes; 0 where the slot does not use it.
    public var kdfMemory: Int
    /// Argon2id's passes; 0 where the slot does not use it.
    public var kdfPasses: Int
    /// The place where the key of a `pam` slot lies: `tpm2`, `keyring`, `file` or `memory`.
    public var keystore: String?
    /// The users whose presence opens a `pam` slot, by uid.
    public var users: [Int]
    /// True for a `login` slot that does not fit the login password any more; nil otherwise.
    public var stale: Bool?

    /// Fills it in.
    public init(
      id: Int, kind: String, label: String, created: Int64, kdfMemory: Int, kdfPasses: Int, keystore: String? = nil,
      users: [Int] = [], stale: Bool? = nil
    ) {
      self.id = id
      self.kind = kind
      self.label = label
      self.created = created
      self.kdfMemory = kdfMemory
      self.kdfPasses = kdfPasses
      self.keystore = keystore
      self.users = users
      self.stale = stale
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      id = try fields.int(frame, "id")
      kind = try fields.string(frame, "kind")
      label = try fields.string(frame, "label")
      created = try fields.int64(frame, "created")
      kdfMemory = try fields.int(frame, "kdf_memory")
      kdfPasses = try fields.int(frame, "kdf_passes")
      keystore = try fields.optionalString(frame, "keystore")
      users = try fields.integers(frame, "users")
      stale = try fields.optionalBool(frame, "stale")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("id", id)
      writer.field("kind", kind)
      writer.field("label", label)
      writer.field("created", created)
      writer.field("kdf_memory", kdfMemory)
      writer.field("kdf_passes", kdfPasses)
      writer.field("keystore", keystore)
      writer.field("users", users)
      writer.field("stale", stale)
      writer.endObject()
    }
  }

  /// The reply of `ListSlots`.
  public struct ListSlotsReply: Hashable, WireValue {
    /// All of them.
    public var slots: [Slot]

    /// Fills it in.
    public init(slots: [Slot]) {
      self.slots = slots
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      slots = try fields.list(frame, "slots")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("slots", slots)
      writer.endObject()
    }
  }

  /// The parameters of `Init`.
  public struct InitParameters: Hashable, WireValue {
    /// True to make a recovery code, too.
    public var recovery: Bool?
    /// The place in which to keep the key of a `pam` slot to be made, too.
    public var keystore: String?
    /// True when that may be a file among the user's own.
    public var insecure: Bool?
    /// Argon2id's memory in bytes; nil lets the daemon choose.
    public var kdfMemory: Int?
    /// Argon2id's passes; nil lets the daemon choose.
    public var kdfPasses: Int?

    /// Fills it in; what is left out is absent.
    public init(
      recovery: Bool? = nil, keystore: String? = nil, insecure: Bool? = nil, kdfMemory: Int? = nil,
      kdfPasses: Int? = nil
    ) {
      self.recovery = recovery
      self.keystore = keystore
      self.insecure = insecure
      self.kdfMemory = kdfMemory
      self.kdfPasses = kdfPasses
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      recovery = try fields.optionalBool(frame, "recovery")
      keystore = try fields.optionalString(frame, "keystore")
      insecure = try fields.optionalBool(frame, "insecure")
      kdfMemory = try fields.optionalInt(frame, "kdf_memory")
      kdfPasses = try fields.optionalInt(frame, "kdf_passes")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("recovery", recovery)
      writer.field("keystore", keystore)
      writer.field("insecure", insecure)
      writer.field("kdf_memory", kdfMemory)
      writer.field("kdf_passes", kdfPasses)
      writer.endObject()
    }
  }

  /// The parameters of `Authenticate`.
  public struct AuthenticateParameters: Hashable, WireValue {
    /// The item that asks for a person.
    public var name: String
    /// The caller's purpose, shown to the person.
    public var reason: String?
    /// True when a person is there; nobody is asked otherwise.
    public var interactive: Bool?

    /// Fills it in; what is left out is absent.
    public init(name: String, reason: String? = nil, interactive: Bool? = nil) {
      self.name = name
      self.reason = reason
      self.interactive = interactive
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      name = try fields.string(frame, "name")
      reason = try fields.optionalString(frame, "reason")
      interactive = try fields.optionalBool(frame, "interactive")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("name", name)
      writer.field("reason", reason)
      writer.field("interactive", interactive)
      writer.endObject()
    }
  }

  /// The parameters of `Unlock`.
  public struct UnlockParameters: Hashable, WireValue {
    /// `pam`, `password`, `recovery` or `login`; nil means the first that is possible of the first two.
    public var method: String?
    /// Locks again after that many seconds.
    public var lockAfter: Int?
    /// The caller's purpose, shown to a person.
    public var reason: String?
    /// True when a person is waiting, which moves the idle deadline.
    public var interactive: Bool?

    /// Fills it in; what is left out is absent.
    public init(method: String? = nil, lockAfter: Int? = nil, reason: String? = nil, interactive: Bool? = nil) {
      self.method = method
      self.lockAfter = lockAfter
      self.reason = reason
      self.interactive = interactive
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      method = try fields.optionalString(frame, "method")
      lockAfter = try fields.optionalInt(frame, "for")
      reason = try fields.optionalString(frame, "reason")
      interactive = try fields.optionalBool(frame, "interactive")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("method", method)
      writer.field("for", lockAfter)
      writer.field("reason", reason)
      writer.field("interactive", interactive)
      writer.endObject()
    }
  }

  /// The parameters of `ChangePassword`.
  public struct ChangePasswordParameters: Hashable, WireValue {
    /// The way in that proves the right: `password`, `recovery` or `login`.
    public var method: String?
    /// The kind of slot whose secret is replaced: `password` or `login`; nil means that of the way in that proved it.
    public var kind: String?
    /// Argon2id's memory in bytes; nil lets the daemon choose.
    public var kdfMemory: Int?
    /// Argon2id's passes; nil lets the daemon choose.
    public var kdfPasses: Int?

    /// Fills it in; what is left out is absent.
    public init(method: String? = nil, kind: String? = nil, kdfMemory: Int? = nil, kdfPasses: Int? = nil) {
      self.method = method
      self.kind = kind
      self.kdfMemory = kdfMemory
      self.kdfPasses = kdfPasses
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      method = try fields.optionalString(frame, "method")
      kind = try fields.optionalString(frame, "kind")
      kdfMemory = try fields.optionalInt(frame, "kdf_memory")
      kdfPasses = try fields.optionalInt(frame, "kdf_passes")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("method", method)
      writer.field("kind", kind)
      writer.field("kdf_memory", kdfMemory)
      writer.field("kdf_passes", kdfPasses)
      writer.endObject()
    }
  }

  /// The parameters of `AddSlot`.
  public struct AddSlotParameters: Hashable, WireValue {
    /// `password`, `recovery`, `pam` or `login`.
    public var kind: String
    /// The name that its owner gave it.
    public var label: String?
    /// The way in that proves the right: `password` or `recovery`.
    public var method: String?
    /// The place where the key of a `pam` slot is to lie: `tpm2`, `keyring`, `file` or `memory`.
    public var keystore: String?
    /// The users whose presence opens a `pam` slot, by uid; nil means the caller.
    public var users: [Int]?
    /// True when the keystore may be a file among the user's own.
    public var insecure: Bool?
    /// Argon2id's memory in bytes; nil lets the daemon choose.
    public var kdfMemory: Int?
    /// Argon2id's passes; nil lets the daemon choose.
    public var kdfPasses: Int?

    /// Fills it in; what is left out is absent.
    public init(
      kind: String, label: String? = nil, method: String? = nil, keystore: String? = nil, users: [Int]? = nil,
      insecure: Bool? = nil, kdfMemory: Int? = nil, kdfPasses: Int? = nil
    ) {
      self.kind = kind
      self.label = label
      self.method = method
      self.keystore = keystore
      self.users = users
      self.insecure = insecure
      self.kdfMemory = kdfMemory
      self.kdfPasses = kdfPasses
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      kind = try fields.string(frame, "kind")
      label = try fields.optionalString(frame, "label")
      method = try fields.optionalString(frame, "method")
      keystore = try fields.optionalString(frame, "keystore")
      users = try fields.optionalIntegers(frame, "users")
      insecure = try fields.optionalBool(frame, "insecure")
      kdfMemory = try fields.optionalInt(frame, "kdf_memory")
      kdfPasses = try fields.optionalInt(frame, "kdf_passes")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("kind", kind)
      writer.field("label", label)
      writer.field("method", method)
      writer.field("keystore", keystore)
      if let users { writer.field("users", users) }
      writer.field("insecure", insecure)
      writer.field("kdf_memory", kdfMemory)
      writer.field("kdf_passes", kdfPasses)
      writer.endObject()
    }
  }

  /// The parameters of `RemoveSlot`.
  public struct RemoveSlotParameters: Hashable, WireValue {
    /// Its number.
    public var id: Int
    /// The way in that proves the right: `password` or `recovery`.
    public var method: String?

    /// Fills it in; what is left out is absent.
    public init(id: Int, method: String? = nil) {
      self.id = id
      self.method = method
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      id = try fields.int(frame, "id")
      method = try fields.optionalString(frame, "method")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("id", id)
      writer.field("method", method)
      writer.endObject()
    }
  }
}
