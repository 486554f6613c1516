import Foundation
import Glibc
import Testing
import VaultSigning
import VaultTesting

@testable import VaultDaemon

@Suite("The file with the keys of known hosts") struct KnownHostsFileTests {
  private let folder: String
  private let path: String
  private let blob: [UInt8] =
    [0, 0, 0, 11] + Array("ssh-ed25519".utf8) + [0, 0, 0, 32, 0x58] + [UInt8](repeating: 0x66, count: 31)

  init() throws {
    folder = try ScratchFolder.make()
    path = folder + "/.ssh/known_hosts"
    try FileManager.default.createDirectory(atPath: folder + "/.ssh", withIntermediateDirectories: true)
  }

  private func write(_ name: String, to path: String) throws {
    try Data("\(name) ssh-ed25519 \(Data(blob).base64EncodedString())\n".utf8).write(to: URL(fileURLWithPath: path))
  }

  @Test("is read again once it has changed, and may be a symbolic link") func changes() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = KnownHostsFile(home: folder)
    let fingerprint = file.name(of: blob, candidates: [])
    #expect(fingerprint.contains("SHA256:"))
    try write("first.test", to: path)
    for _ in 0..<2 { #expect(file.name(of: blob, candidates: []) == "first.test") }
    #expect(file.name(of: [1], candidates: []) == "an unknown host")
    try write("second-name.test", to: folder + "/elsewhere")
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder + "/elsewhere")
    #expect(file.name(of: blob, candidates: []) == "second-name.test")
    try FileManager.default.removeItem(atPath: folder + "/elsewhere")
    #expect(file.name(of: blob, candidates: []) == fingerprint)
  }

  @Test("says that a key is revoked, with or without a name of its host") func revoked() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = KnownHostsFile(home: folder)
    try write("@revoked *", to: path)
    #expect(file.name(of: blob, candidates: []) == "an unknown host, WHOSE KEY IS REVOKED")
    try write("gate.test ssh-ed25519 \(Data(blob).base64EncodedString())\n@revoked *", to: path)
    #expect(file.name(of: blob, candidates: []) == "gate.test, WHOSE KEY IS REVOKED")
  }

  @Test("names a host that has a certificate by its authority's line, and else by the fingerprints of both keys")
  func certificate() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let vectors = Repository.root.appending(path: "Tests/VaultSSHTests/Vectors/host-certificates")
    let lines = try String(contentsOf: vectors, encoding: .utf8).split(separator: "\n").map { $0.split(separator: " ") }
    func key(_ name: String) throws -> Substring { try #require(lines.first { $0[0] == name })[2] }
    func blob(_ name: String) throws -> [UInt8] { Array(try #require(Data(base64Encoded: String(try key(name))))) }
    let file = KnownHostsFile(home: folder)
    func name(_ certificate: String) throws -> String { file.name(of: try blob(certificate), candidates: []) }
    let plain = file.name(of: try blob("host"), candidates: []).dropLast()
    #expect(plain.hasPrefix("an unknown host (SHA256:"))
    let authority = PublicKey.fingerprint(ofSSHBlob: try blob("ca"))
    #expect(try name("named") == plain + ", certified by \(authority))")
    #expect(try name("user") == plain + ", with a certificate that is not valid)")
    try Data("@cert-authority *.example ssh-ed25519 \(try key("ca"))\n".utf8).write(to: URL(fileURLWithPath: path))
    #expect(try name("named") == "gate.example")
  }

  @Test("keeps no more than some names, and finds those of many hosts") func many() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = KnownHostsFile(home: folder)
    try write("first.test", to: path)
    for number in 0..<200 {
      #expect(file.name(of: [UInt8(number)], candidates: ["\(number)"]) == "an unknown host")
      #expect(file.name(of: blob, candidates: ["\(number)"]) == "first.test")
    }
  }

  @Test("is not waited for if it is a pipe") func pipe() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(unsafe mkfifo(path, 0o600) == 0)
    #expect(KnownHostsFile(home: folder).name(of: blob, candidates: []).contains("SHA256:"))
  }
}
