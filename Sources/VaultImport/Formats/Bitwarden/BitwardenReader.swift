public import VaultWire

/// The reader of Bitwarden's JSON exports: without encryption, and with a password of their own.
///
/// An export that is encrypted with the key of an account can be read by that account alone.
public enum BitwardenReader: SourceReader {
  public static func recognizes(_ source: Source) -> Bool {
    guard let file = source.files.first, source.files.count == 1 else { return false }
    return BitwardenSigns(file.bytes).areOfBitwarden
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let file = try source.onlyFile()
    let outer = try BitwardenMembers(file.bytes)
    guard outer.isEncrypted else { return try send(outer, "", into: &sink) }
    guard outer.hasPassword else {
      throw ImportFailure(
        .unsupported,
        "the export is encrypted with the key of a Bitwarden account, so that only Bitwarden can read it; export the "
          + "vault again, as \".json\", or as \".json (Encrypted)\" of the type \"Password protected\"")
    }
    let lock = try BitwardenLock(outer, in: file.bytes)
    let inner = try BitwardenMembers(lock.open(file, of: source))
    guard !inner.isEncrypted else { throw ImportFailure(.damaged, "the export contains an encrypted export") }
    try send(inner, ", \(lock.detail)", into: &sink)
  }

  private static func send(
    _ export: BitwardenMembers, _ lock: String, into sink: inout some EntrySink
  ) throws(ImportFailure) {
    guard var items = export.items else { throw ImportFailure(.damaged, "the export has no 'items'") }
    let owner = export.isOfOrganization ? "an organization" : "a vault"
    try sink.begin(ImportedFormat(name: "bitwarden", detail: "Bitwarden export of \(owner)\(lock)"))
    var number = 0
    try items.array { reader throws(ImportFailure) in
      number += 1
      let value = try reader.value()
      guard case .object = value else { throw ImportFailure(.damaged, "item \(number) is no object") }
      try sink.add(BitwardenItem(value, in: export.folders).entry)
    }
    try sendOthers(export, into: &sink)
  }

  /// Sends the members of the export that are unknown, such as those of a later version, as one entry.
  private static func sendOthers(_ export: BitwardenMembers, into sink: inout some EntrySink) throws(ImportFailure) {
    var entry = Entry(.document, title: "Bitwarden export")
    let plain = entry.fields.count
    for (name, var place) in export.others {
      let start = place.offset
      var end = place
      try end.skip()
      if end.offset - start > 2 * ImportedField.longestValue {
        // The bound leaves room for white space; a value that is too large without it is refused later.
        entry.refuseTooLarge(name, .document, size: end.offset - start)
      } else {
        entry.addUnknown(name, try place.value())
      }
    }
    guard entry.fields.count > plain else { return }
    try sink.add(entry)
  }
}
