public import VaultBytes

/// An error for a message whose parameters do not fit their definition.
public struct ParameterError: Error, Hashable, Sendable {
  /// The member's name, or a path like `items[3].kind`.
  public let parameter: String

  /// Makes an error for the named parameter.
  public init(_ parameter: String) { self.parameter = parameter }

  func inside(_ outer: String) -> ParameterError {
    ParameterError(parameter.isEmpty ? outer : parameter.hasPrefix("[") ? outer + parameter : outer + "." + parameter)
  }
}

/// A value in a message: one type or one parameter list of the interface's definition.
public protocol WireValue: Sendable {
  /// Reads the value from `node`; an absent value is an empty object.
  ///
  /// - Throws: ``ParameterError`` for a field that is missing, of the wrong type, or not in the definition.
  init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError)
  /// Writes the value as an object. Absent optional fields are left out.
  func write(to writer: inout JSONWriter)
}

/// A reader of the fields of one object, which in the end can tell whether any member was not read.
struct Fields {
  private let object: Frame.Node?
  private let all: UInt64
  /// One bit for each of the first 64 members, set once the member was read. A definition has far fewer fields than
  /// that, so an object with more members has an unknown one among the first 64.
  private var seen: UInt64 = 0

  init(_ frame: borrowing Frame, _ object: Frame.Node?) throws(ParameterError) {
    if let object, frame.kind(object) != .object { throw ParameterError("") }
    self.object = object
    let count = object.map { frame.memberCount(of: $0) } ?? 0
    all = count >= 64 ? .max : 1 << UInt64(count) - 1
  }

  /// True if all members were read. All fields that were not read yet are then absent, because no object has a key
  /// twice.
  private var isDone: Bool { seen == all }

  /// The value of `key`; nil if it is absent or null.
  mutating func node(_ frame: borrowing Frame, _ key: StaticString) -> Frame.Node? {
    guard !isDone, let object, let (value, place) = frame.find(key, in: object) else { return nil }
    if place < 64 { seen |= 1 << UInt64(place) }
    return frame.kind(value) == .null ? nil : value
  }

  /// Throws for the first member that was not read, unless the frame is from a daemon that may be newer.
  func finish(_ frame: borrowing Frame) throws(ParameterError) {
    guard !isDone, !frame.ignoresUnknownMembers, let object else { return }
    for (place, member) in frame.members(of: object).enumerated() where place >= 64 || seen >> UInt64(place) & 1 == 0 {
      throw ParameterError(member.key)
    }
  }

  private func require<T>(_ value: T?, _ key: StaticString) throws(ParameterError) -> T {
    guard let value else { throw ParameterError("\(key)") }
    return value
  }

  mutating func optionalString(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> String? {
    guard let node = node(frame, key) else { return nil }
    return try require(frame.string(node), key)
  }

  mutating func string(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> String {
    try require(optionalString(frame, key), key)
  }

  mutating func optionalInt64(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> Int64? {
    guard let node = node(frame, key) else { return nil }
    return try require(frame.integer(node), key)
  }

  mutating func int64(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> Int64 {
    try require(optionalInt64(frame, key), key)
  }

  mutating func optionalInt(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> Int? {
    guard let value = try optionalInt64(frame, key) else { return nil }
    return try require(Int(exactly: value), key)
  }

  mutating func int(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> Int {
    try require(optionalInt(frame, key), key)
  }

  mutating func optionalBool(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> Bool? {
    guard let node = node(frame, key) else { return nil }
    return try require(frame.bool(node), key)
  }

  mutating func bool(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> Bool {
    try require(optionalBool(frame, key), key)
  }

  /// A string that is not copied out of the frame.
  mutating func secret(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> Frame.Node? {
    guard let node = node(frame, key) else { return nil }
    guard frame.kind(node) == .string else { throw ParameterError("\(key)") }
    return node
  }

  mutating func optionalMap(
    _ frame: borrowing Frame, _ key: StaticString
  ) throws(ParameterError) -> [String: String]? {
    guard let node = node(frame, key) else { return nil }
    guard frame.kind(node) == .object else { throw ParameterError("\(key)") }
    var map: [String: String] = [:]
    for (name, value) in frame.members(of: node) {
      guard let text = frame.string(value) else { throw ParameterError("\(key).\(name)") }
      map[name] = text
    }
    return map
  }

  mutating func map(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> [String: String] {
    try require(optionalMap(frame, key), key)
  }

  mutating func strings(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> [String] {
    try require(optionalStrings(frame, key), key)
  }

  mutating func optionalStrings(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> [String]? {
    guard let list = node(frame, key) else { return nil }
    var texts: [String] = []
    for (index, node) in try elements(frame, list, key).enumerated() {
      guard let text = frame.string(node) else { throw ParameterError("\(key)[\(index)]") }
      texts.append(text)
    }
    return texts
  }

  mutating func integers(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> [Int] {
    try require(optionalIntegers(frame, key), key)
  }

  mutating func optionalIntegers(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> [Int]? {
    guard let list = node(frame, key) else { return nil }
    var values: [Int] = []
    for (index, node) in try elements(frame, list, key).enumerated() {
      guard let value = frame.integer(node).flatMap({ Int(exactly: $0) }) else {
        throw ParameterError("\(key)[\(index)]")
      }
      values.append(value)
    }
    return values
  }

  mutating func list<T: WireValue>(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> [T] {
    try require(optionalList(frame, key), key)
  }

  mutating func optionalList<T: WireValue>(
    _ frame: borrowing Frame, _ key: StaticString
  ) throws(ParameterError) -> [T]? {
    guard let list = node(frame, key) else { return nil }
    var values: [T] = []
    for (index, node) in try elements(frame, list, key).enumerated() {
      do { values.append(try T(frame, node)) } catch { throw error.inside("\(key)[\(index)]") }
    }
    return values
  }

  mutating func optionalValue<T: WireValue>(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> T?
  {
    guard let node = node(frame, key) else { return nil }
    do { return try T(frame, node) } catch { throw error.inside("\(key)") }
  }

  mutating func value<T: WireValue>(_ frame: borrowing Frame, _ key: StaticString) throws(ParameterError) -> T {
    try require(optionalValue(frame, key), key)
  }

  private func elements(
    _ frame: borrowing Frame, _ node: Frame.Node, _ key: StaticString
  ) throws(ParameterError) -> [Frame.Node] {
    guard frame.kind(node) == .array else { throw ParameterError("\(key)") }
    return frame.elements(of: node)
  }
}
