internal import VaultWire

extension KDBXAccount {
  /// An entry with all its fields. What an entry has besides texts comes behind these: files, labels, times, settings,
  /// and at last the earlier values.
  mutating func imported(_ source: KDBXEntry) throws(ImportFailure) -> Entry {
    var texts: [KDBXText] = []
    var missing: [(key: String, reference: [UInt8])] = []
    for text in source.current.texts {
      let found = try references.resolve(text.value)
      texts.append(KDBXText(key: text.key, value: found.text, isProtected: text.isProtected))
      missing += found.missing.map { (text.key, $0) }
    }
    let oneTime = KDBXOneTime(texts, label: Self.string(texts, "Title"))
    var marks = KDBXMarks(source.current)
    var entry = Entry(
      marks.kind ?? Self.kind(texts, oneTime), id: source.id, folder: try folder(source.group),
      title: Self.string(texts, "Title").cut(ImportedEntry.most.text))
    entry.isTrashed = isTrash(source.group)
    addTexts(texts, oneTime, to: &entry)
    for (key, reference) in missing { entry.put("reference", .setting, Array("\(key): ".utf8) + reference) }
    for attachment in source.current.attachments { add(attachment, to: &entry) }
    marks.apply(to: &entry, texts)
    for tag in source.current.tags { entry.put("Tags", .tag, Array(tag.utf8)) }
    addFacts(source.current, marks, to: &entry)
    try addHistory(source, to: &entry)
    return entry
  }

  private static func string(_ texts: [KDBXText], _ key: String) -> String {
    String(decoding: texts.first { $0.key == key }?.value ?? [], as: UTF8.self)
  }

  /// The kind of an entry by its texts.
  private static func kind(_ texts: [KDBXText], _ oneTime: KDBXOneTime) -> ImportedEntry.Kind {
    func has(_ key: String) -> Bool { texts.contains { $0.key == key && !$0.value.isEmpty } }
    let isLogin = has("Password") || has("UserName") || has("URL") || !oneTime.found.isEmpty
    return kind(hasNotes: has("Notes"), isLogin: isLogin)
  }

  /// The kind of an entry without a mark: a note if there is a text, and nothing with which to log in.
  static func kind(hasNotes: Bool, isLogin: Bool) -> ImportedEntry.Kind { hasNotes && !isLogin ? .note : .login }

  private func addTexts(_ texts: [KDBXText], _ oneTime: KDBXOneTime, to entry: inout Entry) {
    var seen: Set<String> = []
    for text in texts {
      let isFirst = seen.insert(text.key).inserted
      switch text.key {
      case "Title" where isFirst:
        // The entry has the field already. The title is cut if it is very long, but the field is not.
        if text.value.count > ImportedEntry.most.text {
          entry.fields.removeAll { $0.role == .title }
          entry.put("title", .title, text.value)
        }
      case "UserName" where isFirst: entry.put(text.key, .username, text.value)
      case "Password" where isFirst: entry.put(text.key, .password, text.value)
      case "URL" where isFirst: entry.put(text.key, .url, text.value)
      case "Notes" where isFirst: entry.put(text.key, .note, text.value)
      default:
        if isFirst, oneTime.joined.contains(text.key) { continue }
        if isFirst, let uri = oneTime.found[text.key] {
          entry.put(text.key, .oneTime, Array(uri.utf8))
        } else {
          // KeePassXC protects only some of the fields of a passkey, which are of use only together.
          let isSecret = text.isProtected || text.key.hasPrefix("KPEX_PASSKEY_")
          entry.put(text.key, isSecret ? .secret : .text, text.value)
        }
      }
    }
  }

  private func add(_ attachment: KDBXAttachment, to entry: inout Entry) {
    let name = attachment.name.cut(ImportedField.longestName)
    switch attachment.content ?? attachment.reference.flatMap({ document.binaries[$0] }) {
    // A file may be empty, unlike other fields.
    case .bytes(let bytes): entry.fields.append(Field(name, .attachment, bytes))
    case .tooLarge(let count): entry.refuseTooLarge(name, .attachment, size: count)
    case nil: entry.refuse(name, .attachment, size: 0, "the database does not contain this file")
    }
  }

  private func addFacts(_ version: KDBXVersion, _ marks: KDBXMarks, to entry: inout Entry) {
    if let time = version.created { entry.add("CreationTime", .created, String(time)) }
    if let time = version.modified { entry.add("LastModificationTime", .modified, String(time)) }
    if let time = version.expires {
      let mark = marks.isExpiryEnforced ? ImportedField.enforced : nil
      entry.fields.append(Field("ExpiryTime", .expires, Array(String(time).utf8), mark: mark))
    }
    for setting in marks.settings { entry.put(setting.name, .setting, setting.value) }
  }

  private mutating func addHistory(_ source: KDBXEntry, to entry: inout Entry) throws(ImportFailure) {
    guard !source.history.isEmpty else { return }
    let history = KDBXHistory(source)
    for old in history.texts {
      let text = try references.resolve(old.value).text
      entry.put(old.key, old.key == "Password" ? .oldPassword : .oldField, text, time: old.time)
    }
    for (attachment, _) in history.attachments {
      let size = (attachment.content ?? attachment.reference.flatMap { document.binaries[$0] })?.count ?? 0
      entry.refuse(
        attachment.name.cut(ImportedField.longestName), .oldField, size: size,
        "it is a file that only an earlier version of the entry has")
    }
  }
}
