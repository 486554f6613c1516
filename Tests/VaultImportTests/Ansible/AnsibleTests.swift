import Testing
import VaultWire

@testable import VaultImport

@Suite("Vaults of Ansible") struct AnsibleTests {
  /// The passwords of the files: that without an id, and that of `prod`.
  private static let (plain, prod) = ("pw1", "pw2")

  /// A sink that keeps what it gets, and the questions with their answers.
  private final class Stand: EntrySink {
    var entries: [Entry] = []
    var asked: [String] = []

    func begin(_ format: ImportedFormat) {}
    func add(_ entry: Entry) { entries.append(entry) }

    /// Reads files; the answers go to the questions, one after the other.
    func read(_ files: [Source.File], _ answers: String...) throws(ImportFailure) {
      var answers = answers[...]
      let source = Source(files) { question throws(ImportFailure) in
        self.asked.append(question.file + (question.isAgain ? ", again" : ""))
        return answers.popFirst().map { Array($0.utf8) }
      }
      var sink = self
      try AnsibleReader.read(source, into: &sink)
    }

    var told: [String] {
      entries.flatMap { entry in
        [(entry.folder + [entry.title]).joined(separator: "/")]
          + entry.fields.filter { ![.title, .folder, .identifier].contains($0.role) }.map { field in
            "  \(field.name) [\(field.role.rawValue)] \(field.refusal ?? String(decoding: field.value, as: UTF8.self))"
          }
      }
    }
  }

  private func failure(_ file: Source.File, _ answers: String...) -> ImportFailure? {
    do throws(ImportFailure) {
      try answers.count == 1 ? Stand().read([file], answers[0]) : Stand().read([file])
      return nil
    } catch { return error }
  }

  @Test("are opened as whole files and as values, and each id is asked for once") func files() throws {
    let names = ["ansible-whole.yml", "ansible-values.yml", "ansible-id.txt"]
    let stand = Stand()
    try stand.read(try names.map { try realFile($0) }, Self.plain, "wrong", Self.prod)
    let id = "ansible-values.yml, vault id prod"
    #expect(stand.asked == ["ansible-whole.yml", id, "\(id), again"])
    #expect(
      stand.told == [
        "ansible/ansible-whole", "  db_password [secret] hunter2", "  api.token [secret] abc", "  api.port [secret] 5",
        "  list.1 [secret] a", "  list.2 [secret] b", "  none [setting] ", "ansible/ansible-values",
        "  plain [setting] x", "  one [secret] sécret", "  two [secret] two\nlines", "  hosts.n [secret] nested",
        "ansible/ansible-id.txt",
        "  content [secret] -----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n",
      ])
  }

  @Test("lie in folders, of which the other files are listed") func folders() throws {
    let stand = Stand()
    let whole = try realFile("ansible-whole.yml")
    try stand.read([Source.File("group_vars/all/v.yml", whole.bytes), Source.File("a.yml", [0x61])], Self.plain)
    #expect(stand.told.first == "ansible/group_vars/all/v")
    #expect(
      stand.told.suffix(2) == ["other files", "  a.yml [attachment] nothing in it is encrypted by ansible-vault"])
  }

  @Test("need the right password, and every change of them is found") func wrong() throws {
    let file = try realFile("ansible-whole.yml")
    #expect(failure(file)?.code == .noSecret && failure(file, "x")?.code == .wrongSecret)
    #expect(failure(file, "")?.code == .wrongSecret)
    for place in stride(from: 30, to: file.bytes.count, by: 37) {
      var bytes = file.bytes
      bytes[place] = bytes[place] == UInt8(ascii: "3") ? UInt8(ascii: "6") : UInt8(ascii: "3")
      if bytes == file.bytes || file.bytes[place] == 0x0A { continue }
      let failure = failure(Source.File("a", bytes), Self.plain)
      #expect(failure?.code == .wrongSecret || failure?.code == .damaged, "\(place)")
    }
  }

  @Test(
    "of older forms, and half ones, are refused",
    arguments: [
      "$ANSIBLE_VAULT;1.0;AES\n00", "$ANSIBLE_VAULT;1.1;AES\n00", "$ANSIBLE_VAULT;1.1\n", "$ANSIBLE_VAULT;1.1;AES256",
      "$ANSIBLE_VAULT;1.1;AES256\nzz", "$ANSIBLE_VAULT;1.1;AES256\n303", "$ANSIBLE_VAULT;1.1;AES256\n300a300a30",
    ])
  func refused(_ text: String) {
    let failure = failure(Source.File("a", Array(text.utf8)), Self.plain)
    #expect(failure?.code == .damaged || failure?.code == .unsupported, "\(failure as Any)")
  }

  @Test("any cut of a file is read or refused") func cuts() throws {
    let bytes = try realFile("ansible-values.yml").bytes
    for count in stride(from: 0, to: bytes.count, by: 7) {
      try? Stand().read([Source.File("a", Array(bytes.prefix(count)))], Self.plain, Self.prod)
    }
  }
}
