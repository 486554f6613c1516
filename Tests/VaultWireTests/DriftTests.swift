import Foundation
import Testing
import VaultBytes
import VaultTesting
import VaultWire

/// The agreement of the Swift types with the interface's definition.
@Suite struct DriftTests {
  let vault: VarlinkDefinition
  let service: VarlinkDefinition

  init() throws {
    vault = try VarlinkDefinition("\(VaultInterface.description)")
    service = try VarlinkDefinition("\(ServiceInterface.description)")
  }

  @Test(
    "The definition that is served is the file's text",
    arguments: [
      (VaultInterface.name, VaultInterface.description), (ServiceInterface.name, ServiceInterface.description),
    ])
  func matchesFile(name: String, description: StaticString) throws {
    let file = Repository.root.appending(path: "Sources/VaultWire/\(name).varlink")
    #expect(try String(contentsOf: file, encoding: .utf8) == "\(description)")
  }

  @Test("Names of interfaces and methods are the definitions'")
  func matchesNames() {
    #expect(vault.name == VaultInterface.name)
    #expect(service.name == ServiceInterface.name)
    let defined = vault.methods.map { "\(vault.name).\($0)" } + service.methods.map { "\(service.name).\($0)" }
    #expect(Set(MethodName.allCases.map { "\($0.fullName)" }) == Set(defined))
    #expect(MethodName.allCases.count == defined.count)
  }

  @Test("Every method is found by its name, and by no other")
  func findsMethods() throws {
    for method in MethodName.allCases {
      let frame = try frame("{\"method\":\"\(method.fullName)\",\"other\":\"\(method.fullName)x\"}")
      let found = MethodName(frame, try present(frame.member("method", of: frame.root)))
      #expect(found == method)
      let other = MethodName(frame, try present(frame.member("other", of: frame.root)))
      #expect(other == nil)
    }
    #expect(Fault.unknownMethod("io.vaultd.Vault.Nope") == .service(.methodNotFound(method: "io.vaultd.Vault.Nope")))
    #expect(Fault.unknownMethod("org.varlink.service.X") == .service(.methodNotFound(method: "org.varlink.service.X")))
    #expect(Fault.unknownMethod("io.systemd.X") == .service(.interfaceNotFound(interface: "io.systemd")))
    #expect(Fault.unknownMethod("Get") == .service(.interfaceNotFound(interface: "")))
  }

  @Test("Every struct of the definitions has its Swift type")
  func coversDefinitions() {
    #expect(Set((WireSubject.all + WireSubject.replies).map(\.definition)) == Set(vault.structs.keys))
    #expect(Set(WireSubject.service.map(\.definition)) == Set(service.structs.keys))
    #expect(Set(FaultSamples.vault.map { FaultSamples.shortName($0) }) == Set(vault.errors.keys))
    #expect(Set(FaultSamples.service.map { FaultSamples.shortName($0) }) == Set(service.errors.keys))
  }

