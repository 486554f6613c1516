internal import VaultWire

/// A value of a YAML document, with everything in it. ``YAMLDocuments`` limits its depth and its size.
struct YAMLNode: Sendable {
  struct Member: Sendable {
    let key: YAMLNode
    let value: YAMLNode

    /// The key as a text; a key that is no scalar has none.
    var name: String { key.text ?? "" }
  }

  enum Content: Sendable {
    /// The UTF-8 text, without its quotes.
    case scalar([UInt8])
    case sequence([YAMLNode])
    /// The members in the order of the text; no two scalar keys are the same.
    case mapping([Member])
  }

  let content: Content
  /// The tag as the text has it, such as `!secret`; nil if there is none.
  var tag: String?
  /// The place in the text in bytes, with the anchor and the tag, if the value has these.
  var place = 0..<0
  /// True for a scalar without quotes.
  var isPlain = false
  /// True if an alias stands for the value, which another place has.
  var isAlias = false
  /// True if the value has a name or a tag before it.
  var hasProperties = false
  /// The number of values in it, itself included, and the number of levels.
  var size = (values: 1, levels: 1)
}

extension YAMLNode {
  /// The value of the member with a name; nil if there is none, or if it is null.
  subscript(name: String) -> YAMLNode? {
    guard let value = members.first(where: { $0.name.utf8.elementsEqual(name.utf8) })?.value, !value.isNull else {
      return nil
    }
    return value
  }

  /// The members of a mapping; empty for another value.
  var members: [Member] {
    guard case .mapping(let members) = content else { return [] }
    return members
  }

  /// The elements of a sequence; empty for another value.
  var elements: [YAMLNode] {
    guard case .sequence(let elements) = content else { return [] }
    return elements
  }

  /// The element of a sequence that a step of a leaf's path names; nil if there is none, as in a mapping whose keys are
  /// numbers.
  func element(at step: String) -> YAMLNode? {
    guard let number = Int(step), number >= 1, number <= elements.count else { return nil }
    return elements[number - 1]
  }

  /// The UTF-8 text of a scalar; nil for another value.
  var bytes: [UInt8]? {
    guard case .scalar(let text) = content else { return nil }
    return text
  }

  /// The text of a scalar; nil for another value.
  var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

  var isMapping: Bool { if case .mapping = content { true } else { false } }

  /// True for a scalar that means that there is no value (YAML 1.2, section 10.3.2).
  var isNull: Bool {
    guard isPlain, tag == nil, let text else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(text)
  }

  /// True for a scalar that means true or false, in YAML 1.1 or 1.2.
  var isBool: Bool {
    guard isPlain, let text else { return false }
    return ["true", "false", "yes", "no", "on", "off"].contains(text.lowercased())
  }
}

extension YAMLNode {
  /// A scalar or an empty container, with the names that lead to it. The elements of a sequence are counted from 1.
  struct Leaf {
    let path: [String]
    let node: YAMLNode
  }

  /// All scalars and empty containers, in the order of the text.
  var leaves: [Leaf] {
    var found: [Leaf] = []
    collect([], into: &found)
    return found
  }

  /// The depth of the calls is that of the value, which is limited.
  private func collect(_ path: [String], into found: inout [Leaf]) {
    switch content {
    case .mapping(let members) where !members.isEmpty:
      for member in members { member.value.collect(path + [member.name], into: &found) }
    case .sequence(let elements) where !elements.isEmpty:
      for (index, element) in elements.enumerated() { element.collect(path + [String(index + 1)], into: &found) }
    case .scalar, .mapping, .sequence: found.append(Leaf(path: path, node: self))
    }
  }

  /// Takes room for the names that lead to the leaves, and returns the number of leaves. The depth of the calls is that
  /// of the value, which is limited.
  func takeNames(_ room: inout NameRoom) throws(ImportFailure) -> Int {
    var count = 0
    switch content {
    case .mapping(let members) where !members.isEmpty:
      for member in members {
        let leaves = try member.value.takeNames(&room)
        // With a dot between the names.
        try room.take((member.key.bytes?.count ?? 0) + 1, for: leaves)
        count += leaves
      }
    case .sequence(let elements) where !elements.isEmpty:
      for element in elements { count += try element.takeNames(&room) }
    case .scalar, .mapping, .sequence: return 1
    }
    return count
  }

  /// The value of a JSON text.
  init(_ json: JSONValue) {
    switch json {
    case .object(let members):
      self.init(
        content: .mapping(
          members.map { Member(key: YAMLNode(JSONValue.string($0.name)), value: YAMLNode($0.value)) }))
    case .array(let elements): self.init(content: .sequence(elements.map { YAMLNode($0) }))
    case .string(let text): self.init(content: .scalar(Array(text.utf8)))
    case .number(let text): self.init(content: .scalar(Array(text.utf8)), isPlain: true)
    case .bool(let flag): self.init(content: .scalar(Array((flag ? "true" : "false").utf8)), isPlain: true)
    case .null: self.init(content: .scalar(Array("null".utf8)), isPlain: true)
    }
  }
}
