import VaultCore

/// The proof by which a change to a part of the store is noticed, after ``FileShape`` has shown that a walk and a
/// lookup reach the same rows of that part. Every table and every row of `meta` is in ``list``. A new part of the store
/// must be added to the list, and a test compares the list with the schema.
struct Authenticity {
  enum Proof: Equatable {
    /// Each row counts in the record of its item's class, under the key of that class.
    case inItsClass(AssociatedData.Table)
    /// Each row counts in the records of all three classes, so that only somebody with the vault key can make all three
    /// agree on a change.
    case inAllClasses(AssociatedData.Table)
    /// The part carries a MAC of its own, or is a chain of records in which each record authenticates the one before
    /// it.
    case itself
    /// No proof is needed, for the given reason.
    case needless(String)
  }

  /// The name of a table, or `meta` followed by the name of a row.
  let subject: String
  let proof: Proof

  static let list = [
    Authenticity(subject: "heads", proof: .inItsClass(.heads)),
    // The current value of each item lies in `heads`.
    Authenticity(subject: "vals", proof: .inItsClass(.values)),
    Authenticity(subject: "tags", proof: .inItsClass(.tags)),
    Authenticity(subject: "grants", proof: .inItsClass(.grants)),
    // A deposit that waits for an unlock has a MAC of its own, which is checked when the deposit is taken in.
    Authenticity(subject: "deposits", proof: .inItsClass(.deposits)),
    Authenticity(subject: "slots", proof: .inAllClasses(.slots)),
    Authenticity(subject: "keys", proof: .inAllClasses(.keys)),
    Authenticity(subject: "hashes", proof: .itself),
    Authenticity(subject: "audit", proof: .itself),
    Authenticity(subject: "meta audit-end", proof: .itself),
    Authenticity(subject: "meta audit-anchor", proof: .inItsClass(.audit)),
    Authenticity(subject: "meta rekeying", proof: .inAllClasses(.meta)),
    Authenticity(
      subject: "meta vault-id",
      proof: .needless("every key and every record is bound to it, so that with another one nothing opens")),
    Authenticity(
      subject: "meta stale-slots",
      proof: .needless("it is advice to people about a way in, which any process of the user may give")),
    Authenticity(
      subject: "meta log",
      proof: .needless("it is a warning about accidents, and no file is served or refused for it")),
  ]
}
