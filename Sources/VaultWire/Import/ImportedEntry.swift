internal import VaultBytes

/// An entry of another program, such as a login with its fields.
public struct ImportedEntry: Hashable, Sendable {
  /// The kind of an entry. It decides how its fields are stored.
  public enum Kind: String, CaseIterable, Sendable {
    /// A password with a user name, a URL and the like.
    case login
    /// A text.
    case note
    /// A payment card, a passkey, an identity and the like, which the source describes by many members.
    case document
    /// A private key, which is the value of the password field.
    case key
    /// A private key for SSH, which is the value of the password field.
    case sshKey = "ssh-key"
    /// A token by which a program is known, which is the value of the password field.
    case token
    /// A one-time secret by itself.
    case oneTime = "one-time"
    /// The password of a wireless network; the title is its name (SSID).
    case wifi
    /// The code that pairs a device, which is the value of the password field.
    case pairing
    /// A value with a name, as in a file of settings.
    case value
    /// A file by itself.
    case file
  }

  /// The most parts of a folder, the most bytes of the title and of each part, and the most fields.
  public static let most = (folders: 64, text: 16 << 10, fields: 4096)

  public let kind: Kind
  /// The identification of the entry in its source, such as a UUID; empty if the source has none.
  public let id: String
  /// The names of the folders that contain the entry, from the outermost one.
  public let folder: [String]
  public let title: String
  /// True if the source holds the entry in its trash.
  public let isTrashed: Bool
  /// The number of fields, each of which follows as a reply.
  public let fieldCount: Int

  public init(_ kind: Kind, id: String, folder: [String], title: String, isTrashed: Bool, fieldCount: Int) {
    (self.kind, self.id, self.folder, self.title) = (kind, id, folder, title)
    (self.isTrashed, self.fieldCount) = (isTrashed, fieldCount)
  }

  func write(to writer: inout JSONWriter) {
    writer.field("entry", kind.rawValue)
    writer.field("id", id)
    writer.field("folder", folder)
    writer.field("title", title)
    writer.field("trashed", isTrashed)
    writer.field("count", fieldCount)
  }

  init?(_ frame: borrowing Frame) {
    let root = frame.root
    func text(_ key: StaticString) -> String? {
      guard let text = frame.member(key, of: root).flatMap({ frame.string($0) }), text.utf8.count <= Self.most.text
      else { return nil }
      return text
    }
    guard let kind = text("entry").flatMap(Kind.init), let id = text("id"), let title = text("title"),
      let isTrashed = frame.member("trashed", of: root).flatMap({ frame.bool($0) }),
      let count = frame.member("count", of: root).flatMap({ frame.integer($0) }),
      (0...Int64(Self.most.fields)).contains(count), let list = frame.member("folder", of: root),
      frame.kind(list) == .array
    else { return nil }
    var folder: [String] = []
    for node in frame.elements(of: list) {
      guard let name = frame.string(node), name.utf8.count <= Self.most.text, folder.count < Self.most.folders
      else { return nil }
      folder.append(name)
    }
    self.init(kind, id: id, folder: folder, title: title, isTrashed: isTrashed, fieldCount: Int(count))
  }
}
