public import VaultWire

/// The reader of Home Assistant's `secrets.yaml`.
public enum HomeAssistantReader: SourceReader {
  public static func recognizes(_ source: Source) -> Bool {
    SecretsFile.file(of: source, named: ["secrets.yaml", "secrets.yml"]) != nil
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let format = ImportedFormat(name: "home-assistant", detail: "secrets of Home Assistant")
    try SecretsFile(source.onlyFile()).entries(in: "home-assistant").send(format, into: &sink)
  }
}

/// The reader of ESPHome's `secrets.yaml`, which has the name and the form of Home Assistant's. It is recognized by the
/// names that ESPHome's own wizard and dashboard give to secrets (esphome/wizard.py and esphome/dashboard).
public enum ESPHomeReader: SourceReader {
  private static let names: Set = [
    "wifi_ssid", "wifi_password", "ota_password", "api_encryption_key", "ap_password", "fallback_password",
  ]

  public static func recognizes(_ source: Source) -> Bool {
    guard let file = SecretsFile.file(of: source, named: ["secrets.yaml", "secrets.yml"]) else { return false }
    return file.root.members.contains { names.contains($0.name) }
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let file = try SecretsFile(source.onlyFile())
    // Home Assistant's file may have some of the names, too.
    let isMixed = file.root.members.contains { !names.contains($0.name) }
    let format = ImportedFormat(
      name: "esphome",
      detail: "secrets of ESPHome" + (isMixed ? "; with --from home-assistant, secrets of Home Assistant" : ""))
    try file.entries(in: "esphome").send(format, into: &sink)
  }
}
