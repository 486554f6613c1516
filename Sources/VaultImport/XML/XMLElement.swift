internal import VaultWire

/// An element of an XML document, with everything in it.
struct XMLElement {
  let name: String
  var attributes: [(name: String, value: String)] = []
  /// The characters between the tags, in UTF-8; of an element with children, those after the last child.
  var text: [UInt8] = []
  var children: [XMLElement] = []

  init(_ name: String, _ attributes: [(name: String, value: String)] = []) {
    (self.name, self.attributes) = (name, attributes)
  }

  /// Reads a whole small document.
  init(document: [UInt8]) throws(ImportFailure) {
    let reader = try XMLReader()
    var path: [XMLElement] = []
    for event in try reader.read(document[...], isLast: true) {
      switch event {
      case .start(let name, let attributes): path.append(XMLElement(name, attributes))
      case .text(let text): if !path.isEmpty { path[path.count - 1].text += text }
      case .end:
        guard let last = path.popLast() else { continue }
        if path.isEmpty {
          self = last
          return
        }
        path[path.count - 1].children.append(last)
      }
    }
    throw ImportFailure(.damaged, "the XML has no element")
  }

  /// The text as a string.
  var string: String { String(decoding: text, as: UTF8.self) }

  /// The first child with a name.
  func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }

  /// The text of the first child with a name; empty if there is none.
  func string(_ name: String) -> String { child(name)?.string ?? "" }
}
