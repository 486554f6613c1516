public import VaultWire

/// The reader of what ansible-vault(1) has encrypted: whole files, and values with the tag `!vault` in files of YAML;
/// one file, or a folder such as a playbook's.
public enum AnsibleReader: SourceReader {
  private enum Form { case whole, values }

  public static func recognizes(_ source: Source) -> Bool { source.files.contains { form(of: $0) != nil } }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let count = source.files.count { form(of: $0) != nil }
    guard count > 0 else { throw ImportFailure(.unknown, "no file has a vault of Ansible in it") }
    let files = count == 1 ? "a file" : "\(count) files"
    try sink.begin(ImportedFormat(name: "ansible-vault", detail: "\(files) of Ansible with encrypted values"))
    var passwords = AnsiblePasswords(source)
    var others = OtherFiles()
    for file in source.files {
      switch form(of: file) {
      case .whole:
        let content = try passwords.open(AnsibleEnvelope(file.bytes), in: file)
        try sink.add(AnsibleFile(file, decrypted: content).entry)
      case .values:
        var found = AnsibleFile(file)
        for document in try YAMLDocuments.all(file.bytes) { try found.add(document, &passwords) }
        try sink.add(found.entry)
      case nil: others.add(file, "nothing in it is encrypted by ansible-vault")
      }
    }
    try others.send(into: &sink)
  }

  private static func form(of file: Source.File) -> Form? {
    if AnsibleEnvelope.isOne(file.bytes) { return .whole }
    return file.mentions("!vault") && file.mentions("$ANSIBLE_VAULT;") ? .values : nil
  }
}
