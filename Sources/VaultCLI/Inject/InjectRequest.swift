internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The work of `vault inject` in one run: reads a template, fetches its items and writes the result.
struct InjectRequest {
  /// The template's file; `-` means standard input.
  let input: String
  /// The output file; nil for standard output.
  let output: OutputFile?
  var fetch: Fetch

  /// The template's name in an error.
  var name: String { input == "-" ? "standard input" : input }

  /// Reads the template.
  ///
  /// - Parameter isKept: true if the template may change at any time. It then must be a regular file that no program
  ///   has open for writing.
  func template(isKept: Bool = false) throws(Failure) -> Template {
    let source =
      try isKept
      ? FileInput.readRegularFile(input, limit: Template.limit) : FileInput.readFile(input, limit: Template.limit)
    do throws(Template.Fault) { return try Template(source) } catch {
      throw Failure(
        .invalid, "\(error.position.text(in: name)): \(error.reason)",
        "see `vault inject` in vault(1)")
    }
  }

  /// Throws if the result would be written over the template, by whatever names both are given.
  func check() throws(Failure) {
    if let output { try NewFile.check(output.path, replaces: true) }
    let target = if let output { FilePlace(output.path) } else { FilePlace(ofFile: STDOUT_FILENO) }
    guard let target, target == FilePlace(ofInput: input) else { return }
    throw Failure(.usage, "the template and the output are the same file", "name another output with -o")
  }

  /// Returns the whole rendering; throws if any item fails.
  func render(_ template: borrowing Template, _ session: Session) throws(Failure) -> Rendering {
    let purpose = output.map { "vault inject -o \($0.path)" } ?? "vault inject"
    let fetched: FetchedItems
    let actions = template.actions
    do throws(Failure) {
      fetched = try fetch.items(actions.map(\.item), for: purpose, session) { item in
        actions.first { $0.item == item }.map { $0.position.text(in: name) }
      }
    } catch {
      throw error.explainingField
    }
    return try Rendering(template, fetched, name: name)
  }

  func run(_ session: Session, json: Bool) throws(Failure) {
    try check()
    let template = try template()
    // An empty template usually comes from a program that has failed.
    if template.source.count == 0, let output, output.hasContent {
      let file = Printable.quoted(output.path)
      let event = "\(Printable.text(name)) is empty, so \(file) stays as it is"
      throw Failure(.invalid, event, "remove \(file) first if you want an empty file")
    }
    let rendering = try render(template, session)
    guard let output else { return try print(rendering, json: json) }
    let isChanged = try Self.write(rendering.bytes, to: output)
    let versions = rendering.versions
    guard json else { return }
    try Output.json { object in
      object.add("output", output.path)
      object.add("changed", isChanged)
      object.add(versions: versions)
    }
  }

  /// Writes the output file. A signal that arrives meanwhile ends the program only afterwards, so that no part of the
  /// result remains under another name.
  private static func write(_ content: borrowing SecretBuffer, to output: OutputFile) throws(Failure) -> Bool {
    let signals = try SignalPipe(SignalPipe.ending)
    defer { while let number = signals.next() { signals.deliver(number) } }
    return try output.write(content)
  }

  private func print(_ rendering: borrowing Rendering, json: Bool) throws(Failure) {
    if json {
      return try Output.json(capacity: rendering.bytes.count * 2 + 256) { object in
        rendering.bytes.withBytes { object.add(content: $0) }
        object.add(versions: rendering.versions)
      }
    }
    try rendering.bytes.withBytes { bytes throws(Failure) in
      if Output.isTerminal, !bytes.isText {
        throw Failure(
          .usage, "the result is not text, and a terminal acts on such bytes",
          "send it to a file with -o, or to a pipe")
      }
      try Output.write(bytes)
    }
  }
}

extension Failure {
  /// The same failure; if the item's name looks like `item#field`, which `run` and `env` accept, with advice on how a
  /// template asks for a field.
  fileprivate var explainingField: Failure {
    guard let name = missing?.name, let sign = name.lastIndex(of: "#"), sign > name.startIndex else { return self }
    let field = name[name.index(after: sign)...]
    guard !field.isEmpty else { return self }
    return Failure(
      exit, event,
      "in a template, a field is written {{ vault \"\(Printable.line(String(name[..<sign])))\" | field "
        + "\"\(Printable.line(String(field)))\" }}"
    )
  }
}

extension JSONBuilder {
  /// Adds the member with the items that were inserted.
  mutating func add(versions: [ItemName: Int]) {
    add("items", versions.sorted(by: { $0.key < $1.key })) { item, version in
      item.add("name", version.key.text)
      item.add("version", version.value)
    }
  }
}
