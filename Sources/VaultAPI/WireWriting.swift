extension Wire {
  /// The parameters of `Set`.
  public struct SetParameters: Hashable, WireValue {
    /// The name.
    public var name: String
    /// The value when it is text, in the frame this was read from.
    public let value: Frame.Node?
    /// The value in base64 when it is not text.
    public let data: Frame.Node?
    /// The way in which the daemon draws the value instead.
    public var generate: Generator?
    /// The kind; nil means `password`, or the kind it has.
    public var kind: String?
    /// Nil means none, or what they were.
    public var attributes: [String: String]?
    /// `when-unlocked`, `after-first-unlock` or `always`; nil means the first, or what it was.
    public var accessible: String?
    /// `none`, `user-presence`, `biometry` or `password`; nil means the first, or what it was.
    public var require: String?
    /// For how many seconds a person's proof counts; nil means 60, or what it was.
    public var reuse: Int?
    /// The time at which the value stops being served, Unix time in seconds.
    public var expires: Int64?
    /// True to replace an existing item; what is left out keeps its old content.
    public var update: Bool?
    /// True when a person is waiting, which moves the idle deadline.
    public var interactive: Bool?

    /// Fills it in; what is left out is absent.
    public init(
      name: String, generate: Generator? = nil, kind: String? = nil, attributes: [String: String]? = nil,
      accessible: String? = nil, require: String? = nil, reuse: Int? = nil, expires: Int64? = nil, update: Bool? = nil,
      interactive: Bool? = nil
    ) {
      self.name = name
      value = nil
      data = nil
      self.generate = generate
      self.kind = kind
      self.attributes = attributes
      self.accessible = accessible
      self.require = require
      self.reuse = reuse
      self.expires = expires
      self.update = update
      self.interactive = interactive
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      name = try fields.string(frame, "name")
      value = try fields.secret(frame, "value")
      data = try fields.secret(frame, "data")
      generate = try fields.optional(frame, "generate")
      kind = try fields.optionalString(frame, "kind")
      attributes = try fields.optionalMap(frame, "attributes")
      accessible = try fields.optionalString(frame, "accessible")
      require = try fields.optionalString(frame, "require")
      reuse = try fields.optionalInt(frame, "reuse")
      expires = try fields.optionalInt64(frame, "expires")
      update = try fields.optionalBool(frame, "update")
      interactive = try fields.optionalBool(frame, "interactive")
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
      writer.field("generate", generate)
      writer.field("kind", kind)
      writer.field("attributes", attributes)
      writer.field("accessible", accessible)
      writer.field("require", require)
      writer.field("reuse", reuse)
      writer.field("expires", expires)
      writer.field("update", update)
      writer.field("interactive", interactive)
    }
  }

  /// The reply of `Set`.
  public struct SetReply: Hashable, WireValue {
    /// The number of the version it made.
    public var version: Int

    /// Fills it in.
    public init(version: Int) {
      self.version = version
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      version = try fields.int(frame, "version")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("version", version)
      writer.endObject()
    }
  }

  /// The parameters of `SetMany`.
  public struct SetManyParameters: Hashable, WireValue {
    /// The items.
    public var items: [NewItem]
    /// True when a person is waiting, which moves the idle deadline.
    public var interactive: Bool?

    /// Fills it in; what is left out is absent.
    public init(items: [NewItem], interactive: Bool? = nil) {
      self.items = items
      self.interactive = interactive
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      items = try fields.list(frame, "items")
      interactive = try fields.optionalBool(frame, "interactive")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("items", items)
      writer.field("interactive", interactive)
      writer.endObject()
    }
  }

  /// The reply of `SetMany`.
  public struct SetManyReply: Hashable, WireValue {
    /// The number of the version made for each item, in their order.
    public var versions: [Int]

    /// Fills it in.
    public init(versions: [Int]) {
      self.versions = versions
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      versions = try fields.integers(frame, "versions")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("versions", versions)
      writer.endObject()
    }
  }

  /// The parameters of `Delete`.
  public struct DeleteParameters: Hashable, WireValue {
    /// The names of the items.
    public var names: [String]
    /// True when a person is waiting, which moves the idle deadline.
    public var interactive: Bool?

    /// Fills it in; what is left out is absent.
    public init(names: [String], interactive: Bool? = nil) {
      self.names = names
      self.interactive = interactive
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      names = try fields.strings(frame, "names")
      interactive = try fields.optionalBool(frame, "interactive")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("names", names)
      writer.field("interactive", interactive)
      writer.endObject()
    }
  }

  /// The parameters of `Move`.
  public struct MoveParameters: Hashable, WireValue {
    /// The name it has.
    public var source: String
    /// The name it gets.
    public var target: String
    /// True when a person is waiting, which moves the idle deadline.
    public var interactive: Bool?

    /// Fills it in; what is left out is absent.
    public init(source: String, target: String, interactive: Bool? = nil) {
      self.source = source
      self.target = target
      self.interactive = interactive
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      source = try fields.string(frame, "from")
      target = try fields.string(frame, "to")
      interactive = try fields.optionalBool(frame, "interactive")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("from", source)
      writer.field("to", target)
      writer.field("interactive", interactive)
      writer.endObject()
    }
  }
}
