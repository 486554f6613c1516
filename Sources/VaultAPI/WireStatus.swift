extension Wire {
  /// A way to unlock.
  public struct Method: Hashable, WireValue {
    /// `password` or `recovery`.
    public var name: String
    /// True when it works here.
    public var available: Bool
    /// The reason why it does not work, and a remedy.
    public var reason: String?

    /// Fills it in; what is left out is absent.
    public init(name: String, available: Bool, reason: String? = nil) {
      self.name = name
      self.available = available
      self.reason = reason
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      name = try fields.string(frame, "name")
      available = try fields.bool(frame, "available")
      reason = try fields.optionalString(frame, "reason")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("name", name)
      writer.field("available", available)
      writer.field("reason", reason)
      writer.endObject()
    }
  }

  /// The reply of `Status`.
  public struct StatusReply: Hashable, WireValue {
    /// `new`, `cold`, `locked`, `unlocked` or `unreadable`.
    public var state: String
    /// The reason why it is in that state.
    public var cause: String
    /// Since when, Unix time in seconds.
    public var since: Int64
    /// The time at which it will lock by itself, Unix time in seconds; nil when it will not.
    public var locksAt: Int64?
    /// The reason for that time: `idle`, `age` or `asked`.
    public var locksBecause: String?
    /// The other events that lock it: `sleep`, `session-lock`, and the bus names of screen lockers.
    public var locksOn: [String]
    /// The id of the vault.
    public var vault: String?
    /// The number there are.
    public var items: Int?
    /// The integrity of the records as a whole; nil without a store.
    public var integrity: Integrity?
    /// The progress of a rekey; nil when none is under way.
    public var rekey: Progress?
    /// The reason why the store is unreadable.
    public var problem: String?
    /// The ways to unlock.
    public var methods: [Method]
    /// The things that the daemon cannot do or watch here, one sentence each.
    public var warnings: [String]
    /// The daemon's version.
    public var version: String
    /// The daemon's process.
    public var pid: Int

    /// Fills it in; what is left out is absent.
    public init(
      state: String, cause: String, since: Int64, locksAt: Int64? = nil, locksBecause: String? = nil,
      locksOn: [String] = [], vault: String? = nil, items: Int? = nil, integrity: Integrity? = nil,
      rekey: Progress? = nil, problem: String? = nil, methods: [Method], warnings: [String], version: String, pid: Int
    ) {
      self.state = state
      self.cause = cause
      self.since = since
      self.locksAt = locksAt
      self.locksBecause = locksBecause
      self.locksOn = locksOn
      self.vault = vault
      self.items = items
      self.integrity = integrity
      self.rekey = rekey
      self.problem = problem
      self.methods = methods
      self.warnings = warnings
      self.version = version
      self.pid = pid
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      state = try fields.string(frame, "state")
      cause = try fields.string(frame, "cause")
      since = try fields.int64(frame, "since")
      locksAt = try fields.optionalInt64(frame, "locks_at")
      locksBecause = try fields.optionalString(frame, "locks_because")
      locksOn = try fields.strings(frame, "locks_on")
      vault = try fields.optionalString(frame, "vault")
      items = try fields.optionalInt(frame, "items")
      integrity = try fields.optional(frame, "integrity")
      rekey = try fields.optional(frame, "rekey")
      problem = try fields.optionalString(frame, "problem")
      methods = try fields.list(frame, "methods")
      warnings = try fields.strings(frame, "warnings")
      version = try fields.string(frame, "version")
      pid = try fields.int(frame, "pid")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("state", state)
      writer.field("cause", cause)
      writer.field("since", since)
      writer.field("locks_at", locksAt)
      writer.field("locks_because", locksBecause)
      writer.field("locks_on", locksOn)
      writer.field("vault", vault)
      writer.field("items", items)
      writer.field("integrity", integrity)
      writer.field("rekey", rekey)
      writer.field("problem", problem)
      writer.field("methods", methods)
      writer.field("warnings", warnings)
      writer.field("version", version)
      writer.field("pid", pid)
      writer.endObject()
    }
  }

  /// An event, as `Monitor` streams it.
  public struct Event: Hashable, WireValue {
    /// `state`, `item` or `integrity`.
    public var event: String
    /// Unix time in seconds.
    public var time: Int64
    /// The new state.
    public var state: String?
    /// The reason why it changed.
    public var cause: String?
    /// The item; nil also where a lock has hidden the names before this could be told.
    public var name: String?
    /// `created`, `updated`, `deleted` or `moved`.
    public var change: String?
    /// The new name of a moved item.
    public var target: String?

    /// Fills it in; what is left out is absent.
    public init(
      event: String, time: Int64, state: String? = nil, cause: String? = nil, name: String? = nil,
      change: String? = nil, target: String? = nil
    ) {
      self.event = event
      self.time = time
      self.state = state
      self.cause = cause
      self.name = name
      self.change = change
      self.target = target
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      event = try fields.string(frame, "event")
      time = try fields.int64(frame, "time")
      state = try fields.optionalString(frame, "state")
      cause = try fields.optionalString(frame, "cause")
      name = try fields.optionalString(frame, "name")
      change = try fields.optionalString(frame, "change")
      target = try fields.optionalString(frame, "to")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("event", event)
      writer.field("time", time)
      writer.field("state", state)
      writer.field("cause", cause)
      writer.field("name", name)
      writer.field("change", change)
      writer.field("to", target)
      writer.endObject()
    }
  }

  /// No parameters at all: what `Status`, `Lock`, `ListSlots` and `Monitor` take, and what several methods give.
  public struct Empty: Hashable, WireValue {

    /// Fills it in.
    public init() {}

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      let fields = try Fields(frame, node)
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.endObject()
    }
  }
}
