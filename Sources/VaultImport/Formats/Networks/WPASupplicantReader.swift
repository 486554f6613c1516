internal import VaultBytes
public import VaultWire

/// The reader of `wpa_supplicant.conf`: each network and each credential of Passpoint becomes an entry.
public enum WPASupplicantReader: SourceReader {
  public static func recognizes(_ source: Source) -> Bool {
    guard let file = try? source.onlyFile(), file.mentions("network") || file.mentions("cred"),
      let lines = try? WPAConfiguration(file.bytes)
    else { return false }
    return lines.blocks.contains { ["network", "cred"].contains($0.name) }
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let file = try source.onlyFile()
    let lines = try WPAConfiguration(file.bytes)
    let count = lines.blocks.count { $0.name == "network" }
    try sink.begin(
      ImportedFormat(
        name: "wpa-supplicant", detail: "wpa_supplicant.conf with \(count) \(count == 1 ? "network" : "networks")"))
    var settings = Entry(of: ["wifi"], named: "settings of \(file.name)")
    for pair in lines.globals {
      let isSecret = WPANetwork.isSecret(pair.name)
      settings.fields.append(
        Field(pair.name, isSecret ? .secret : .setting, (isSecret ? pair.string : nil) ?? Array(pair.raw)))
    }
    for block in lines.blocks {
      switch block.name {
      case "network", "cred": try sink.add(WPANetwork(block).entry)
      default: add(block, to: &settings)
      }
    }
    if !settings.fields.isEmpty { try sink.add(settings) }
  }

  /// Adds a blob, which may be a key, or a block of another kind.
  private static func add(_ block: WPAConfiguration.Block, to settings: inout Entry) {
    if block.name.hasPrefix("blob-base64-"), let value = KubernetesText.decoded(block.text) {
      settings.put(block.name, .secret, value)
    } else if !block.text.isEmpty {
      settings.put(block.name, .secret, block.text)
    }
    for pair in block.pairs {
      let role: ImportedField.Role = WPANetwork.isSecret(pair.name) ? .secret : .setting
      settings.fields.append(Field("\(block.name).\(pair.name)", role, Array(pair.raw)))
    }
  }
}
