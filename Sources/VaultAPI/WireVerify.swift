extension Wire {
  /// The integrity of the records as a whole, as far as the daemon knows it.
  public struct Integrity: Hashable, WireValue {
    /// `unchecked`, `checking`, `ok` or `failed`.
    public var state: String
    /// The number of records and pages that were looked at, while a check is under way.
    public var done: Int?
    /// About how many there are.
    public var total: Int?

    /// Fills it in; what is left out is absent.
    public init(state: String, done: Int? = nil, total: Int? = nil) {
      self.state = state
      self.done = done
      self.total = total
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      state = try fields.string(frame, "state")
      done = try fields.optionalInt(frame, "done")
      total = try fields.optionalInt(frame, "of")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("state", state)
      writer.field("done", done)
      writer.field("of", total)
      writer.endObject()
    }
  }

  /// One thing that is wrong with the store.
  public struct Finding: Hashable, WireValue {
    /// `damaged`, `missing`, `replayed` or `foreign`.
    public var kind: String
    /// The number of the item that it is about; nil when it is about none.
    public var item: Int64?
    /// The item's name, where it can be told.
    public var name: String?
    /// The fault, in words without names.
    public var text: String

    /// Fills it in; what is left out is absent.
    public init(kind: String, item: Int64? = nil, name: String? = nil, text: String) {
      self.kind = kind
      self.item = item
      self.name = name
      self.text = text
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      kind = try fields.string(frame, "kind")
      item = try fields.optionalInt64(frame, "item")
      name = try fields.optionalString(frame, "name")
      text = try fields.string(frame, "text")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("kind", kind)
      writer.field("item", item)
      writer.field("name", name)
      writer.field("text", text)
      writer.endObject()
    }
  }

  /// The result of a check of the store, beside its findings.
  public struct Verification: Hashable, WireValue {
    /// The number of records that were looked at.
    public var records: Int
    /// The number of items that nothing is wrong with, of the classes that were checked in full.
    public var unharmed: Int
    /// The number of items that something is wrong with.
    public var harmed: Int
    /// The number of findings beside those that were told.
    public var omitted: Int
    /// The classes of which not everything could be checked.
    public var unchecked: [String]
    /// The reason why it was not.
    public var reason: String?
    /// The classes whose records are, taken together, not those that were written last.
    public var changed: [String]

    /// Fills it in; what is left out is absent.
    public init(
      records: Int, unharmed: Int, harmed: Int, omitted: Int, unchecked: [String], reason: String? = nil,
      changed: [String]
    ) {
      self.records = records
      self.unharmed = unharmed
      self.harmed = harmed
      self.omitted = omitted
      self.unchecked = unchecked
      self.reason = reason
      self.changed = changed
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      records = try fields.int(frame, "records")
      unharmed = try fields.int(frame, "unharmed")
      harmed = try fields.int(frame, "harmed")
      omitted = try fields.int(frame, "omitted")
      unchecked = try fields.strings(frame, "unchecked")
      reason = try fields.optionalString(frame, "reason")
      changed = try fields.strings(frame, "changed")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("records", records)
      writer.field("unharmed", unharmed)
      writer.field("harmed", harmed)
      writer.field("omitted", omitted)
      writer.field("unchecked", unchecked)
      writer.field("reason", reason)
      writer.field("changed", changed)
      writer.endObject()
    }
  }

  /// The replies of `Verify`: its progress, then what is wrong, then the result.
  public struct VerifyReply: Hashable, WireValue {
    /// The progress of the check.
    public var progress: Integrity?
    /// Some of what is wrong.
    public var findings: [Finding]
    /// The result, in the last reply.
    public var result: Verification?

    /// Fills it in; what is left out is absent.
    public init(progress: Integrity? = nil, findings: [Finding] = [], result: Verification? = nil) {
      self.progress = progress
      self.findings = findings
      self.result = result
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      progress = try fields.optional(frame, "progress")
      findings = try fields.list(frame, "findings")
      result = try fields.optional(frame, "result")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("progress", progress)
      writer.field("findings", findings)
      writer.field("result", result)
      writer.endObject()
    }
  }

  /// The replies of `Salvage`: its progress, then what is lost, then how much was saved.
  public struct SalvageReply: Hashable, WireValue {
    /// Its progress, in items.
    public var progress: Integrity?
    /// Some of what is lost.
    public var losses: [Finding]
    /// The number of items that were saved, in the last reply.
    public var saved: Int?
    /// The number of losses beside those that were told.
    public var omitted: Int?

    /// Fills it in; what is left out is absent.
    public init(progress: Integrity? = nil, losses: [Finding] = [], saved: Int? = nil, omitted: Int? = nil) {
      self.progress = progress
      self.losses = losses
      self.saved = saved
      self.omitted = omitted
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      progress = try fields.optional(frame, "progress")
      losses = try fields.list(frame, "losses")
      saved = try fields.optionalInt(frame, "saved")
      omitted = try fields.optionalInt(frame, "omitted")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("progress", progress)
      writer.field("losses", losses)
      writer.field("saved", saved)
      writer.field("omitted", omitted)
      writer.endObject()
    }
  }
}
