/// The terms of all lines of `vault set --batch`.
struct BatchTerms {
  /// True when lines that do not say so themselves update, too.
  var update = false
  /// True when a value may be replaced by an empty one.
  var allowsEmpty = false
  /// True when an expiry may have passed.
  var allowsExpired = false
}
