public import VaultBytes

/// The values in messages: one Swift type for each type, parameter list and reply of the interfaces, generated from
/// their definitions (``VaultInterface/description``) and named as there.
///
/// Text and numbers are plain Swift values. A secret (`value`, `data`, `answer`, `code`) is not: when read, it is a
/// node that stays in its frame until ``Frame/content(_:_:)`` copies it out; when written, it is lent to a separate
/// call.
public enum Wire {
  /// A list of no parameters.
  public struct Empty: Hashable, WireValue {
    /// Makes the only value of the type.
    public init() {}

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      try Fields(frame, node).finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.endObject()
    }
  }

  /// A prompt of a conversation. Such replies come before the last reply, which has the method's own type.
  public struct Question: Hashable, WireValue {
    /// The conversation, which ``RespondParameters`` must name.
    public var conversation: String
    /// The question, or the text to be shown.
    public var prompt: Prompt

    /// Makes a prompt.
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

    /// Writes the prompt without a code.
    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("conversation", conversation)
      writer.field("prompt", prompt)
      writer.endObject()
    }

    /// Writes the prompt with the code that the person must type.
    public func write(to writer: inout JSONWriter, secret: RawSpan) {
      writer.beginObject()
      writer.field("conversation", conversation)
      writer.key("prompt")
      prompt.write(to: &writer, secret: secret)
      writer.endObject()
    }
  }

  /// A reply of a conversation whose last reply, or last replies, have the type `Last`.
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
