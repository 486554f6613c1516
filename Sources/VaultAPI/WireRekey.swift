extension Wire {
  /// The progress of something that takes its time.
  public struct Progress: Hashable, WireValue {
    /// The amount that is done.
    public var done: Int
    /// The amount there is to do.
    public var of: Int

    /// Fills it in.
    public init(done: Int, of: Int) {
      self.done = done
      self.of = of
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      done = try fields.int(frame, "done")
      of = try fields.int(frame, "of")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("done", done)
      writer.field("of", of)
      writer.endObject()
    }
  }

  /// The parameters of `Rekey`.
  public struct RekeyParameters: Hashable, WireValue {
    /// The way in that proves the right: `password`, `recovery` or `login`.
    public var method: String?
    /// Gives up the one that is under way.
    public var cancel: Bool?

    /// Fills it in; what is left out is absent.
    public init(method: String? = nil, cancel: Bool? = nil) {
      self.method = method
      self.cancel = cancel
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      method = try fields.optionalString(frame, "method")
      cancel = try fields.optionalBool(frame, "cancel")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("method", method)
      writer.field("cancel", cancel)
      writer.endObject()
    }
  }

  /// The replies of `Rekey`: a prompt each, then its progress until it is done.
  public struct RekeyReply: Hashable, WireValue {
    /// The conversation that ``RespondParameters`` must name.
    public var conversation: String?
    /// The question; nil when everything was asked.
    public var prompt: Prompt?
    /// The number of items that have been looked at.
    public var done: Int?
    /// The number there are.
    public var of: Int?
    /// The slots that come along; told once.
    public var slots: [Int]?
    /// The slots that do not; told once.
    public var leftOut: [Int]?
    /// True when there was one to be given up.
    public var cancelled: Bool?

    /// Fills it in; what is left out is absent.
    public init(
      conversation: String? = nil, prompt: Prompt? = nil, done: Int? = nil, of: Int? = nil, slots: [Int]? = nil,
      leftOut: [Int]? = nil, cancelled: Bool? = nil
    ) {
      self.conversation = conversation
      self.prompt = prompt
      self.done = done
      self.of = of
      self.slots = slots
      self.leftOut = leftOut
      self.cancelled = cancelled
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      conversation = try fields.optionalString(frame, "conversation")
      prompt = try fields.optional(frame, "prompt")
      done = try fields.optionalInt(frame, "done")
      of = try fields.optionalInt(frame, "of")
      slots = try fields.optionalIntegers(frame, "slots")
      leftOut = try fields.optionalIntegers(frame, "left_out")
      cancelled = try fields.optionalBool(frame, "cancelled")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("conversation", conversation)
      writer.field("prompt", prompt)
      writer.field("done", done)
      writer.field("of", of)
      if let slots { writer.field("slots", slots) }
      if let leftOut { writer.field("left_out", leftOut) }
      writer.field("cancelled", cancelled)
      writer.endObject()
    }
  }
}