  @Test(
    "What a type writes has the fields and types of its definition, all of them",
    arguments: WireSubject.all + WireSubject.replies)
  func writesDefinition(_ subject: WireSubject) throws {
    try expectConforming(subject.samples, to: try #require(vault.structs[subject.definition]), in: vault)
  }

  @Test("The types of org.varlink.service write its definition", arguments: WireSubject.service)
  func writesServiceDefinition(_ subject: WireSubject) throws {
    try expectConforming(subject.samples, to: try #require(service.structs[subject.definition]), in: service)
  }

  @Test(
    "What a type writes is what it reads", arguments: WireSubject.all + WireSubject.replies + WireSubject.service)
  func isFaithful(_ subject: WireSubject) throws { #expect(try subject.isFaithful()) }

  @Test(
    "A type takes null and absence where the definition has a question mark, and nowhere else",
    arguments: WireSubject.all + WireSubject.service)
  func knowsOptionals(_ subject: WireSubject) throws {
    for sample in subject.samples {
      let members = try JSONTree(sample).members
      for field in try #require(vault.structs[subject.definition] ?? service.structs[subject.definition]) {
        guard members[field.name] != nil else { continue }
        var without = members
        without[field.name] = nil
        var null = members
        null[field.name] = .null
        let expected: ParameterError?
        if case .optional = field.kind { expected = nil } else { expected = ParameterError(field.name) }
        #expect(try error(of: subject, .object(without)) == expected)
        #expect(try error(of: subject, .object(null)) == expected)
      }
    }
  }

  @Test("A wrong type and an unknown field are refused by name", arguments: WireSubject.all + WireSubject.service)
  func refusesOthers(_ subject: WireSubject) throws {
    for sample in subject.samples {
      let members = try JSONTree(sample).members
      for (name, value) in members {
        for wrong in [.object([:]), .array([]), .string("!"), .integer(1), .bool(true)] as [JSONTree]
        where !hasSameKind(wrong, value) {
          var changed = members
          changed[name] = wrong
          #expect(try error(of: subject, .object(changed)) == ParameterError(name), "\(wrong)")
        }
      }
      var more = members
      more["no_such_field"] = .null
      #expect(try error(of: subject, .object(more)) == ParameterError("no_such_field"))
      for number in 0..<70 { more["no_such_field\(number)"] = .null }
      #expect(try error(of: subject, .object(more))?.parameter.hasPrefix("no_such_field") == true)
    }
  }

  @Test("A wrong field inside is named with its path")
  func namesPaths() throws {
    func error(_ json: String) throws -> String? {
      let frame = try frame(json)
      do {
        _ = try Wire.SetManyParameters(frame, frame.root)
        return nil
      } catch { return error.parameter }
    }
    #expect(try error(#"{"items":[{"name":"a"},{"name":1}]}"#) == "items[1].name")
    #expect(try error(#"{"items":[{"name":"a","generate":{"style":"x","length":"1"}}]}"#) == "items[0].generate.length")
    #expect(try error(#"{"items":[{"name":"a","attributes":{"k":1}}]}"#) == "items[0].attributes.k")
    #expect(try error(#"{"items":[7]}"#) == "items[0]")
    #expect(try error(#"{"items":[]}"#) == nil)
  }

  @Test("An optional list is read wherever it stands, also when nothing else is left") func readsLastList() throws {
    let frame = try frame(#"{"kind":"pam","users":[7]}"#)
    #expect(try Wire.AddSlotParameters(frame, frame.root).users == [7])
  }

  @Test("Numbers that do not fit are wrong types", arguments: ["1.5", "9223372036854775808", "1e400", "\"1\""])
  func refusesNumbers(_ number: String) throws {
    let frame = try frame("{\"name\":\"a\",\"version\":\(number)}")
    #expect(throws: ParameterError("version")) { _ = try Wire.GetParameters(frame, frame.root) }
  }

  private func error(of subject: WireSubject, _ tree: JSONTree) throws -> ParameterError? {
    let frame = try frame(tree.text)
    do throws(ParameterError) {
      _ = try subject.decode(frame)
      return nil
    } catch { return error }
  }

  private func hasSameKind(_ left: JSONTree, _ right: JSONTree) -> Bool {
    switch (left, right) {
    case (.object, .object), (.array, .array), (.string, .string), (.integer, .integer), (.bool, .bool): true
    default: false
    }
  }
}

/// Expects that every sample has only fields of the definition, of the right types, and that the samples together have
/// all of these fields.
func expectConforming(
  _ samples: [String], to fields: [VarlinkDefinition.Field], in definition: VarlinkDefinition
) throws {
  var seen: Set<String> = []
  for sample in samples {
    let tree = try JSONTree(sample)
    seen.formUnion(tree.members.keys)
    for (name, value) in tree.members {
      let field = try #require(fields.first { $0.name == name }, "\(name) is not defined")
      #expect(conforms(value, to: field.kind, in: definition), "\(name): \(value)")
    }
  }
  #expect(seen == Set(fields.map(\.name)))
}

private func conforms(_ value: JSONTree, to kind: VarlinkDefinition.Kind, in definition: VarlinkDefinition) -> Bool {
  switch (kind, value) {
  case (.string, .string), (.int, .integer), (.bool, .bool): true
  case (.optional(let kind), _): conforms(value, to: kind, in: definition)
  case (.array(let kind), .array(let elements)):
    !elements.isEmpty && elements.allSatisfy { conforms($0, to: kind, in: definition) }
  case (.map(let kind), .object(let members)): members.values.allSatisfy { conforms($0, to: kind, in: definition) }
  case (.named(let name), .object(let members)):
    members.allSatisfy { member in
      definition.structs[name]?.contains { field in
        field.name == member.key && conforms(member.value, to: field.kind, in: definition)
      } == true
    }
  default: false
  }
}
