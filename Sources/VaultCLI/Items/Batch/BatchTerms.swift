/// The terms for all lines of `vault set --batch`.
struct BatchTerms {
  /// True if lines without their own `update` update existing items.
  var update = false
  /// True if an empty value may replace another one.
  var allowsEmpty = false
  /// True if an expiry may be in the past.
  var allowsExpired = false
}
