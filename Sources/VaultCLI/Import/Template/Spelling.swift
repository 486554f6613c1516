internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The way in which a template spells a value: in a form of ``Escape``, or as it is, between the quotes of the file.
struct Spelling: ~Copyable {
  /// The spelled value.
  let text: SecretBuffer
  /// True if the file spells the value in another way.
  let isOther: Bool
  private let form: Escape?
  /// The quote around the value; nil if it has none, or the form has its own.
  private let quote: UInt8?

  /// Finds the spelling of a value that a file has in `written`: that spelling itself, if there is one.
  init(_ field: SourceField, _ written: RawSpan, _ language: ImportedPlace.Form) throws(Failure) {
    let own: Escape = language == .json ? .json : .yaml
    var spelled = SecretBuffer()
    do throws(Escape.Fault) {
      try field.value.withBytes { value throws(Escape.Fault) in try own.append(value, to: &spelled) }
    } catch {
      throw Failure(.software, "a value of the file has no form in it: \(error.reason)", "report this")
    }
    let copy = SecretBuffer(copying: written)
    if spelled.isSame(as: copy) {
      (form, quote, isOther) = (own, nil, false)
      text = spelled
    } else if copy.isSame(as: field.value) {
      (form, quote, isOther) = (nil, nil, false)
      text = copy
    } else if let edge = Self.quote(of: written),
      SecretBuffer(copying: written.extracting(1..<written.byteCount - 1)).isSame(as: field.value)
    {
      (form, quote, isOther) = (nil, edge, false)
      text = copy
    } else {
      (form, quote, isOther) = (own, nil, true)
      text = spelled
    }
  }

  /// The quote around a text; nil if there is none.
  private static func quote(of written: RawSpan) -> UInt8? {
    guard written.byteCount >= 2 else { return nil }
    let (first, last) = (written.byte(0), written.byte(written.byteCount - 1))
    return first == last && (first == UInt8(ascii: "\"") || first == UInt8(ascii: "'")) ? first : nil
  }

  /// Appends the expression for an item that has the value.
  func append(_ item: String, to template: inout SecretBuffer) {
    if let quote { template.append(quote) }
    template.append("{{ vault \"" as StaticString)
    template.append(utf8: item.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))
    template.append("\"" as StaticString)
    if let form {
      template.append(" | " as StaticString)
      template.append(utf8: form.rawValue)
    }
    template.append(" }}" as StaticString)
    if let quote { template.append(quote) }
  }
}
