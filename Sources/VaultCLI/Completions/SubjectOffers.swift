internal import VaultWire

/// The offers for the rest of a subject: the subjects of grants, and each part by itself.
struct SubjectOffers {
  private static let templateEnding = "@.service"

  private let text: String
  /// The parts before the one that is being typed, with their commas.
  private let head: String
  private let part: String
  private let source: CompletionSource

  /// - Parameter text: the part that is typed so far.
  init(_ text: String, _ source: CompletionSource) {
    let comma = text.utf8.lastIndex(of: UInt8(ascii: ","))
    let start = comma.map { text.utf8.index(after: $0) } ?? text.startIndex
    (self.text, head, part) = (text, String(text[..<start]), String(text[start...]))
    self.source = source
  }

  /// Returns the offers for a subject of any kind.
  func all() -> [Completion.Offer] {
    guard let colon = part.utf8.firstIndex(of: UInt8(ascii: ":")) else { return kinds() + granted() }
    switch part[..<colon] {
    case "user": return accounts(of: "user", "/etc/passwd")
    case "group": return accounts(of: "group", "/etc/group")
    case "unit": return units()
    // A word that begins with the name of a kind is no file to a shell.
    default: return granted()
    }
  }

  /// Returns the subjects that have a grant.
  func granted() -> [Completion.Offer] {
    guard head.isEmpty else { return [] }
    return unique(source.grants().map(\.subject)).map { .init(text: $0) }
  }

  /// Returns the items of the grants that exactly this subject has.
  func items() -> [Completion.Offer] {
    guard let resolved = try? GivenSubject(text).text else { return [] }
    let grants = source.grants().filter { grant in
      [text, resolved].contains { $0.utf8.elementsEqual(grant.subject.utf8) }
    }
    return grants.map { .init(text: $0.items) }
  }

  private func kinds() -> [Completion.Offer] {
    // A program counts only in a user's vault, and only together with another part.
    let own = head.isEmpty || source.system ? [] : ["exe:", "sha256:"]
    return (["user:", "group:", "unit:"] + own).map { .init(text: head + $0, isWhole: false) }
  }

  /// Returns the names of the machine's own file, which lists one at the beginning of each line.
  private func accounts(of kind: String, _ file: String) -> [Completion.Offer] {
    let lines = (FileInput.text(of: file) ?? "").split(separator: "\n")
    let names = lines.compactMap { $0.split(separator: ":", omittingEmptySubsequences: false).first.map(String.init) }
    // An entry for accounts of the network begins with a sign.
    return unique(names.filter { $0.utf8.first.map { !"+-#".utf8.contains($0) } ?? false })
      .map { .init(text: "\(head)\(kind):\($0)") }
  }

  /// Returns the services that have a file. The instance of a template must be typed.
  private func units() -> [Completion.Offer] {
    UnitFiles.services(ofSystem: source.system).map { name in
      let isTemplate = name.hasSuffix(Self.templateEnding)
      let begun = isTemplate ? String(name.dropLast(Self.templateEnding.count)) + "@" : name
      return .init(text: "\(head)unit:\(begun)", isWhole: !isTemplate)
    }
  }

  private func unique(_ texts: [String]) -> [String] {
    var seen: Set<[UInt8]> = []
    return texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.filter { seen.insert(Array($0.utf8)).inserted }
  }
}
