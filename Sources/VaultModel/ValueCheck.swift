extension ItemKind {
  /// Checks that `value` is of this kind.
  public func validate(_ value: RawSpan, attributes: [String: String]) throws(ValueError) -> ValueFacts {
    return ValueFacts()
  }
}
