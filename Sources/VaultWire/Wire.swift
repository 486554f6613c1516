/// The values that travel: a type for each type, parameter list and reply of the interfaces, generated from their definitions
/// (``VaultInterface/description``) and named as these name them.
///
/// Text and numbers are plain Swift values. A secret (`value`, `data`, `answer`, `code`) is not: read, it is a node that
/// stays in its frame until ``Frame/content(_:_:)`` copies it out; written, it is lent to a call of its own.
public enum Wire {
  /// No parameters at all.
  public struct Empty: Hashable, WireValue {
    /// Makes the one value there is.
    public init() {}

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      try Fields(frame, node).finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.endObject()
    }
  }

  /// A prompt of a conversation: what comes before its last reply, which is of the method's own type.
  public struct Question: Hashable, WireValue {
    /// The conversation that ``RespondParameters`` must name.
    public var conversation: String
    /// The question, or what is to be shown.
    public var prompt: Prompt

    /// Fills it in.
    public init(conversation: String, prompt: Prompt) {
      self.conversation = conversation
      self.prompt = prompt
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      conversation = try fields.string(frame, "conversation")
      prompt = try fields.value(frame, "prompt")
      try fields.finish(frame)
    }

    /// Writes it without a code.
    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("conversation", conversation)
      writer.field("prompt", prompt)
      writer.endObject()
    }

    /// Writes it with the code that is to be typed back.
    public func write(to writer: inout JSONWriter, secret: RawSpan) {
      writer.beginObject()
      writer.field("conversation", conversation)
      writer.key("prompt")
      prompt.write(to: &writer, secret: secret)
      writer.endObject()
    }
  }

  /// A reply of a conversation whose last one, or ones, are of the type `Last`.
  public enum Reply<Last: WireValue>: WireValue {
    case question(Question)
    case last(Last)

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      if let node, frame.member("prompt", of: node) != nil {
        self = .question(try Question(frame, node))
      } else {
        self = .last(try Last(frame, node))
      }
    }

    public func write(to writer: inout JSONWriter) {
      switch self {
      case .question(let question): question.write(to: &writer)
      case .last(let last): last.write(to: &writer)
      }
    }
  }
}

extension Wire.Reply: Equatable where Last: Equatable {}
extension Wire.Reply: Hashable where Last: Hashable {}
