import VaultWire

@testable import VaultDaemon

/// A call of a method, and the entries that exist once the call was answered: `ACTION OUTCOME ITEM: DETAIL`.
struct CallRow {
  typealias Client = ConnectionStand.Inside

  /// Makes what the call is about, and returns the call's parameters.
  let prepare: (Client) throws -> String
  /// The entries if the client owns the vault, which is unlocked and has the item `a`.
  let allowed: [String]
  /// The entries if the client is a user without rights.
  let denied: [String]
  /// True if the owner must have shown presence.
  let needsProof: Bool
  /// The answers to what the call asks; a code that it shows is typed back.
  let answers: [String]

  /// The entries if the client owns the vault, but has not shown the presence that the call needs.
  var unproven: [String] { allowed.map { $0.replacing(" ok ", with: " presence ") } }

  init(
    _ allowed: [String], denied: [String]? = nil, proof needsProof: Bool = false, answers: [String] = [],
    of prepare: @escaping (Client) throws -> String = { _ in "{}" }
  ) {
    (self.prepare, self.allowed, self.needsProof, self.answers) = (prepare, allowed, needsProof, answers)
    self.denied = denied ?? allowed.map { $0.replacing(" ok ", with: " denied ") }
  }

  /// A call with parameters that do not depend on what is made for it.
  init(
    _ parameters: String, _ allowed: [String], denied: [String]? = nil, proof: Bool = false, answers: [String] = [],
    after prepare: @escaping (Client) throws -> Void = { _ in }
  ) {
    self.init(allowed, denied: denied, proof: proof, answers: answers) { client in
      try prepare(client)
      return parameters
    }
  }

  /// A call that a user without rights may not make at all, whatever it is about.
  static func administrative(
    _ method: MethodName, _ allowed: [String], proof: Bool = false, answers: [String] = [],
    of prepare: @escaping (Client) throws -> String = { _ in "{}" }
  ) -> CallRow {
    CallRow(allowed, denied: [CallLog.call(method, "denied")], proof: proof, answers: answers, of: prepare)
  }

  /// Such a call with parameters that do not depend on what is made for it.
  static func administrative(
    _ method: MethodName, _ parameters: String, _ allowed: [String], proof: Bool = false, answers: [String] = [],
    after prepare: @escaping (Client) throws -> Void = { _ in }
  ) -> CallRow {
    CallRow(
      parameters, allowed, denied: [CallLog.call(method, "denied")], proof: proof, answers: answers, after: prepare)
  }
}
