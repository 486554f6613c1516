public import VaultWire

/// The reader of the Credential Exchange Format 1.0 of the FIDO Alliance
/// (https://fidoalliance.org/specs/cx/cxf-v1.0-ps-20250814.html): the JSON of an exchange, or of one account in it.
///
/// An exchange between two programs is encrypted for the one that receives it, so such a file holds what some program
/// wrote in the clear.
public enum CXFReader: SourceReader {
  public static func recognizes(_ source: Source) -> Bool {
    guard let file = source.files.first, source.files.count == 1 else { return false }
    return CXFSigns(file.bytes).areOfExchange
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let file = try source.onlyFile()
    let export = try CXFExport(file.bytes)
    let id = export.accounts.count == 1 ? export.accounts[0].id : ""
    try sink.begin(
      ImportedFormat(
        name: FileFormat.cxf.rawValue, detail: try export.detail(), source: id.isEmpty ? "" : "cxf:\(id)"))
    for account in export.accounts {
      guard var items = account.items else { continue }
      let folders = export.accounts.count > 1 ? [account.name] : []
      try items.arrayOrNull { reader throws(ImportFailure) in
        try sink.add(CXFItem(try reader.value(), in: account.collections, folders).entry)
      }
    }
    let rest = try export.rest()
    if !rest.fields.isEmpty { try sink.add(rest) }
  }
}
