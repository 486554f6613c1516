import Testing
import VaultSigning

@testable import VaultSSH

@Suite("What a client signs to log in") struct UserAuthenticationTests {
  private func read(_ data: [UInt8]) throws -> UserAuthentication { try UserAuthentication(unsafe data.span.bytes) }

  private func isRefused(_ data: [UInt8]) -> Bool { (try? read(data)) == nil }

  /// Makes the data of a login, with any field replaced.
  private func data(
    session: [UInt8] = Array(repeating: 1, count: 32), type: UInt8 = 50, user: [UInt8] = Array("ana".utf8),
    service: String = "ssh-connection", method: String = "publickey", hasSignature: UInt8 = 1,
    algorithm: String = "ssh-ed25519", key: [UInt8] = hostBlob("user"), rest: [UInt8] = []
  ) -> [UInt8] {
    sshBytes {
      $0.string(session)
      $0.byte(type)
      $0.string(user)
      $0.string(service)
      $0.string(method)
      $0.byte(hasSignature)
      $0.string(algorithm)
      $0.string(key)
    } + rest
  }

  @Test(
    "is read as ssh sends it, for each type of key, bound to its host",
    arguments: [
      ("login ed25519", "ssh-ed25519"), ("login ecdsa", "ecdsa-sha2-nistp256"), ("login rsa", "rsa-sha2-512"),
      ("login to a host with an rsa key", "ssh-ed25519"),
    ])
  func recorded(name: String, algorithm: String) throws {
    let login = try read(try RecordedConnection.data(name))
    guard
      case .bind(let bind?) = try agentRequest(try RecordedConnection.frame(name, type: 27)),
      case .sign(let asked) = try agentRequest(try RecordedConnection.frame(name, type: 13))
    else { throw UnexpectedRequest() }
    #expect(login.user == "root" && login.algorithm == algorithm)
    #expect(login.sessionID == bind.sessionID && login.hostKey == bind.hostKey)
    #expect(login.key == asked.key && login.signer == asked.key)
  }

  @Test("may be bound to no host") func unbound() throws {
    let login = try read(try RecordedConnection.data("login without host key"))
    #expect(login.hostKey == nil && login.user == "root")
  }

  @Test(
    "with a certificate it names the plain key that signs",
    arguments: [
      ("ed25519", "ssh-ed25519-cert-v01@openssh.com"), ("rsa", "rsa-sha2-512-cert-v01@openssh.com"),
      ("ecdsa", "ecdsa-sha2-nistp256-cert-v01@openssh.com"),
    ])
  func certificate(name: String, algorithm: String) throws {
    let name = "login by certificate " + name
    let login = try read(try RecordedConnection.data(name))
    guard case .sign(let asked) = try agentRequest(try RecordedConnection.frame(name, type: 13)) else {
      throw UnexpectedRequest()
    }
    #expect(login.algorithm == algorithm && login.signer == asked.key && login.key != asked.key)
  }

  @Test("is refused when any field is another") func fields() throws {
    #expect(try read(data()).user == "ana")
    for bad in [
      data(session: []), data(session: [UInt8](repeating: 1, count: 19)),
      data(session: [UInt8](repeating: 1, count: 129)),
      data(type: 51), data(user: [0xFF]), data(user: [0x61, 0]), data(user: [UInt8](repeating: 0x61, count: 1025)),
      data(service: "ssh-userauth"), data(method: "password"), data(method: "hostbased"), data(method: "publickey\0"),
      data(hasSignature: 0), data(hasSignature: 2), data(key: []), data(key: [1, 2, 3]), data(rest: [0]),
      data(rest: sshBytes { $0.string(hostBlob("host")) }),
      data(method: "publickey-hostbound-v00@openssh.com"),
      data(method: "publickey-hostbound-v00@openssh.com", rest: sshBytes { $0.string("") }),
      data(
        method: "publickey-hostbound-v00@openssh.com",
        rest: sshBytes {
          $0.string(hostBlob("host"))
          $0.byte(0)
        }),
    ] { #expect(isRefused(bad)) }
  }

  @Test("its algorithm fits the key, and is not RSA with SHA-1") func algorithms() throws {
    let rsa = hostBlob("r", type: "ssh-rsa")
    for algorithm in ["rsa-sha2-256", "rsa-sha2-512"] {
      #expect(try read(data(algorithm: algorithm, key: rsa)).algorithm == algorithm)
      #expect(isRefused(data(algorithm: algorithm)))
    }
    for algorithm in ["ssh-rsa", "ssh-ed25519", "rsa-sha2-256-cert-v01@openssh.com", ""] {
      #expect(isRefused(data(algorithm: algorithm, key: rsa)))
    }
    #expect(isRefused(data(algorithm: "ecdsa-sha2-nistp256", key: hostBlob("e", type: "ecdsa-sha2-nistp384"))))
    for type in ["ssh-dss", "sk-ssh-ed25519@openssh.com", "ssh-ed25519-cert-v02@openssh.com", "x"] {
      #expect(isRefused(data(algorithm: type, key: hostBlob("e", type: type))))
    }
    // This certificate ends before its key.
    let short = "ssh-ed25519-cert-v01@openssh.com"
    #expect(isRefused(data(algorithm: short, key: sshBytes { $0.string(short) })))
    let old = "ssh-rsa-cert-v01@openssh.com"
    #expect(isRefused(data(algorithm: old, key: sshBytes { for field in [old, "n", "e", "m"] { $0.string(field) } })))
  }
}

@Suite("What SSHSIG signs") struct SSHSignatureBlobTests {
  private func read(_ data: [UInt8]) throws -> SSHSignatureBlob { try SSHSignatureBlob(unsafe data.span.bytes) }

  private func data(
    _ namespace: String = "git", reserved: String = "", _ algorithm: String = "sha512", size: Int = 64
  ) -> [UInt8] {
    Array("SSHSIG".utf8)
      + sshBytes {
        $0.string(namespace)
        $0.string(reserved)
        $0.string(algorithm)
        $0.string([UInt8](repeating: 7, count: size))
      }
  }

  @Test("is read as ssh-keygen sends it") func recorded() throws {
    let git = try read(try RecordedConnection.data("ssh-keygen -Y sign, git, sha512, ed25519"))
    #expect(git.namespace == "git" && git.hashAlgorithm == .sha512 && git.hash.count == 64)
    let file = try read(try RecordedConnection.data("ssh-keygen -Y sign, file, sha256, rsa"))
    #expect(file.namespace == "file" && file.hashAlgorithm == .sha256 && file.hash.count == 32)
  }

  @Test("is refused when any field is another") func fields() throws {
    #expect(try read(data()).namespace == "git" && read(data("a", "sha256", size: 32)).hash.count == 32)
    for bad in [
      data(""), data(String(repeating: "n", count: 257)), data("a\0"), data(reserved: "r"), data("a", "sha1", size: 20),
      data("a", "sha256", size: 64), data("a", "sha512", size: 63), data("a", "SHA512"), data() + [0], [],
      Array("SSHSIG".utf8), Array("SSHSIF".utf8) + data().dropFirst(6),
    ] { #expect((try? read(bad)) == nil) }
  }

  @Test("is no login, and a login is none") func apart() throws {
    let login = try RecordedConnection.data("login ed25519")
    #expect((try? read(login)) == nil && !SSHSignatureBlob.isBegun(by: unsafe login.span.bytes))
    let signature = data()
    #expect((try? UserAuthentication(unsafe signature.span.bytes)) == nil)
    #expect(SSHSignatureBlob.isBegun(by: unsafe signature.span.bytes))
  }
}
