public import VaultBytes

/// A reply of `vault-import`: one JSON object, ended by a NUL. The reader must trust nothing in the reply.
///
/// After ``ImportCall/read`` come any number of questions, ``format(_:)``, each entry followed by its fields, and at
/// last ``done(_:)``; or ``failed(_:)`` at any time.
public enum ImportReply: ~Copyable {
  /// The longest reply in bytes: a value of 1 MiB in base64, and the facts of its field.
  public static let frameLimit = 4 << 20

  /// The question for a secret that the files need, such as the password of a database.
  case asks(ImportQuestion)
  /// The format of the files.
  case format(ImportedFormat)
  /// The next entry. As many fields follow as it announces.
  case entry(ImportedEntry)
  /// The next field of the entry. The value is empty if the field is refused.
  case field(ImportedField, value: SecretBuffer)
  /// The end of the entries.
  case done(ImportTotals)
  case failed(ImportFailure)

  /// The encoded reply.
  public consuming func frame() -> SecretBuffer {
    var writer = JSONWriter()
    writer.beginObject()
    switch consume self {
    case .asks(let question):
      writer.field("asks", question.kind.rawValue)
      writer.field("file", question.file)
      writer.field("again", question.isAgain)
    case .format(let format):
      writer.field("format", format.name)
      writer.field("detail", format.detail)
      writer.field("source", format.source)
    case .entry(let entry): entry.write(to: &writer)
    case .field(let field, let value):
      writer.reserve(value.count * 2)
      field.write(to: &writer)
      writer.key("data")
      value.withBytes { writer.base64($0) }
    case .done(let totals):
      writer.field("entries", totals.entries)
      writer.field("fields", totals.fields)
    case .failed(let failure):
      writer.field("error", failure.code.rawValue)
      writer.field("reason", failure.reason)
    }
    writer.endObject()
    return writer.finish()
  }

  /// Reads a frame that ``frame()`` wrote; nil for any other frame.
  public init?(_ frame: borrowing Frame) {
    func text(_ key: StaticString) -> String? { frame.member(key, of: frame.root).flatMap { frame.string($0) } }
    func number(_ key: StaticString) -> Int? {
      frame.member(key, of: frame.root).flatMap { frame.integer($0) }.flatMap { Int(exactly: $0) }
    }
    if let code = text("error") {
      guard let code = ImportFailure.Code(rawValue: code), let reason = text("reason") else { return nil }
      self = .failed(ImportFailure(code, reason))
    } else if let kind = text("asks") {
      guard let kind = ImportQuestion.Kind(rawValue: kind), let file = text("file"),
        let isAgain = frame.member("again", of: frame.root).flatMap({ frame.bool($0) })
      else { return nil }
      self = .asks(ImportQuestion(kind, file: file, isAgain: isAgain))
    } else if let name = text("format") {
      guard let detail = text("detail"), let source = text("source") else { return nil }
      self = .format(ImportedFormat(name: name, detail: detail, source: source))
    } else if let entries = number("entries") {
      guard let fields = number("fields"), entries >= 0, fields >= 0 else { return nil }
      self = .done(ImportTotals(entries: entries, fields: fields))
    } else if text("entry") != nil {
      guard let entry = ImportedEntry(frame) else { return nil }
      self = .entry(entry)
    } else {
      guard let field = ImportedField(frame) else { return nil }
      switch ImportCall.value(frame) {
      case .some(let value): self = .field(field, value: value)
      case .none: return nil
      }
    }
  }
}

/// The question for a secret that files need.
public struct ImportQuestion: Hashable, Sendable {
  public enum Kind: String, Sendable {
    /// The password or passphrase of the file.
    case password
    /// The content of a key file.
    case keyFile = "key-file"
  }

  public let kind: Kind
  /// The path of the file, as it was sent.
  public let file: String
  /// True if an earlier answer was wrong.
  public let isAgain: Bool

  public init(_ kind: Kind, file: String, isAgain: Bool = false) {
    (self.kind, self.file, self.isAgain) = (kind, file, isAgain)
  }
}

/// The format of files, as the program recognized it.
public struct ImportedFormat: Hashable, Sendable {
  /// The name by which `--from` knows the format, such as `kdbx`.
  public let name: String
  /// The form in words for a person, such as `KeePass database, KDBX 4.1, Argon2id with 64 MiB and 10 passes`.
  public let detail: String
  /// An identification of this very source that stays the same in a later state of it, such as the database's own id;
  /// empty if there is none.
  public let source: String

  public init(name: String, detail: String, source: String = "") {
    (self.name, self.detail, self.source) = (name, detail, source)
  }
}

/// The numbers of entries and fields that were sent.
public struct ImportTotals: Hashable, Sendable {
  public var entries: Int
  public var fields: Int

  public init(entries: Int = 0, fields: Int = 0) { (self.entries, self.fields) = (entries, fields) }
}

/// The reason why `vault-import` read no more.
public struct ImportFailure: Error, Hashable, Sendable {
  public enum Code: String, Sendable {
    /// The files are in none of the formats, or not in the one that was named.
    case unknown
    /// The files break the rules of their format.
    case damaged
    /// The password or the key file is wrong.
    case wrongSecret = "wrong-secret"
    /// The files need a secret, and there is none.
    case noSecret = "no-secret"
    /// The format is known, but not this form of it.
    case unsupported
    /// The files exceed a limit.
    case tooLarge = "too-large"
    /// The program itself failed.
    case failed
  }

  public let code: Code
  /// The explanation for a person. It contains no secret. Text after the first 1000 characters is cut off.
  public let reason: String

  public init(_ code: Code, _ reason: String) {
    (self.code, self.reason) = (code, HelperReason.cut(reason))
  }
}
