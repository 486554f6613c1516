internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// One line of `vault set --batch`: an item, and its value if it has one.
struct BatchLine: ~Copyable {
  /// The number of the line, counted from 1.
  let number: Int
  /// The size of the line in bytes.
  let size: Int
  let name: ItemName
  let item: Wire.NewItem
  let value: SecretBuffer?

  /// Reads and checks a line.
  static func read(
    _ line: borrowing SecretBuffer, number: Int, _ terms: BatchTerms
  ) throws(BatchFault) -> BatchLine {
    let frame = try frame(line)
    var item = Wire.NewItem(name: "")
    for (key, node) in frame.members(of: frame.root) {
      guard let field = BatchField(rawValue: key) else { throw BatchFault(unknown: key) }
      if frame.kind(node) != .null { try read(field, frame, node, terms, into: &item) }
    }
    if terms.update, item.update == nil { item.update = true }
    let name = try name(item, isGiven: frame.member("name", of: frame.root) != nil)
    let value = try checkedValue(frame, item, mayBeEmpty: terms.allowsEmpty || item.update != true, of: name)
    return BatchLine(number: number, size: line.count, name: name, item: item, value: value)
  }

  private static func frame(_ line: borrowing SecretBuffer) throws(BatchFault) -> Frame {
    do throws(FrameError) {
      return try line.withBytes { bytes throws(FrameError) in try Frame(parsing: bytes) }
    } catch {
      throw BatchFault(error, count: line.count)
    }
  }

  private static func name(_ item: Wire.NewItem, isGiven: Bool) throws(BatchFault) -> ItemName {
    guard isGiven else { throw BatchFault(.name, "is missing") }
    do throws(NameError) { return try ItemName(item.name) } catch {
      throw BatchFault(.name, ValueError(reason: error.reason))
    }
  }

  private static func read(
    _ field: BatchField, _ frame: borrowing Frame, _ node: Frame.Node, _ terms: BatchTerms,
    into item: inout Wire.NewItem
  ) throws(BatchFault) {
    switch field {
    case .name: item.name = try text(field, frame, node)
    // The value is read at the end, and never into a `String`.
    case .value: if frame.kind(node) != .string { throw BatchFault(wrong: field) }
    case .data: if frame.kind(node) != .string { throw BatchFault(wrong: field) }
    case .generate: item.generate = try BatchRecipe.read(frame, node)
    case .kind: item.kind = try text(field, frame, node)
    case .use: item.use = try text(field, frame, node)
    case .accessible: item.accessible = try text(field, frame, node)
    case .require: item.require = try text(field, frame, node)
    case .attributes: item.attributes = try attributes(frame, node)
    case .reuse:
      let seconds = try time(field, frame, node) { text throws(ValueError) in try Times.reuseSeconds(text) }
      guard Policy.reuseWindows.contains(UInt32(clamping: seconds)) else { throw BatchFault(wrong: field) }
      item.reuse = Int(seconds)
    case .expires where frame.string(node) == Expiry.word: item.expires = Expiry.never.wire
    case .expires:
      let time = try time(field, frame, node) { text throws(ValueError) in try Times.expirySeconds(text) }
      do throws(ValueError) {
        item.expires = try Times.checkedExpiry(time, allowsPast: terms.allowsExpired)
      } catch { throw BatchFault(field, error) }
    case .update:
      guard let update = frame.bool(node) else { throw BatchFault(wrong: field) }
      item.update = update
    case .neverRead:
      guard let neverRead = frame.bool(node) else { throw BatchFault(wrong: field) }
      item.neverRead = neverRead
    }
  }

  /// Returns the text of a field, which must be one of the field's words if it has any.
  private static func text(
    _ field: BatchField, _ frame: borrowing Frame, _ node: Frame.Node
  ) throws(BatchFault) -> String {
    guard let text = frame.string(node), field.words?.contains(text) ?? true else { throw BatchFault(wrong: field) }
    return text
  }

  /// Returns a number as it is, or parses a text in a person's spelling.
  private static func time(
    _ field: BatchField, _ frame: borrowing Frame, _ node: Frame.Node, _ parse: (String) throws(ValueError) -> Int64
  ) throws(BatchFault) -> Int64 {
    if let number = frame.integer(node) { return number }
    guard let text = frame.string(node) else { throw BatchFault(wrong: field) }
    do throws(ValueError) { return try parse(text) } catch { throw BatchFault(field, error) }
  }

  private static func attributes(_ frame: borrowing Frame, _ node: Frame.Node) throws(BatchFault) -> [String: String] {
    guard frame.kind(node) == .object else { throw BatchFault(wrong: .attributes) }
    var attributes: [String: String] = [:]
    for (key, value) in frame.members(of: node) {
      guard let text = frame.string(value) else { throw BatchFault(wrong: .attributes) }
      attributes[key] = text
    }
    do throws(ValueError) { try Attributes.validate(attributes) } catch { throw BatchFault(.attributes, error) }
    return attributes
  }

  /// Returns the value, checked by its kind; a fault names the item.
  private static func checkedValue(
    _ frame: borrowing Frame, _ item: Wire.NewItem, mayBeEmpty: Bool, of name: ItemName
  ) throws(BatchFault) -> SecretBuffer? {
    do throws(BatchFault) {
      let value = try value(frame, item, mayBeEmpty: mayBeEmpty)
      if let fault = fault(in: value, of: item) { throw fault }
      return value
    } catch { throw error.of(name) }
  }

