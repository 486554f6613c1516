internal import VaultBytes
internal import VaultWire

/// The writer of Bitwarden's JSON exports of a person's vault, without encryption or with a password of their own.
///
/// The members are those of libs/common/src/models/export and libs/tools/export in bitwarden/clients.
enum BitwardenWriter: EntryWriter {
  static func write(
    _ entries: [Entry], _ order: ExportOrder, password: [UInt8]?, to output: ExportOutput
  ) throws(ImportFailure) {
    let text = try plain(entries, order)
    guard let memory = order.memory else { return try output.take(text[...]) }
    guard let password, !password.isEmpty else {
      throw ImportFailure(.noSecret, "an encrypted Bitwarden export has a password")
    }
    try BitwardenSeal(password: password, memory: memory).write(text, to: output)
  }

  private static func plain(_ entries: [Entry], _ order: ExportOrder) throws(ImportFailure) -> [UInt8] {
    var folders: [String: String] = [:]
    var writer = JSONWriter(capacity: 64 << 10)
    writer.beginObject()
    writer.key("encrypted")
    writer.bool(false)
    writer.key("folders")
    writer.beginArray()
    for entry in entries where !entry.folder.isEmpty {
      let name = entry.folder.joined(separator: "/")
      guard folders[name] == nil else { continue }
      let id = StableIdentifier.uuid(try StableIdentifier.bytes([order.name, "folder", name]))
      folders[name] = id
      writer.beginObject()
      writer.key("id")
      writer.string(id)
      writer.key("name")
      writer.string(name)
      writer.endObject()
    }
    writer.endArray()
    writer.key("items")
    writer.beginArray()
    for entry in entries {
      let folder = folders[entry.folder.joined(separator: "/")]
      try BitwardenItemWriter(entry, folder: folder).write(to: &writer)
    }
    writer.endArray()
    writer.endObject()
    return writer.withBytes { $0.array }
  }
}
