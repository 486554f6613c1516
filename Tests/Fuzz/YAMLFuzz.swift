import VaultWire

@testable import VaultImport

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzYAML(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseYAML(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// The formats in YAML, and two in JSON, with a name of such a file. The letters from `a` on choose one, and the letter
/// after the last stands for the content of a vault of Ansible.
private let forms: [(format: FileFormat, name: String)] = [
  (.kubeconfig, "kube/config"), (.kubernetes, "secret.yaml"), (.homeAssistant, "secrets.yaml"),
  (.esphome, "secrets.yaml"), (.zigbee2mqtt, "configuration.yaml"), (.homebridge, "config.json"),
  (.hashicorp, "db.json"), (.ansible, "group_vars/all.yml"),
]

/// Reads any bytes behind the first in the format that the first byte chooses. Values with a place can be spelled anew
/// there, and the file is read with the same values. Returns true if the file is read.
func exerciseYAML(_ bytes: [UInt8]) -> Bool {
  guard let letter = bytes.first else { return false }
  let index = Int(letter &- UInt8(ascii: "a")) % (forms.count + 1)
  let content = Array(bytes.dropFirst())
  guard index < forms.count else { return exerciseDecrypted(content) }
  let (format, name) = forms[index]
  // A kubeconfig may name the files beside it.
  let others = format == .kubeconfig ? [Source.File("kube/k.pem", Array("KEY".utf8))] : []
  guard readFitting(format.reader, [Source.File(name, content)] + others) != nil else { return false }
  switch format {
  case .homeAssistant, .esphome, .zigbee2mqtt, .homebridge: PlacedValues.check(format.reader, name, content)
  default: break
  }
  return true
}

/// Reads bytes as what a vault of Ansible holds, and as that vault.
private func exerciseDecrypted(_ content: [UInt8]) -> Bool {
  let file = Source.File("all.yml", content)
  var sink = FittingEntries()
  do throws(ImportFailure) {
    try sink.begin(ImportedFormat(name: "ansible-vault", detail: ""))
    try sink.add(AnsibleFile(file, decrypted: content).entry)
  } catch { fatalError(error.reason) }
  return (try? AnsibleEnvelope(content)) != nil
}
