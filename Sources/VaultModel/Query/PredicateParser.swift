/// The parser that turns a key, an operator and a value into a predicate.
struct PredicateParser {
  let key: QueryParser.Word
  let operation: QueryParser.Word
  let value: QueryParser.Word
  let names: Query.Names

  func parse() throws(QueryError) -> Predicate {
    switch key.text {
    case "name": return try text(.name)
    case "kind": return try text(.kind)
    case "accessible": return try text(.accessible)
    case "require": return try text(.require)
    case "version": return try number(.version)
    case "size": return try number(.size)
    default:
      if let subject = TimeSubject(rawValue: key.text) { return try time(subject) }
      if let subject = AuthorSubject(rawValue: key.text) { return try author(subject) }
      if let subject = TextSubject(keyringKey: key.text) { return try text(subject) }
      let attribute = Attributes.key(ofField: key.text) ?? key.text
      do throws(ValueError) { try Attributes.validate(key: attribute) } catch {
        throw QueryError(position: key.position, reason: error.reason)
      }
      return try text(.attribute(attribute))
    }
  }

  private func text(_ subject: TextSubject) throws(QueryError) -> Predicate {
    switch operation.text {
    case "~": return .fits(subject, try Glob(value))
    case "=", "!=":
      try checkChoice(subject)
      return .equals(subject, value.text, negated: operation.text == "!=")
    default: throw wrongOperation("is text: use '=', '!=' or '~'\(nearest(subject))")
    }
  }

  /// A suggestion of a similar key of times or numbers, if an attribute was compared with an operator that only such
  /// keys have; empty if there is none.
  private func nearest(_ subject: TextSubject) -> String {
    guard case .attribute = subject else { return "" }
    let known = TimeSubject.allCases.map(\.rawValue) + NumberSubject.allCases.map(\.rawValue)
    return Nearest.names(to: key.text, among: known, most: 1).first.map { "; did you mean \($0)?" } ?? ""
  }

  /// Refuses a misspelled kind or an impossible name, which would otherwise silently match nothing.
  private func checkChoice(_ subject: TextSubject) throws(QueryError) {
    if subject == .name {
      do throws(NameError) { _ = try ItemName(value.text) } catch {
        throw QueryError(position: value.position, reason: error.reason)
      }
    }
    if let choices = subject.choices, !choices.contains(value.text) {
      throw wrongValue("\(key.text) is one of \(choices.joined(separator: ", "))")
    }
  }

  private func author(_ subject: AuthorSubject) throws(QueryError) -> Predicate {
    guard operation.text == "=" || operation.text == "!=" else { throw wrongOperation("is a caller: use '=' or '!='") }
    do throws(ValueError) {
      let author = try Subject(parsing: value.text, user: names.user, group: names.group, onlySelects: true)
      return .author(subject, author, negated: operation.text == "!=")
    } catch { throw wrongValue(error.reason) }
  }

  private func time(_ subject: TimeSubject) throws(QueryError) -> Predicate {
    switch operation.text {
    case "<", ">": return .time(subject, isBelow: operation.text == "<", try timeBound())
    case "=" where subject == .expires, "!=" where subject == .expires:
      guard value.text == "never" else { throw wrongValue("compare expires with '<' or '>', or write expires=never") }
      return .never(negated: operation.text == "!=")
    default: throw wrongOperation("is a time: use '<' or '>'")
    }
  }

  private func timeBound() throws(QueryError) -> TimeBound {
    do throws(ValueError) {
      switch try TimeText(parsing: value.text) {
      case .time(let instant): return .instant(instant)
      case .duration(let distance): return .distance(distance)
      }
    } catch { throw wrongValue(error.reason) }
  }

  private func number(_ subject: NumberSubject) throws(QueryError) -> Predicate {
    let relation: NumberRelation
    switch operation.text {
    case "=": relation = .equal
    case "!=": relation = .unequal
    case "<": relation = .below
    case ">": relation = .above
    default: throw wrongOperation("is a number: use '=', '!=', '<' or '>'")
    }
    return .number(subject, relation, try wholeNumber(scaled: subject == .size))
  }

  private func wholeNumber(scaled: Bool) throws(QueryError) -> Int {
    var digits = value.text.utf8[...]
    var scale = 1
    if scaled, let unit = digits.last, !isDigit(unit) {
      if unit == UInt8(ascii: "k") { scale = 1024 } else if unit == UInt8(ascii: "m") { scale = 1024 * 1024 }
      if scale > 1 { digits.removeLast() }
    }
    guard !digits.isEmpty, digits.allSatisfy(isDigit), let number = Int(Substring(digits)) else {
      throw wrongValue(scaled ? "write bytes such as 512, 64k or 1m" : "write a whole number")
    }
    let (product, overflow) = number.multipliedReportingOverflow(by: scale)
    if overflow { throw wrongValue("the number is too large") }
    return product
  }

  private func wrongOperation(_ reason: String) -> QueryError {
    QueryError(position: operation.position, reason: "\(key.text) \(reason)")
  }

  private func wrongValue(_ reason: String) -> QueryError { QueryError(position: value.position, reason: reason) }
}
