internal import VaultBytes

/// A field of an entry, without its value. Whatever the source holds of an entry is a field, so that the account of an
/// import can tell what became of it.
public struct ImportedField: Hashable, Sendable {
  /// The meaning of a field. It decides how the field is stored.
  public enum Role: String, CaseIterable, Sendable {
    /// The title and the folder, which make the name of the item; the value is their text.
    case title, folder
    /// The identification in the source.
    case identifier
    case username
    /// The secret that is the value of the item itself.
    case password
    case url
    /// A one-time secret as an `otpauth:` URI, or the text in its place that is no such secret.
    case oneTime = "one-time"
    /// A text of any length.
    case note
    /// A text that is no secret.
    case text
    /// A text that the source protects.
    case secret
    /// One label.
    case tag
    /// A file; the name of the field is the file's name.
    case attachment
    /// A whole entry that consists of many members, as JSON.
    case document
    /// Times as decimal Unix seconds.
    case created, modified, expires
    /// An earlier value of ``password``, or the text of another field as it was once.
    case oldPassword = "old-password"
    case oldField = "old-field"
    /// A setting of the program that the source belongs to, such as an icon.
    case setting
  }

  /// The most bytes of a value, which are those of an item; a larger one is refused with its size.
  public static let longestValue = 1 << 20
  /// The most bytes of a name and of a refusal.
  public static let longestName = 4096
  /// The most bytes of a mark.
  public static let longestMark = 64
  /// The mark of a time after which the vault does not serve the item.
  public static let enforced = "enforced"
  /// The mark of a text that is an attribute, although its name sounds like a secret.
  public static let attribute = "attribute"

  /// The name of the field in the source.
  public let name: String
  public let role: Role
  /// The time at which an old value was replaced or written, in Unix seconds; nil if nothing is known.
  public let time: Int64?
  /// The media type of an attachment or a document; nil if nothing is known.
  public let mediaType: String?
  /// The size of the value in bytes, also of a value that is refused.
  public let size: Int
  /// The reason why the field cannot be imported; nil if it can.
  public let refusal: String?
  /// The place of the value in the only file of the source; nil if the format has no templates.
  public let place: ImportedPlace?
  /// The mark that an export of a vault has left: the kind of the item whose value the field is, ``enforced`` for an
  /// expiry, and ``attribute`` for a text. Nil for a field of another program.
  public let mark: String?

  public init(
    _ name: String, _ role: Role, time: Int64? = nil, mediaType: String? = nil, size: Int, refusal: String? = nil,
    place: ImportedPlace? = nil, mark: String? = nil
  ) {
    (self.name, self.role, self.time, self.mark) = (name, role, time, mark)
    (self.mediaType, self.size, self.refusal, self.place) = (mediaType, size, refusal, place)
  }

  /// The refusal of a value of so many bytes, for which an item has no room.
  public static func tooLarge(_ size: Int) -> String {
    "it has \(size) bytes, and an item has room for \(longestValue >> 20) MiB"
  }

  func write(to writer: inout JSONWriter) {
    writer.field("name", name)
    writer.field("role", role.rawValue)
    writer.field("time", time)
    writer.field("type", mediaType)
    writer.field("size", size)
    writer.field("refusal", refusal)
    writer.field("mark", mark)
    place?.write(to: &writer)
  }

  init?(_ frame: borrowing Frame) {
    let root = frame.root
    func text(_ key: StaticString) -> String? { frame.member(key, of: root).flatMap { frame.string($0) } }
    func number(_ key: StaticString) -> Int64? { frame.member(key, of: root).flatMap { frame.integer($0) } }
    guard let name = text("name"), name.utf8.count <= Self.longestName, let role = text("role").flatMap(Role.init),
      let size = number("size").flatMap({ Int(exactly: $0) }), size >= 0
    else { return nil }
    let (mediaType, refusal, mark) = (text("type"), text("refusal"), text("mark"))
    guard (mediaType?.utf8.count ?? 0) <= 256, (refusal?.utf8.count ?? 0) <= Self.longestName,
      (mark?.utf8.count ?? 0) <= Self.longestMark
    else { return nil }
    let place = ImportedPlace(frame)
    guard (place == nil) == (frame.member("at", of: root) == nil) else { return nil }
    self.init(
      name, role, time: number("time"), mediaType: mediaType, size: size, refusal: refusal, place: place, mark: mark)
  }
}
