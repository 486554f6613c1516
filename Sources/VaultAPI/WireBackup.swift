extension Wire {
  /// The parameters of `Backup`.
  public struct BackupParameters: Hashable, WireValue {
    /// True to copy what `Salvage` saved instead of the vault.
    public var salvaged: Bool?

    /// Fills it in; what is left out is absent.
    public init(salvaged: Bool? = nil) { self.salvaged = salvaged }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      salvaged = try fields.optionalBool(frame, "salvaged")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("salvaged", salvaged)
      writer.endObject()
    }
  }

  /// The reply of `Backup` before the bytes.
  public struct BackupReply: Hashable, WireValue {
    /// The number of bytes.
    public var size: Int

    /// Fills it in.
    public init(size: Int) {
      self.size = size
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      size = try fields.int(frame, "size")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("size", size)
      writer.endObject()
    }
  }

  /// The parameters of `Restore`, before the bytes.
  public struct RestoreParameters: Hashable, WireValue {
    /// The backup's header, in base64.
    public var header: String
    /// The way in that proves the right: `password` or `recovery`; nil means the first of them that the backup has a
    /// slot for.
    public var method: String?

    /// Fills it in; what is left out is absent.
    public init(header: String, method: String? = nil) {
      self.header = header
      self.method = method
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      header = try fields.string(frame, "header")
      method = try fields.optionalString(frame, "method")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("header", header)
      writer.field("method", method)
      writer.endObject()
    }
  }

  /// The replies of `Restore`: a prompt each, nothing when it wants the bytes, and at the end what did not come along.
  public struct RestoreReply: Hashable, WireValue {
    /// The conversation that ``RespondParameters`` must name.
    public var conversation: String?
    /// The question; nil when there is nothing more to ask.
    public var prompt: Prompt?
    /// The slots that need the machine they were made on, in the last reply.
    public var leftOut: [Slot]?

    /// Fills it in; what is left out is absent.
    public init(conversation: String? = nil, prompt: Prompt? = nil, leftOut: [Slot]? = nil) {
      self.conversation = conversation
      self.prompt = prompt
      self.leftOut = leftOut
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      conversation = try fields.optionalString(frame, "conversation")
      prompt = try fields.optional(frame, "prompt")
      leftOut = try fields.optionalList(frame, "left_out")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("conversation", conversation)
      writer.field("prompt", prompt)
      if let leftOut { writer.field("left_out", leftOut) }
      writer.endObject()
    }
  }
}
