import VaultBytes
import VaultWire

/// A parsed frame as a value that the tests can change.
indirect enum JSONTree: Hashable {
  case object([String: JSONTree])
  case array([JSONTree])
  case string(String)
  case integer(Int64)
  case bool(Bool)
  case null

  init(_ json: String) throws {
    let frame = try frame(json)
    self.init(frame, frame.root)
  }

  init(_ frame: borrowing Frame, _ node: Frame.Node) {
    switch frame.kind(node) {
    case .object:
      var members: [String: JSONTree] = [:]
      for (key, value) in frame.members(of: node) { members[key] = JSONTree(frame, value) }
      self = .object(members)
    case .array:
      var elements: [JSONTree] = []
      for element in frame.elements(of: node) { elements.append(JSONTree(frame, element)) }
      self = .array(elements)
    case .string: self = .string(frame.string(node) ?? "")
    case .number: self = frame.integer(node).map { .integer($0) } ?? .null
    case .bool: self = .bool(frame.bool(node) == true)
    case .null: self = .null
    }
  }

  var members: [String: JSONTree] { if case .object(let members) = self { members } else { [:] } }

  var text: String { written { write(to: &$0) } }

  private func write(to writer: inout JSONWriter) {
    switch self {
    case .object(let members):
      writer.beginObject()
      for (key, value) in members.sorted(by: { $0.key < $1.key }) {
        writer.key(key)
        value.write(to: &writer)
      }
      writer.endObject()
    case .array(let elements):
      writer.beginArray()
      for element in elements { element.write(to: &writer) }
      writer.endArray()
    case .string(let text): writer.string(text)
    case .integer(let value): writer.integer(value)
    case .bool(let value): writer.bool(value)
    case .null: writer.null()
    }
  }
}
