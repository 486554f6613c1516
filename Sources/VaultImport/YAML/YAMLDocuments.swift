internal import VaultWire

/// The documents of a YAML text, one after the other.
///
/// An alias becomes the value that it stands for, and counts with everything in it: a text in which aliases of aliases
/// stand for billions of values is an error, and so is one that nests too deeply, or whose keys lead to so many values
/// that the names of these have no room.
struct YAMLDocuments {
  /// The most levels, the most values of a document and of all documents together, and the most documents. An empty
  /// document takes four bytes of a text, and as much memory as any other value.
  static let most = (levels: 128, values: 1 << 18, allValues: 1 << 20, documents: 1 << 16)

  /// A sequence or a mapping while it is read.
  private struct Container {
    let event: YAMLEvent
    let isMapping: Bool
    var elements: [YAMLNode] = []
    var size = (values: 1, levels: 1)
  }

  private let bytes: [UInt8]
  private let parser: YAMLParser
  private var open: [Container] = []
  private var anchors: [String: YAMLNode] = [:]
  private var values = 0
  private var (allValues, documents) = (0, 0)
  /// The room for the keys, and for the names of all values, which consist of keys.
  private var (keys, names) = (NameRoom(), NameRoom())

  init(_ bytes: [UInt8]) throws(ImportFailure) {
    self.bytes = bytes
    parser = try YAMLParser(bytes)
  }

  /// All documents of a text in YAML or JSON. JSON is nearly YAML, but libyaml refuses some of its escapes.
  ///
  /// - Parameter hasPlaces: true for documents whose values need their places, which those of JSON do not have.
  static func all(_ bytes: [UInt8], hasPlaces: Bool = false) throws(ImportFailure) -> [YAMLNode] {
    if !hasPlaces, bytes.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "{") {
      var json = JSONReader(bytes)
      if let value = try? json.value(), (try? json.finish()) != nil {
        let document = YAMLNode(value)
        var names = NameRoom()
        _ = try document.takeNames(&names)
        return [document]
      }
    }
    var documents = try YAMLDocuments(bytes)
    var all: [YAMLNode] = []
    while let document = try documents.next() { all.append(document) }
    return all
  }

  /// The only document of a text; an empty mapping if there is none.
  ///
  /// - Parameter hasPlaces: as for ``all(_:hasPlaces:)``.
  static func only(_ bytes: [UInt8], hasPlaces: Bool = false) throws(ImportFailure) -> YAMLNode {
    let all = try all(bytes, hasPlaces: hasPlaces)
    guard all.count <= 1 else { throw ImportFailure(.damaged, "the YAML has \(all.count) documents, not one") }
    return all.first ?? YAMLNode(content: .mapping([]))
  }

  /// Reads the next document; nil at the end.
  mutating func next() throws(ImportFailure) -> YAMLNode? {
    (open, anchors, values) = ([], [:], 0)
    var document: YAMLNode?
    while let event = try parser.next() {
      switch event.kind {
      case .startDocument:
        documents += 1
        guard documents <= Self.most.documents else {
          throw failure(.tooLarge, event, "there are more than \(Self.most.documents) documents")
        }
      case .endDocument:
        _ = try document?.takeNames(&names)
        return document
      case .endStream: return nil
      case .startSequence, .startMapping:
        guard open.count < Self.most.levels else { throw tooDeep(event) }
        if case .startMapping = event.kind {
          open.append(Container(event: event, isMapping: true))
        } else {
          open.append(Container(event: event, isMapping: false))
        }
      case .alias(let name):
        guard var node = anchors[name] else { throw failure(.damaged, event, "an alias stands for nothing") }
        (node.isAlias, node.place) = (true, event.place)
        try add(node, event, to: &document)
      case .scalar(let text, let isPlain):
        try add(node(event, .scalar(text), isPlain: isPlain), event, to: &document)
      case .end:
        guard let container = open.popLast() else { continue }
        try add(try close(container, event), container.event, to: &document)
      }
    }
    return nil
  }

  private func node(_ event: YAMLEvent, _ content: YAMLNode.Content, isPlain: Bool) -> YAMLNode {
    YAMLNode(
      content: content, tag: event.tag, place: event.place, isPlain: isPlain,
      hasProperties: event.tag != nil || event.anchor != nil)
  }

  private mutating func add(_ node: YAMLNode, _ event: YAMLEvent, to document: inout YAMLNode?) throws(ImportFailure) {
    // A container counts what it holds when that is added.
    let count = node.isAlias ? node.size.values : 1
    values += count
    allValues += count
    guard values <= Self.most.values else {
      throw failure(.tooLarge, event, "there are more than \(Self.most.values) values")
    }
    guard allValues <= Self.most.allValues else {
      throw failure(.tooLarge, event, "there are more than \(Self.most.allValues) values in all documents")
    }
    guard open.count + node.size.levels <= Self.most.levels + 1 else { throw tooDeep(event) }
    if let anchor = event.anchor { anchors[anchor] = node }
    guard let last = open.indices.last else {
      document = node
      return
    }
    open[last].elements.append(node)
    open[last].size.values += node.size.values
    open[last].size.levels = max(open[last].size.levels, node.size.levels + 1)
  }

  /// Makes the value of a container. Its place ends with its last value, because a block ends where the next text
  /// begins.
  private mutating func close(_ container: Container, _ end: YAMLEvent) throws(ImportFailure) -> YAMLNode {
    let isFlow = end.place.upperBound > end.place.lowerBound
    let last = isFlow ? end.place.upperBound : container.elements.last?.place.upperBound
    let first = container.event.place.lowerBound
    var node = node(container.event, .sequence(container.elements), isPlain: false)
    if container.isMapping {
      let members = try members(of: container)
      node = self.node(container.event, .mapping(members), isPlain: false)
    }
    node.place = first..<max(first, last ?? container.event.place.upperBound)
    node.size = container.size
    return node
  }

  private mutating func members(of container: Container) throws(ImportFailure) -> [YAMLNode.Member] {
    var members: [YAMLNode.Member] = []
    var names: Set<[UInt8]> = []
    var index = 0
    while index + 1 < container.elements.count {
      let member = YAMLNode.Member(key: container.elements[index], value: container.elements[index + 1])
      if let name = member.key.bytes {
        // An alias may stand for a long key at many places.
        try keys.take(name.count)
        guard names.insert(name).inserted else {
          throw failure(.damaged, at: member.key.place.lowerBound, "its key is there twice")
        }
      }
      members.append(member)
      index += 2
    }
    return members
  }

  private func tooDeep(_ event: YAMLEvent) -> ImportFailure {
    failure(.tooLarge, event, "values are nested more than \(Self.most.levels) deep")
  }

  private func failure(_ code: ImportFailure.Code, _ event: YAMLEvent, _ reason: String) -> ImportFailure {
    failure(code, at: event.place.lowerBound, reason)
  }

  private func failure(_ code: ImportFailure.Code, at place: Int, _ reason: String) -> ImportFailure {
    let line = bytes.prefix(place).count { $0 == 0x0A } + 1
    return ImportFailure(code, "line \(line) of the YAML is wrong: \(reason)")
  }
}
