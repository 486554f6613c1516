extension Wire {
  /// A question of a conversation.
  public struct Prompt: Hashable, WireValue {
    /// `secret`, `visible`, `new-secret`, `confirm`, `info` or `error`.
    public var style: String
    /// The method that asks: `password` or `recovery`.
    public var method: String
    /// The question.
    public var text: String
    /// The code that `confirm` shows once and has typed back, in the frame this was read from: a secret.
    public let code: Frame.Node?

    /// Fills it in; what is left out is absent.
    public init(style: String, method: String, text: String) {
      self.style = style
      self.method = method
      self.text = text
      code = nil
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      style = try fields.string(frame, "style")
      method = try fields.string(frame, "method")
      text = try fields.string(frame, "text")
      code = try fields.secret(frame, "code")
      try fields.finish(frame)
    }

    /// Writes it without a code.
    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writeFields(to: &writer)
      writer.endObject()
    }

    /// Writes it with `code` as the code.
    public func write(to writer: inout JSONWriter, code bytes: RawSpan) {
      writer.beginObject()
      writeFields(to: &writer)
      writer.key("code")
      writer.secret(bytes)
      writer.endObject()
    }

    private func writeFields(to writer: inout JSONWriter) {
      writer.field("style", style)
      writer.field("method", method)
      writer.field("text", text)
    }
  }

  /// The replies of `Init`, `Unlock`, `ChangePassword` and `RemoveSlot`: a prompt each, and nothing at the end.
  public struct ConversationReply: Hashable, WireValue {
    /// The conversation that ``RespondParameters`` must name.
    public var conversation: String?
    /// The question; nil in the last reply.
    public var prompt: Prompt?

    /// Fills it in; what is left out is absent.
    public init(conversation: String? = nil, prompt: Prompt? = nil) {
      self.conversation = conversation
      self.prompt = prompt
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      conversation = try fields.optionalString(frame, "conversation")
      prompt = try fields.optional(frame, "prompt")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("conversation", conversation)
      writer.field("prompt", prompt)
      writer.endObject()
    }
  }

  /// The reply of `AddSlot`: a prompt each, and the slot at the end.
  public struct AddSlotReply: Hashable, WireValue {
    /// The conversation that ``RespondParameters`` must name.
    public var conversation: String?
    /// The question; nil in the last reply.
    public var prompt: Prompt?
    /// The id of the new slot.
    public var slot: Int?

    /// Fills it in; what is left out is absent.
    public init(conversation: String? = nil, prompt: Prompt? = nil, slot: Int? = nil) {
      self.conversation = conversation
      self.prompt = prompt
      self.slot = slot
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      conversation = try fields.optionalString(frame, "conversation")
      prompt = try fields.optional(frame, "prompt")
      slot = try fields.optionalInt(frame, "slot")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("conversation", conversation)
      writer.field("prompt", prompt)
      writer.field("slot", slot)
      writer.endObject()
    }
  }

  /// The parameters of `Respond`.
  public struct RespondParameters: Hashable, WireValue {
    /// The conversation, as its prompts name it.
    public var conversation: String
    /// The answer when it is text, in the frame this was read from.
    public let answer: Frame.Node?
    /// The answer in base64 when it is not text.
    public let data: Frame.Node?

    /// Fills it in; what is left out is absent.
    public init(conversation: String) {
      self.conversation = conversation
      answer = nil
      data = nil
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      conversation = try fields.string(frame, "conversation")
      answer = try fields.secret(frame, "answer")
      data = try fields.secret(frame, "data")
      try fields.finish(frame)
    }

    /// Writes it without an answer.
    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writeFields(to: &writer)
      writer.endObject()
    }

    /// Writes it with `answer` as the answer.
    public func write(to writer: inout JSONWriter, answer bytes: RawSpan) {
      writer.beginObject()
      writeFields(to: &writer)
      writer.answer(bytes)
      writer.endObject()
    }

    private func writeFields(to writer: inout JSONWriter) {
      writer.field("conversation", conversation)
    }
  }

  /// The reply of `org.varlink.service.GetInfo`.
  public struct GetInfoReply: Hashable, WireValue {
    /// The maker of the service.
    public var vendor: String
    /// Its name.
    public var product: String
    /// The program's version.
    public var version: String
    /// The address of its documentation.
    public var url: String
    /// The interfaces that it speaks.
    public var interfaces: [String]

    /// Fills it in.
    public init(vendor: String, product: String, version: String, url: String, interfaces: [String]) {
      self.vendor = vendor
      self.product = product
      self.version = version
      self.url = url
      self.interfaces = interfaces
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      vendor = try fields.string(frame, "vendor")
      product = try fields.string(frame, "product")
      version = try fields.string(frame, "version")
      url = try fields.string(frame, "url")
      interfaces = try fields.strings(frame, "interfaces")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("vendor", vendor)
      writer.field("product", product)
      writer.field("version", version)
      writer.field("url", url)
      writer.field("interfaces", interfaces)
      writer.endObject()
    }
  }

  /// The parameters of `org.varlink.service.GetInterfaceDescription`.
  public struct GetInterfaceDescriptionParameters: Hashable, WireValue {
    /// The name of an interface.
    public var interface: String

    /// Fills it in.
    public init(interface: String) {
      self.interface = interface
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      interface = try fields.string(frame, "interface")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("interface", interface)
      writer.endObject()
    }
  }

  /// The reply of `org.varlink.service.GetInterfaceDescription`.
  public struct GetInterfaceDescriptionReply: Hashable, WireValue {
    /// The interface's definition.
    public var description: String

    /// Fills it in.
    public init(description: String) {
      self.description = description
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      description = try fields.string(frame, "description")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("description", description)
      writer.endObject()
    }
  }
}
