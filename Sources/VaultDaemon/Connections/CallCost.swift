/// The part of a user's share of the loop that a call is charged to. Each door decides the cost of each of its calls in
/// a switch without a default. Work that continues later, beside the loop or in separate turns, does not count.
enum CallCost {
  /// A cost about that of reading one item. The call is handled in the line of the user's answers.
  case answer
  /// A higher cost: the call writes, walks over many records, or computes with a private key. It waits for the user's
  /// turn in the line ``UserShare/works``.
  case work
}