  /// Returns the value itself; nil if the daemon generates it, or if the item keeps its present value.
  private static func value(
    _ frame: borrowing Frame, _ item: Wire.NewItem, mayBeEmpty: Bool
  ) throws(BatchFault) -> SecretBuffer? {
    let (text, data) = (frame.member("value", of: frame.root), frame.member("data", of: frame.root))
    let sources: [(BatchField, Bool)] = [
      (.value, text != nil), (.data, data != nil), (.generate, item.generate != nil),
    ]
    let given = sources.filter(\.1).map(\.0)
    if given.count > 1 {
      let other = given[0].rawValue
      throw BatchFault(given[1], "is given together with `\(other)`; an item has only one of value, data and generate")
    }
    if given.isEmpty, item.update != true {
      throw BatchFault(.value, "is missing, and so are data and generate")
    }
    let count: Int?
    do throws(ParameterError) { count = try frame.contentCount(text, data) } catch { throw BatchFault(wrong: .data) }
    if count == 0, !mayBeEmpty {
      throw BatchFault(given[0], "is empty, and would replace the present value; give --allow-empty to allow that")
    }
    if let count, count > ValueLimits.bytes {
      throw BatchFault(given[0], "is longer than the \(Counted.size(ValueLimits.bytes)) of an item")
    }
    do throws(ParameterError) { return try frame.content(text, data) } catch { throw BatchFault(wrong: .data) }
  }

  /// Returns the fault that the item's kind finds in its value. Only the vault knows the kind of an existing item.
  private static func fault(in value: borrowing SecretBuffer?, of item: Wire.NewItem) -> BatchFault? {
    let use = item.use.flatMap(KeyUse.init(name:))
    if item.generate?.isKey == true, use == nil, item.update != true {
      return BatchFault(.use, "is missing: a key is made for \(BatchField.use.allowed)")
    }
    if item.neverRead == true, item.generate?.isKey != true {
      return BatchFault(.neverRead, "is for a key that is made here: give generate, such as \"ed25519\"")
    }
    let named = item.kind.flatMap(ItemKind.init(rawValue:)) ?? use?.kind
    guard let kind = named ?? (item.update == true || use != nil ? nil : .password) else { return nil }
    // An update without attributes keeps the item's own attributes, which these kinds check as well.
    if item.update == true, item.attributes == nil, kind == .wifi || kind == .pairingCode { return nil }
    switch value {
    case .none: return nil
    case .some(let value):
      if value.count == 0, !kind.facts.mayBeEmpty {
        return BatchFault(
          .value, "is empty, and nothing of kind \(kind.rawValue) is: leave the line out, or give kind note")
      }
      return value.withBytes { bytes in
        do throws(ValueError) { _ = try kind.validate(bytes, attributes: item.attributes ?? [:]) } catch {
          return BatchFault(.value, "is not valid for kind \(kind.rawValue): \(Printable.text(error.reason))")
        }
        return nil
      }
    }
  }
}

/// The recipe of a generated value in a line: its style alone, or an object.
enum BatchRecipe {
  static func read(_ frame: borrowing Frame, _ node: Frame.Node) throws(BatchFault) -> Wire.Generator {
    if let style = frame.string(node) { return try recipe(style) }
    guard frame.kind(node) == .object, let style = frame.member("style", of: node), let text = frame.string(style)
    else { throw BatchFault(wrong: .generate) }
    var recipe = try recipe(text)
    for (key, value) in frame.members(of: node) where frame.kind(value) != .null {
      switch key {
      case "style": break
      case "length":
        guard frame.kind(value) == .number else {
          throw BatchFault(.generate, "has a length that is not a number; write one such as 20, without quotes")
        }
        guard let number = frame.integer(value), let length = Int(exactly: number),
          recipe.lengths?.contains(length) == true
        else { throw BatchFault(.generate, "has a wrong length: \(Self.lengths)") }
        recipe.length = length
      case "symbols":
        guard recipe.style == "password", let symbols = frame.bool(value) else {
          throw BatchFault(.generate, "has wrong symbols: they are true or false without quotes, for passwords only")
        }
        recipe.symbols = symbols
      default:
        throw BatchFault(.generate, "has \(Printable.quoted(key)); its fields are style, length and symbols")
      }
    }
    return recipe
  }

  private static let lengths =
    "a password has \(text(ValueLimits.passwordLengths)) characters, "
    + "and a phrase \(text(ValueLimits.phraseLengths)) words"

  private static func text(_ range: ClosedRange<Int>) -> String { "\(range.lowerBound) to \(range.upperBound)" }

  private static func recipe(_ text: String) throws(BatchFault) -> Wire.Generator {
    if let style = BatchField.styles.first(where: { $0.rawValue == text || $0.recipe.style == text }) {
      return style.recipe
    }
    let isRSA = GeneratedStyle.allCases.contains { $0.rawValue == text || $0.recipe.style == text }
    if isRSA { throw BatchFault(.generate, "is an RSA key, which takes a long time to make; store it by itself") }
    throw BatchFault(wrong: .generate)
  }
}

extension Wire.Generator {
  /// True for a key, which is made for a use.
  fileprivate var isKey: Bool { lengths == nil }

  /// The lengths that the value can have; nil for a key, whose style sets its length.
  fileprivate var lengths: ClosedRange<Int>? {
    switch style {
    case "password": ValueLimits.passwordLengths
    case "phrase": ValueLimits.phraseLengths
    default: nil
    }
  }
}
