internal import VaultBytes
internal import VaultWire

/// The reader of what `vault kv get -format=json` of HashiCorp Vault prints, for both versions of the engine `kv`: one
/// secret, a list of them, or a folder of such files. The output does not have the path of the secret, so the name of
/// the file takes its place.
enum HashiCorpReader: SourceReader {
  static func recognizes(_ source: Source) -> Bool {
    !source.files.isEmpty && source.files.prefix(16).allSatisfy(isAlike)
  }

  /// True if the first object has the members of an answer of the server.
  private static func isAlike(_ file: Source.File) -> Bool {
    var names: Set<String> = []
    // The beginning may end anywhere; what was read until then remains.
    var reader = JSONReader(Array(file.bytes.prefix(64 << 10)))
    func take(_ reader: inout JSONReader) throws(ImportFailure) {
      try reader.object { name, _ throws(ImportFailure) in if names.count < 64 { names.insert(name) } }
    }
    if file.bytes.first(where: { !$0.isBlank }) == UInt8(ascii: "[") {
      try? reader.array { reader throws(ImportFailure) in if names.isEmpty { try take(&reader) } }
    } else {
      try? take(&reader)
    }
    return names.isSuperset(of: ["request_id", "lease_id", "lease_duration"])
  }

  static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    var secrets: [HashiCorpSecret] = []
    for file in source.files {
      var reader = JSONReader(file.bytes)
      let value: JSONValue
      do throws(ImportFailure) {
        value = try reader.value()
        try reader.finish()
      } catch {
        throw source.files.count == 1 ? error : ImportFailure(error.code, "\(file.path): \(error.reason)")
      }
      for answer in value.isArray ? value.elements : [value] {
        guard answer.isObject, answer["request_id"] != nil || answer["data"] != nil else {
          throw ImportFailure(.damaged, "\(file.path): it is not what `vault kv get -format=json` prints")
        }
        secrets.append(HashiCorpSecret(answer, file))
      }
    }
    let version = secrets.contains { $0.isSecondVersion } ? "2" : "1"
    try sink.begin(
      ImportedFormat(name: FileFormat.hashicorp.rawValue, detail: "secrets of HashiCorp Vault, kv version \(version)")
    )
    var found = FoundEntries()
    for secret in secrets { try found.add(secret.entry, isSecret: true) }
    for entry in found.entries { try sink.add(entry) }
  }
}
