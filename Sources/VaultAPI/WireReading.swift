extension Wire {
  /// The parameters of `Get`.
  public struct GetParameters: Hashable, WireValue {
    /// The item's name.
    public var name: String
    /// Nil means the current one.
    public var version: Int?
    /// The time that the call waits for an unlock.
    public var waitMilliseconds: Int?
    /// The caller's purpose, shown to a person.
    public var reason: String?
    /// True when a person is waiting, which moves the idle deadline.
    public var interactive: Bool?
    /// True to serve an item past its expiry, too.
    public var expired: Bool?

    /// Fills it in; what is left out is absent.
    public init(
      name: String, version: Int? = nil, waitMilliseconds: Int? = nil, reason: String? = nil,
      interactive: Bool? = nil, expired: Bool? = nil
    ) {
      self.name = name
      self.version = version
      self.waitMilliseconds = waitMilliseconds
      self.reason = reason
      self.interactive = interactive
      self.expired = expired
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      name = try fields.string(frame, "name")
      version = try fields.optionalInt(frame, "version")
      waitMilliseconds = try fields.optionalInt(frame, "wait_ms")
      reason = try fields.optionalString(frame, "reason")
      interactive = try fields.optionalBool(frame, "interactive")
      expired = try fields.optionalBool(frame, "expired")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("name", name)
      writer.field("version", version)
      writer.field("wait_ms", waitMilliseconds)
      writer.field("reason", reason)
      writer.field("interactive", interactive)
      writer.field("expired", expired)
      writer.endObject()
    }
  }

  /// The reply of `Get`.
  public struct GetReply: Hashable, WireValue {
    /// The item's name.
    public var name: String
    /// The number of the version.
    public var version: Int
    /// The value when it is text, in the frame this was read from.
    public let value: Frame.Node?
    /// The value in base64 when it is not text.
    public let data: Frame.Node?

    /// Fills it in; what is left out is absent.
    public init(name: String, version: Int) {
      self.name = name
      self.version = version
      value = nil
      data = nil
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      name = try fields.string(frame, "name")
      version = try fields.int(frame, "version")
      value = try fields.secret(frame, "value")
      data = try fields.secret(frame, "data")
      try fields.finish(frame)
    }

    /// Writes it without a value.
    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writeFields(to: &writer)
      writer.endObject()
    }

    /// Writes it with `content` as the value.
    public func write(to writer: inout JSONWriter, content bytes: RawSpan) {
      writer.beginObject()
      writeFields(to: &writer)
      writer.content(bytes)
      writer.endObject()
    }

    private func writeFields(to writer: inout JSONWriter) {
      writer.field("name", name)
      writer.field("version", version)
    }
  }

  /// The parameters of `Show`.
  public struct ShowParameters: Hashable, WireValue {
    /// The item's name.
    public var name: String
    /// True when a person is waiting, which moves the idle deadline.
    public var interactive: Bool?

    /// Fills it in; what is left out is absent.
    public init(name: String, interactive: Bool? = nil) {
      self.name = name
      self.interactive = interactive
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      name = try fields.string(frame, "name")
      interactive = try fields.optionalBool(frame, "interactive")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("name", name)
      writer.field("interactive", interactive)
      writer.endObject()
    }
  }

  /// The reply of `Show`.
  public struct ShowReply: Hashable, WireValue {
    /// The item.
    public var item: Item

    /// Fills it in.
    public init(item: Item) {
      self.item = item
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      item = try fields.value(frame, "item")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("item", item)
      writer.endObject()
    }
  }

  /// The parameters of `Find`.
  public struct FindParameters: Hashable, WireValue {
    /// Predicates, as `Query` in VaultModel reads them; nil matches all.
    public var query: String?
    /// The most items to give.
    public var limit: Int?
    /// An earlier reply's ``FindReply/next``.
    public var after: String?
    /// True when a person is waiting, which moves the idle deadline.
    public var interactive: Bool?

    /// Fills it in; what is left out is absent.
    public init(query: String? = nil, limit: Int? = nil, after: String? = nil, interactive: Bool? = nil) {
      self.query = query
      self.limit = limit
      self.after = after
      self.interactive = interactive
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      query = try fields.optionalString(frame, "query")
      limit = try fields.optionalInt(frame, "limit")
      after = try fields.optionalString(frame, "after")
      interactive = try fields.optionalBool(frame, "interactive")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("query", query)
      writer.field("limit", limit)
      writer.field("after", after)
      writer.field("interactive", interactive)
      writer.endObject()
    }
  }

  /// The reply of `Find`, once per page.
  public struct FindReply: Hashable, WireValue {
    /// The items.
    public var items: [Item]
    /// The `after` of the next page, of use for nothing else; nil on the last one.
    public var next: String?

    /// Fills it in; what is left out is absent.
    public init(items: [Item], next: String? = nil) {
      self.items = items
      self.next = next
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      items = try fields.list(frame, "items")
      next = try fields.optionalString(frame, "next")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("items", items)
      writer.field("next", next)
      writer.endObject()
    }
  }

  /// The parameters of `History`.
  public struct HistoryParameters: Hashable, WireValue {
    /// The item's name.
    public var name: String
    /// True when a person is waiting, which moves the idle deadline.
    public var interactive: Bool?

    /// Fills it in; what is left out is absent.
    public init(name: String, interactive: Bool? = nil) {
      self.name = name
      self.interactive = interactive
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      name = try fields.string(frame, "name")
      interactive = try fields.optionalBool(frame, "interactive")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("name", name)
      writer.field("interactive", interactive)
      writer.endObject()
    }
  }

  /// The reply of `History`.
  public struct HistoryReply: Hashable, WireValue {
    /// Newest first.
    public var versions: [Version]

    /// Fills it in.
    public init(versions: [Version]) {
      self.versions = versions
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      versions = try fields.list(frame, "versions")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("versions", versions)
      writer.endObject()
    }
  }
}
