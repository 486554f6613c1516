import Testing
import VaultBytes
import VaultModel
import VaultWire

@testable import VaultCLI

@Suite("The template of an imported file") struct ImportTemplateTests {
  private typealias Source = PlannedSource

  /// A value with its spelling in the file.
  private struct Given {
    let name: String
    let value: String
    let spelling: String
  }

  /// A file of lines `NAME: SPELLING`, and the plan of its import.
  private static func plan(
    _ given: [Given], _ form: ImportedPlace.Form = .yaml, start: String = "", _ vault: PlannedVault = PlannedVault()
  ) -> (text: SourceText, plan: ImportPlan) {
    let text = SourceText()
    var bytes = Array(start.utf8)
    var entries: [SourceEntry] = []
    for one in given {
      bytes += Array("\(one.name): ".utf8)
      let place = ImportedPlace(bytes.count..<bytes.count + one.spelling.utf8.count, form)
      bytes += Array("\(one.spelling)  # {{ \"{\n".utf8)
      let field = SourceField(
        ImportedField(one.name, .secret, size: one.value.utf8.count, place: place), Source.buffer(Array(one.value.utf8))
      )
      entries.append(Source.entry(.value, id: one.name, title: one.name, of: [field]))
    }
    text.add(Source.buffer(bytes))
    return (text, vault.plan(Source.map(entries)))
  }

  private static func lines(_ template: ImportTemplate) throws -> [String] {
    let text = try template.withBytes { bytes in
      String(decoding: bytes.byteOffsets.map { bytes.byte($0) }, as: UTF8.self)
    }
    return text.split(separator: "\n").map { String($0.prefix { $0 != "#" }.dropLast(2)) }
  }

  @Test("has an expression in the form in which the file spells each value") func forms() throws {
    let (text, plan) = Self.plan([
      Given(name: "plain", value: "hunter2", spelling: "hunter2"),
      Given(name: "single", value: "a \"b\" {{", spelling: "'a \"b\" {{'"),
      Given(name: "double", value: "a\"b\n", spelling: #""a\"b\n""#),
      Given(name: "quoted", value: "a", spelling: #""a""#),
      Given(name: "raw", value: "\u{2028}", spelling: "\"\u{2028}\""),
    ])
    let template = try ImportTemplate(text, plan, refused: [])
    #expect(
      try Self.lines(template) == [
        #"plain: {{ vault "plain" }}"#, #"single: '{{ vault "single" }}'"#, #"double: {{ vault "double" | yaml }}"#,
        #"quoted: {{ vault "quoted" | yaml }}"#, #"raw: "{{ vault "raw" }}""#,
      ])
    #expect(template.values == 5 && template.clear == 0 && template.respelled.isEmpty)
    #expect(template.note == "the template has 5 expressions")
  }

  @Test("has JSON's form in JSON, and numbers as they are") func json() throws {
    let (text, plan) = Self.plan(
      [Given(name: "a", value: "é\"", spelling: #""é\"""#), Given(name: "n", value: "12", spelling: "12")], .json)
    let template = try ImportTemplate(text, plan, refused: [])
    #expect(try Self.lines(template) == [#"a: {{ vault "a" | json }}"#, #"n: {{ vault "n" }}"#])
  }

  @Test("spells a value in another way if no form gives the way of the file, and says so") func respelled() throws {
    let (text, plan) = Self.plan(
      [
        Given(name: "a", value: "it's", spelling: "'it''s'"), Given(name: "b", value: "x", spelling: "x"),
        Given(name: "c", value: "l\n", spelling: "|\n  l"),
      ], start: "# {{\n")
    let template = try ImportTemplate(text, plan, refused: [])
    #expect(template.respelled == [2, 4])
    #expect(
      template.note
        == "the template has 3 expressions; 2 values will be spelled in another way than in the file, "
        + "the first in line 2"
    )
  }

  @Test("keeps the values that no item holds") func clear() throws {
    var vault = PlannedVault()
    vault.put("a", .password, [:], Source.field("a", .secret, Array("other".utf8)))
    let given = [Given(name: "a", value: "x", spelling: "x"), Given(name: "b", value: "y", spelling: "y")]
    let (text, plan) = Self.plan(given, .yaml, vault)
    let template = try ImportTemplate(text, plan, refused: [])
    #expect(try Self.lines(template) == ["a: x", #"b: {{ vault "b" }}"#] && template.clear == 1)
    let refused = Set(plan.entries.flatMap { $0.mapped.items }.map { ObjectIdentifier($0) })
    let none = try ImportTemplate(text, plan, refused: refused)
    #expect(try Self.lines(none) == ["a: x", "b: y"] && none.clear == 2 && none.values == 0)
  }

  @Test("is refused for places that lie outside of the file or in each other") func hostile() throws {
    for ranges in [[0..<2, 1..<3], [5..<9], [3..<3, 2..<4]] as [[Range<Int>]] {
      let text = SourceText()
      text.add(Source.buffer(Array("abcdefg".utf8)))
      let entries = ranges.enumerated().map { number, range in
        let field = SourceField(
          ImportedField("a", .secret, size: 1, place: ImportedPlace(range, .yaml)), Source.buffer([0x78]))
        return Source.entry(.value, title: "\(number)", of: [field])
      }
      let plan = PlannedVault().plan(Source.map(entries))
      #expect(throws: Failure.self) { _ = try ImportTemplate(text, plan, refused: []) }
    }
  }

  @Test("says that the items are stored if it cannot be written afterwards") func unwritten() {
    let full = Failure(.io, "cannot write t: no space is left", "make room on its disk")
    let failure = ImportFiles.failure(full, "template", 3)
    #expect(failure.event == "3 items are stored, but there is no template: cannot write t: no space is left")
    #expect(failure.exit == .io && failure.advice == full.advice)
    let taken = ImportFiles.failure(Failure(.exists, "`t` already exists", "give --force"), "report", 1)
    #expect(taken.event == "1 item is stored, but there is no report: `t` already exists")
    #expect(taken.advice == "the same command with another name for the report writes it")
    #expect(ImportFiles.failure(full, "template", 0) == full)
  }

  @Test("is made of one file") func files() throws {
    let text = SourceText()
    try text.begin(10)
    #expect(throws: Failure.self) { try text.begin(10) }
    #expect(throws: Failure.self) { try SourceText().begin(Template.limit + 1) }
  }
}
