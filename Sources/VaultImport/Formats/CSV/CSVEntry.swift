internal import VaultBytes
internal import VaultWire

/// The entry that a row describes.
struct CSVEntry {
  /// The entry; nil if the row describes none, such as the row of a folder.
  private(set) var entry: Entry?
  private let table: CSVTable
  /// The values that are not empty, with their columns.
  private var cells: [(column: CSVTable.Column, value: CSVValue)] = []
  /// The kind of the entry in the words of the program; empty if it is not stated.
  private var type = ""

  init(_ row: CSVRow, of table: CSVTable) {
    self.table = table
    for (index, value) in row.values.enumerated() where value.count > 0 {
      guard let column = index < table.columns.count ? table.columns[index] : table.columns.last else { continue }
      cells.append((column, value))
    }
    type = take(.type) ?? ""
    let isNote = table.form == .lastPass && takeLastPassURL()
    if cells.isEmpty || type == "folder" { return }
    var entry = Entry(.login, id: take(.identifier) ?? "", folder: takeFolder(), title: take(.title) ?? "")
    entry.kind = isNote ? .note : kind
    let user = cells.firstIndex { $0.column.meaning == .username } ?? cells.firstIndex { $0.column.meaning == .email }
    if entry.kind == .document { putDocument(into: &entry) }
    for (index, cell) in cells.enumerated() { put(cell.column, cell.value, isUser: index == user, into: &entry) }
    if !Self.types.contains(type) { entry.put("type", .text, type) }
    self.entry = entry
  }

  /// The types of entries that ``kind`` knows, or that say no more than the other columns.
  private static let types = ["", "login", "password", "alias", "note"] + documentTypes
  private static let documentTypes = ["creditCard", "identity", "credit_card"]

  private var kind: ImportedEntry.Kind {
    func has(_ meanings: CSVMeaning...) -> Bool { cells.contains { meanings.contains($0.column.meaning) } }
    if table.form == .documents || Self.documentTypes.contains(type) { return .document }
    if type == "note" { return .note }
    if has(.password, .username, .email, .url, .urls, .oneTime) || type == "login" || type == "password" {
      return .login
    }
    return has(.member) ? .document : has(.note) ? .note : .login
  }

  /// Removes the value of a column that makes the name of the entry or tells its kind. A longer value than a name may
  /// be remains.
  private mutating func take(_ meaning: CSVMeaning) -> String? {
    guard
      let index = cells.firstIndex(where: { $0.column.meaning == meaning && $0.value.count <= ImportedEntry.most.text })
    else { return nil }
    return text(cells.remove(at: index).value)
  }

  private mutating func takeFolder() -> [String] {
    for column in table.columns {
      guard case .folder(let separator, let isRooted) = column.meaning, let path = take(column.meaning) else {
        continue
      }
      guard let separator else { return [path] }
      let all = path.unicodeScalars.split(separator: separator).map { String($0) }
      let names = isRooted ? Array(all.dropFirst()) : all
      let most = ImportedEntry.most.folders
      return names.count <= most
        ? names : names.prefix(most - 1) + [names.dropFirst(most - 1).joined(separator: String(separator))]
    }
    return []
  }

  /// Removes the URL that LastPass writes where there is none; true if it stands for a note. A row with the URL of a
  /// group and nothing else describes no entry.
  private mutating func takeLastPassURL() -> Bool {
    guard let index = cells.firstIndex(where: { $0.column.meaning == .url && $0.value.count <= 16 }) else {
      return false
    }
    let url = text(cells[index].value)
    guard ["http://", "http://sn", "http://group"].contains(url) else { return false }
    cells.remove(at: index)
    let isEmpty = cells.allSatisfy { [.title, .flag, .folder("\\")].contains($0.column.meaning) }
    if url == "http://group", isEmpty { cells = [] }
    return url == "http://sn"
  }

  private func text(_ value: CSVValue) -> String { String(decoding: table.content(value), as: UTF8.self) }
}

extension CSVEntry {
  private func put(_ column: CSVTable.Column, _ value: CSVValue, isUser: Bool, into entry: inout Entry) {
    let name = column.name
    guard value.count <= ImportedField.longestValue else {
      return entry.refuseTooLarge(name, column.meaning.role(name, isUser: isUser), size: value.count)
    }
    switch column.meaning {
    case .oneTime: entry.putOneTime(name, text(value))
    case .urls: for url in CSVList.urls(text(value)) { entry.put(name, .url, url) }
    case .tags: for tag in CSVList.tags(text(value)) { entry.put(name, .tag, tag) }
    case .flag: if !["0", "false", "no"].contains(text(value).lowercased()) { fallthrough }
    case .setting: entry.put(name, .setting, table.content(value))
    case .created(let time), .modified(let time):
      guard let unix = time.unix(text(value)) else { return entry.put(name, .text, text(value)) }
      entry.put(name, column.meaning.role(name, isUser: false), String(unix))
    case .fieldLines: CSVList.putLines(name, text(value), into: &entry)
    case .fieldObjects: CSVList.putObjects(name, text(value), into: &entry)
    case .member where entry.kind == .document: break
    case .note where entry.kind == .document && isJSON(value):
      entry.put(type.isEmpty ? name : type, .document, table.content(value), mediaType: "application/json")
    case .title, .identifier, .folder, .type, .username, .email, .password, .url, .note, .text, .secret, .member:
      entry.put(name, column.meaning.role(name, isUser: isUser), table.content(value))
    }
  }

  /// True if the value can only be an object of JSON, as Proton Pass writes cards and identities.
  private func isJSON(_ value: CSVValue) -> Bool {
    let content = table.content(value)
    return content.first == UInt8(ascii: "{") && content.last == UInt8(ascii: "}")
  }

  /// Adds the members of a card or an identity as JSON.
  private func putDocument(into entry: inout Entry) {
    let members = cells.filter { $0.column.meaning == .member && $0.value.count <= ImportedField.longestValue }
    if members.isEmpty { return }
    var writer = JSONWriter()
    writer.beginObject()
    for (column, value) in members {
      writer.key(column.name)
      writer.string(text(value))
    }
    writer.endObject()
    let json = writer.take()
    entry.put(type.isEmpty ? "document" : type, .document, json.withBytes { $0.array }, mediaType: "application/json")
  }
}

extension CSVMeaning {
  /// The role of a value, if it is one field.
  fileprivate func role(_ name: String, isUser: Bool) -> ImportedField.Role {
    switch self {
    case .username, .email: isUser ? .username : .text
    case .password: .password
    case .url, .urls: .url
    case .oneTime: .oneTime
    case .note: .note
    case .secret, .fieldLines, .fieldObjects: .secret
    case .setting, .flag: .setting
    case .tags: .tag
    case .created: .created
    case .modified: .modified
    case .member: FieldName.role(name)
    case .title, .identifier, .folder, .type, .text: .text
    }
  }
}
