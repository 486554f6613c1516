extension Wire {
  /// Everything about an item but its value.
  public struct Item: Hashable, WireValue {
    /// The item's name.
    public var name: String
    /// The item's kind.
    public var kind: String
    /// The attributes it can be found by.
    public var attributes: [String: String]
    /// `when-unlocked`, `after-first-unlock` or `always`.
    public var accessible: String
    /// `none`, `user-presence`, `biometry` or `password`.
    public var require: String
    /// For how many seconds a person's proof counts.
    public var reuse: Int
    /// The number of the current version.
    public var version: Int
    /// Unix time in seconds.
    public var created: Int64
    /// Unix time in seconds.
    public var modified: Int64
    /// The time at which the current version stops being served, Unix time in seconds; nil means never.
    public var expires: Int64?
    /// The current version's size in bytes.
    public var size: Int

    /// Fills it in; what is left out is absent.
    public init(
      name: String, kind: String, attributes: [String: String], accessible: String, require: String, reuse: Int,
      version: Int,
      created: Int64, modified: Int64, expires: Int64? = nil, size: Int
    ) {
      self.name = name
      self.kind = kind
      self.attributes = attributes
      self.accessible = accessible
      self.require = require
      self.reuse = reuse
      self.version = version
      self.created = created
      self.modified = modified
      self.expires = expires
      self.size = size
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      name = try fields.string(frame, "name")
      kind = try fields.string(frame, "kind")
      attributes = try fields.map(frame, "attributes")
      accessible = try fields.string(frame, "accessible")
      require = try fields.string(frame, "require")
      reuse = try fields.int(frame, "reuse")
      version = try fields.int(frame, "version")
      created = try fields.int64(frame, "created")
      modified = try fields.int64(frame, "modified")
      expires = try fields.optionalInt64(frame, "expires")
      size = try fields.int(frame, "size")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("name", name)
      writer.field("kind", kind)
      writer.field("attributes", attributes)
      writer.field("accessible", accessible)
      writer.field("require", require)
      writer.field("reuse", reuse)
      writer.field("version", version)
      writer.field("created", created)
      writer.field("modified", modified)
      writer.field("expires", expires)
      writer.field("size", size)
      writer.endObject()
    }
  }

  /// One kept version of an item.
  public struct Version: Hashable, WireValue {
    /// Its number.
    public var version: Int
    /// Unix time in seconds.
    public var created: Int64
    /// In bytes.
    public var size: Int
    /// True when it is the one that is served.
    public var current: Bool

    /// Fills it in.
    public init(version: Int, created: Int64, size: Int, current: Bool) {
      self.version = version
      self.created = created
      self.size = size
      self.current = current
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      version = try fields.int(frame, "version")
      created = try fields.int64(frame, "created")
      size = try fields.int(frame, "size")
      current = try fields.bool(frame, "current")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("version", version)
      writer.field("created", created)
      writer.field("size", size)
      writer.field("current", current)
      writer.endObject()
    }
  }

  /// A recipe for a new secret.
  public struct Generator: Hashable, WireValue {
    /// `password` or `phrase`.
    public var style: String
    /// Characters of a password, words of a phrase.
    public var length: Int?
    /// True when a password has characters other than letters and digits.
    public var symbols: Bool?

    /// Fills it in; what is left out is absent.
    public init(style: String, length: Int? = nil, symbols: Bool? = nil) {
      self.style = style
      self.length = length
      self.symbols = symbols
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      style = try fields.string(frame, "style")
      length = try fields.optionalInt(frame, "length")
      symbols = try fields.optionalBool(frame, "symbols")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("style", style)
      writer.field("length", length)
      writer.field("symbols", symbols)
      writer.endObject()
    }
  }

  /// An item to store with others.
  public struct NewItem: Hashable, WireValue {
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

    /// Fills it in; what is left out is absent.
    public init(
      name: String, generate: Generator? = nil, kind: String? = nil, attributes: [String: String]? = nil,
      accessible: String? = nil, require: String? = nil, reuse: Int? = nil, expires: Int64? = nil, update: Bool? = nil
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
    }
  }
}
