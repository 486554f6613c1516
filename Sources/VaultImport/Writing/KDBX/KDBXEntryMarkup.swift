internal import VaultBytes
internal import VaultWire

/// An entry in the document of a KDBX file as it is written (KeePass: KdbxFile.Write.cs).
struct KDBXEntryMarkup {
  /// A text of the entry.
  private struct Text {
    let key: String
    let value: [UInt8]
    let isProtected: Bool
  }

  private let entry: Entry
  /// The identification in base64.
  private let id: String
  /// The time of the export in Unix seconds, for times that are not known.
  private let now: Int64
  private let texts: [Text]

  init(_ entry: Entry, id: [UInt8], now: Int64) {
    (self.entry, self.id, self.now) = (entry, id.base64, now)
    texts =
      [Text(key: "Title", value: Array(entry.title.utf8), isProtected: false)] + entry.fields.compactMap(Self.text)
  }

  /// The field as a text of the entry; nil for a field that the format keeps elsewhere.
  private static func text(_ field: Field) -> Text? {
    switch field.role {
    case .username, .url, .note, .text: Text(key: field.name, value: field.value, isProtected: false)
    case .password, .secret, .oneTime: Text(key: field.name, value: field.value, isProtected: true)
    case .title, .folder, .identifier, .tag, .attachment, .document, .created, .modified, .expires, .oldPassword,
      .oldField, .setting:
      nil
    }
  }

  /// The files of the entry.
  var attachments: [Field] { entry.fields.having(.attachment) }

  /// Adds the entry to the document.
  ///
  /// - Parameter attachment: The number of the first file of the entry.
  func write(to markup: inout KDBXMarkup, attachment: Int) throws(ImportFailure) {
    let snapshots = KDBXSnapshots(entry.fields)
    markup.open("Entry")
    try writeVersion(nil, snapshots, to: &markup, attachment)
    writeMarks(to: &markup)
    markup.open("History")
    for version in snapshots.versions {
      markup.open("Entry")
      try writeVersion(version, snapshots, to: &markup, attachment)
      markup.close("Entry")
    }
    markup.close("History")
    markup.close("Entry")
  }

  /// The kind that the reader gives to an entry with these texts.
  private var naturalKind: ImportedEntry.Kind {
    KDBXAccount.kind(hasNotes: has("Notes"), isLogin: has("Password") || has("UserName") || has("URL") || hasOneTime)
  }

  private func has(_ key: String) -> Bool { texts.contains { $0.key == key && !$0.value.isEmpty } }
  private var hasOneTime: Bool { entry.fields.contains { $0.role == .oneTime } }

  /// Adds the marks by which an import knows what does not follow from the fields; see ``KDBXMarks``.
  private func writeMarks(to markup: inout KDBXMarkup) {
    var marks = entry.kind == naturalKind ? [] : [(KDBXMark.kind, entry.kind.rawValue)]
    for field in entry.fields {
      guard let mark = field.mark else { continue }
      switch field.role {
      case .expires: marks.append((KDBXMark.expires, mark))
      case .text: marks.append((KDBXMark.attribute(field.name), mark))
      case .title, .folder, .identifier, .username, .password, .url, .oneTime, .note, .secret, .tag, .attachment,
        .document, .created, .modified, .oldPassword, .oldField, .setting:
        marks.append((KDBXMark.kind(of: field.name), mark))
      }
    }
    guard !marks.isEmpty else { return }
    markup.open("CustomData")
    for (key, value) in marks {
      markup.open("Item")
      markup.element("Key", key)
      markup.element("Value", value)
      markup.close("Item")
    }
    markup.close("CustomData")
  }

  // MARK: Versions

  /// Adds the parts of an earlier version, or of the current one.
  private func writeVersion(
    _ version: KDBXSnapshots.Version?, _ snapshots: KDBXSnapshots, to markup: inout KDBXMarkup, _ attachment: Int
  ) throws(ImportFailure) {
    markup.element("UUID", id)
    markup.element("IconID", "0")
    let tags = entry.fields.having(.tag).map { String(decoding: $0.value, as: UTF8.self) }
    markup.element("Tags", tags.joined(separator: ";"))
    writeTimes(version, to: &markup)
    for text in texts {
      guard let value = Self.value(of: text, version, snapshots) else { continue }
      try markup.field(text.key, value, isProtected: text.isProtected)
    }
    for (number, file) in attachments.enumerated() { markup.attachment(file.name, number: attachment + number) }
  }

  /// The value of a text in a version; nil if the version does not have it.
  private static func value(
    of text: Text, _ version: KDBXSnapshots.Version?, _ snapshots: KDBXSnapshots
  ) -> [UInt8]? {
    guard let version, snapshots.changed.contains(text.key) else { return text.value }
    return version.values[text.key]
  }

  private func writeTimes(_ version: KDBXSnapshots.Version?, to markup: inout KDBXMarkup) {
    let created = entry.fields.time(.created)
    let modified = version.map(\.time) ?? entry.fields.time(.modified)
    let expires = entry.fields.time(.expires)
    markup.open("Times")
    if let created { markup.element("CreationTime", KDBXTime.text(created)) }
    if let modified { markup.element("LastModificationTime", KDBXTime.text(modified)) }
    markup.element("LastAccessTime", KDBXTime.text(modified ?? created ?? now))
    markup.element("ExpiryTime", KDBXTime.text(expires ?? now))
    markup.element("Expires", expires == nil ? "False" : "True")
    markup.element("UsageCount", "0")
    markup.element("LocationChanged", KDBXTime.text(created ?? now))
    markup.close("Times")
  }
}

extension KDBXTime {
  /// Writes a time in the form of KDBX 4: base64 of the seconds since the year 1.
  static func text(_ unix: Int64) -> String {
    UInt64(bitPattern: unix.addingReportingOverflow(epoch).partialValue).littleEndianBytes.base64
  }
}
