import Testing
import VaultBytes
import VaultWire

/// Every error, with all its fields.
enum FaultSamples {
  static let vault: [Fault] = [
    .noVault, .vaultExists, .locked(state: "cold", cause: "start"), .timedOut, .unanswered(number: 7),
    .noSuchRequest(number: 123_456),
    .noSuchItem(name: "a/é", unverified: true),
    .noSuchVersion(name: "a", version: 2), .noSuchSlot(id: 3), .lastSlot, .noSuchGrant(subject: "user:1"),
    .invalidGrant(reason: "r"), .alreadyExists(name: "a", failed: 0),
    .expired(name: "a", expires: 1_700_000_000), .invalidName(name: "..", reason: "dots", failed: 1),
    .invalidValue(kind: "wifi", reason: "short", failed: 2, anotherItem: true), .wrongKind(name: "a", kind: "note"),
    .wrongUse(name: "a", use: "jwt"), .neverRead(name: "a"), .notOnTheseTerms(name: "a", reason: "too long"),
    .invalidQuery(reason: "what", position: 7),
    .authenticationFailed(method: "password", retryAfterMilliseconds: 1000), .mistypedRecoveryCode,
    .backingOff(method: "recovery", retryAfterMilliseconds: 60_000),
    .methodUnavailable(method: "password", reason: "none", advice: "do"), .rekeying, .rekeyRests,
    .noSuchDeposit(number: 4), .cancelled, .noSuchConversation,
    .accountExpired(reason: "since May"), .tooManyTries, .presenceFailed(reason: "crashed"),
    .presenceRequired(name: "a", require: "biometry"),
    .weakSecret(reason: "short"), .tooLarge(limit: 1 << 20), .tooMuch(reason: "many"),
    .tooManyConnections(uid: 1000, limit: 256),
    .tooManyRequests(uid: 4_294_967_294),
    .denied(reason: "not yours", request: 8), .corrupt(reason: "bad", newer: true, advice: "do"),
    .storageFailed(reason: "full"),
    .misconfigured(reason: "mode"), .busy(reason: "a"), .outOfMemory, .invalidBackup(reason: "b"),
    .invalidFrame(reason: "at byte 0: no value"),
  ]
  static let service: [Fault] = [
    .service(.interfaceNotFound(interface: "i")), .service(.methodNotFound(method: "m")),
    .service(.methodNotImplemented(method: "m")), .service(.invalidParameter(parameter: "p")),
    .service(.permissionDenied), .service(.expectedMore),
  ]

  static func shortName(_ fault: Fault) -> String {
    fault.fullName.split(separator: ".").last.map { String($0) } ?? ""
  }

  /// Returns the parameters with which an error is sent.
  static func parameters(_ fault: Fault) throws -> [String: JSONTree] {
    try JSONTree(written { fault.write(to: &$0) }).members["parameters"]?.members ?? [:]
  }

  static func decode(_ name: String, _ parameters: [String: JSONTree]) throws -> Fault {
    let frame = try frame(JSONTree.object(parameters).text)
    return try Fault(frame, error: name, frame.root)
  }
}

@Suite struct FaultTests {
  @Test("An error writes the fields and types of its definition, all of them", arguments: FaultSamples.vault)
  func writesDefinition(_ fault: Fault) throws {
    let definition = try VarlinkDefinition("\(VaultInterface.description)")
    let fields = try #require(definition.errors[FaultSamples.shortName(fault)])
    #expect(fault.fullName.hasPrefix("io.vaultd.Vault."))
    try expectConforming([JSONTree.object(FaultSamples.parameters(fault)).text], to: fields, in: definition)
    for field in fields {
      var without = try FaultSamples.parameters(fault)
      without[field.name] = nil
      if case .optional = field.kind {
        #expect(throws: Never.self) { try FaultSamples.decode(fault.fullName, without) }
      } else {
        #expect(throws: ParameterError(field.name)) { try FaultSamples.decode(fault.fullName, without) }
      }
    }
  }

  @Test("The errors of org.varlink.service write its definition", arguments: FaultSamples.service)
  func writesServiceDefinition(_ fault: Fault) throws {
    let definition = try VarlinkDefinition("\(ServiceInterface.description)")
    let fields = try #require(definition.errors[FaultSamples.shortName(fault)])
    #expect(fault.fullName.hasPrefix("org.varlink.service."))
    try expectConforming([JSONTree.object(FaultSamples.parameters(fault)).text], to: fields, in: definition)
  }

  @Test("An error arrives as it was sent", arguments: FaultSamples.vault + FaultSamples.service)
  func isFaithful(_ fault: Fault) throws {
    let frame = try frame(written { fault.write(to: &$0) })
    let reply = try Reply(frame)
    let name = try #require(reply.error)
    let read = try Fault(frame, error: name, reply.parameters)
    #expect(read == fault)
  }

  @Test("Wrong and unknown parameters of an error are named", arguments: FaultSamples.vault + FaultSamples.service)
  func refusesOthers(_ fault: Fault) throws {
    let parameters = try FaultSamples.parameters(fault)
    for name in parameters.keys {
      var changed = parameters
      changed[name] = .array([])
      #expect(throws: ParameterError(name)) { try FaultSamples.decode(fault.fullName, changed) }
    }
    var more = parameters
    more["no_such_field"] = .integer(1)
    #expect(throws: ParameterError("no_such_field")) { try FaultSamples.decode(fault.fullName, more) }
  }

  @Test("An error nobody knows keeps its name", arguments: ["io.vaultd.Vault.Later", "org.varlink.service.X", "x", ""])
  func keepsUnknownNames(_ name: String) throws {
    #expect(try FaultSamples.decode(name, ["any": .integer(1)]) == .unknown(name))
  }

  @Test("An error without parameters needs none at all")
  func takesAbsentParameters() throws {
    let frame = try frame(#"{"error":"io.vaultd.Vault.NoVault"}"#)
    let reply = try Reply(frame)
    let fault = try Fault(frame, error: try #require(reply.error), reply.parameters)
    #expect(fault == .noVault)
  }

  @Test(
    "Envelopes with wrong or unknown fields are refused by name",
    arguments: [
      (#"{"parameters":{}}"#, "method"), (#"{"method":1}"#, "method"),
      (#"{"method":"a","parameters":[]}"#, "parameters"),
      (#"{"method":"a","more":1}"#, "more"), (#"{"method":"a","oneway":"x"}"#, "oneway"),
      (#"{"method":"a","upgrade":{}}"#, "upgrade"), (#"{"method":"a","id":1}"#, "id"),
    ])
  func refusesEnvelopes(_ json: String, _ parameter: String) throws {
    let frame = try frame(json)
    #expect(throws: ParameterError(parameter)) { _ = try Call(frame) }
  }

  @Test("A call may leave out all but its method")
  func takesBareCalls() throws {
    let frame = try frame(#"{"method":"io.vaultd.Vault.Status","parameters":null,"more":null}"#)
    let call = try Call(frame)
    #expect(call.parameters == nil && !call.more && !call.oneway && !call.upgrade)
    let method = MethodName(frame, call.method)
    #expect(method == .status)
    #expect(throws: Never.self) { _ = try Wire.Empty(frame, call.parameters) }
    #expect(throws: ParameterError("name")) { _ = try Wire.GetParameters(frame, call.parameters) }
  }
}
