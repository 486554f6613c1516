internal import VaultWire

/// The scalars of a JSON text with their places in it.
struct JSONLeaves {
  /// The most bytes of a text, and the most scalars.
  private static let most = (bytes: 16 << 20, leaves: 1 << 18)

  /// A step on the way to a value: into an object or into an array, whose elements are counted from 0.
  enum Step: Hashable, Sendable {
    case key(String)
    case index(Int)

    /// The step in words. People count from 1.
    var text: String {
      switch self {
      case .key(let key): key
      case .index(let number): String(number + 1)
      }
    }
  }

  struct Leaf: Sendable {
    let path: [Step]
    /// The decoded text of a string, or a number as it was written; nil for true, false and null.
    let value: [UInt8]?
    /// The place in bytes, with the quotes of a string.
    let place: Range<Int>
  }

  private(set) var leaves: [Leaf] = []

  init(_ bytes: [UInt8]) throws(ImportFailure) {
    var reader = JSONReader(bytes)
    var path: [Step] = []
    while true {
      let token = try reader.next()
      guard leaves.count < Self.most.leaves else {
        throw ImportFailure(.tooLarge, "the JSON has more than \(Self.most.leaves) values")
      }
      switch token {
      case .beginObject: continue
      case .beginArray:
        path.append(.index(0))
        continue
      case .key(let key):
        path.append(.key(reader.string(key)))
        continue
      case .endObject: break
      case .endArray: path.removeLast()
      case .string(let text):
        let place = text.range.lowerBound - 1..<text.range.upperBound + 1
        leaves.append(Leaf(path: path, value: text.decoded(in: bytes), place: place))
      case .number(let place): leaves.append(Leaf(path: path, value: Array(bytes[place]), place: place))
      case .bool(let flag):
        leaves.append(Leaf(path: path, value: nil, place: reader.offset - (flag ? 4 : 5)..<reader.offset))
      case .null: leaves.append(Leaf(path: path, value: nil, place: reader.offset - 4..<reader.offset))
      case .end: return
      }
      Self.step(&path)
    }
  }

  /// Goes on behind a value: to the next element of an array, or out of a member.
  private static func step(_ path: inout [Step]) {
    switch path.last {
    case .index(let number): path[path.count - 1] = .index(number + 1)
    case .key: path.removeLast()
    case nil: break
    }
  }

  /// The whole text as a value.
  static func value(_ bytes: [UInt8]) throws(ImportFailure) -> JSONValue {
    guard bytes.count <= most.bytes else {
      throw ImportFailure(.tooLarge, "the JSON has more than \(most.bytes >> 20) MiB")
    }
    var reader = JSONReader(bytes)
    let value = try reader.value()
    try reader.finish()
    return value
  }
}
