public import VaultBytes
public import VaultModel

/// The messages between `vaultd` and `vault-pam`, one object per frame. The daemon sends a ``Request``; the helper
/// sends a ``Message/prompt(_:)`` for each message of PAM; the daemon answers each prompt that wants an answer; the
/// helper ends with ``Message/outcome(_:)``.
public enum PresenceWire {
  /// The form in which a prompt is presented.
  public enum Style: String, Sendable {
    /// A question whose answer must not be shown.
    case secret
    /// A question whose answer may be shown.
    case visible
    case info
    case error

    public var wantsAnswer: Bool { self == .secret || self == .visible }
  }

  /// The user to be authenticated, and the PAM service for it.
  public struct Request: Hashable, WireValue {
    /// The PAM service.
    public var service: String
    public var uid: UInt32
    /// The name of the user who asks, if it is not the daemon's user.
    public var requester: String?

    public init(service: String, uid: UInt32, requester: String? = nil) {
      self.service = service
      self.uid = uid
      self.requester = requester
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      service = try fields.string(frame, "service")
      guard let uid = UInt32(exactly: try fields.int64(frame, "uid")) else { throw ParameterError("uid") }
      self.uid = uid
      requester = try fields.optionalString(frame, "requester")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("service", service)
      writer.field("uid", Int64(uid))
      writer.field("requester", requester)
      writer.endObject()
    }
  }

  /// A message or a question of PAM.
  public struct Prompt: Hashable, WireValue {
    public var style: Style
    public var text: String

    public init(style: Style, text: String) {
      self.style = style
      self.text = text
    }

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      guard let style = Style(rawValue: try fields.string(frame, "style")) else { throw ParameterError("style") }
      self.style = style
      text = try fields.string(frame, "text")
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("style", style.rawValue)
      writer.field("text", text)
      writer.endObject()
    }
  }

  /// A frame that the helper sends.
  public enum Message: Hashable, WireValue {
    case prompt(Prompt)
    /// The last frame.
    case outcome(PresenceOutcome)

    public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError) {
      var fields = try Fields(frame, node)
      if let prompt: Prompt = try fields.optionalValue(frame, "prompt") {
        self = .prompt(prompt)
      } else {
        let (word, reason) = (try fields.string(frame, "outcome"), try fields.optionalString(frame, "reason"))
        guard let outcome = PresenceOutcome(word: word, reason: reason) else { throw ParameterError("outcome") }
        self = .outcome(outcome)
      }
      try fields.finish(frame)
    }

    public func write(to writer: inout JSONWriter) {
      writer.beginObject()
      switch self {
      case .prompt(let prompt): writer.field("prompt", prompt)
      case .outcome(let outcome):
        writer.field("outcome", outcome.word)
        writer.field("reason", outcome.reason)
      }
      writer.endObject()
    }
  }

  /// The frame that answers a prompt, with its NUL.
  public static func frame(answering answer: RawSpan) -> SecretBuffer {
    var writer = JSONWriter(capacity: 64 + 2 * answer.byteCount)
    writer.beginObject()
    writer.content(answer, as: "answer")
    writer.endObject()
    return writer.finish()
  }

  /// Reads the answer in a frame that ``frame(answering:)`` made.
  public static func answer(_ frame: borrowing Frame) throws(ParameterError) -> SecretBuffer {
    var fields = try Fields(frame, frame.root)
    let (text, data) = (try fields.secret(frame, "answer"), try fields.secret(frame, "data"))
    try fields.finish(frame)
    guard let answer = try frame.content(text, data) else { throw ParameterError("answer") }
    return answer
  }
}

extension PresenceWire {
  /// True if a name is that of one of the vault's PAM services: `vault`, or a name that begins with `vault-`. The name
  /// becomes part of a path, and PAM would use any service to test passwords.
  public static func isService(_ name: String) -> Bool {
    (name == "vault" || name.hasPrefix("vault-")) && name.utf8.count <= 64
      && name.utf8.allSatisfy {
        ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z")) || ($0 >= 48 && $0 <= 57) || $0 == 45
      }
  }
}
