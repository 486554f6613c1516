import Foundation
import Testing
import VaultTesting

/// The helpers whose item a person names in the other program's settings.
@Suite("The helpers for clouds and passwords") struct NamedItemHelperTests {
  @Test(
    "what is not there, is locked or is no name is an error at once",
    arguments: ["aws", "kubectl", "gcp", "password-file"])
  func errors(name: String) throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let item = name == "password-file" ? "prod" : "\(name)/prod"
    try stand.sandbox.must(["set", item, "--attr", "access-key-id=A"], stdin: "s")
    func check(_ words: [String], _ status: Int32, _ said: String) throws {
      let outcome = try stand.sandbox.run(["helper", name] + words)
      #expect(outcome.status == status, "\(words): \(outcome)")
      #expect(name == "gcp" ? outcome.output.contains(said) : outcome.output.isEmpty && outcome.errors.contains(said))
    }
    try check(["none"], 66, "or it has expired")
    for word in ["../web", "/web", "a//b", ""] { try check([word], 64, "not a valid item name") }
    try check(["prod", "more"], 64, "these words do not belong to")
    #expect(try stand.sandbox.run(["helper", name, "--wait"]).errors.contains("--wait needs a value"))
    try stand.sandbox.must(["lock"])
    try check(["prod"], 75, "locked")
    try check(["prod", "--wait", "0"], 75, "locked")
    try check(["none"], 66, "or it has expired")
  }

  // MARK: AWS

  private static let key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

  @Test("aws gets a key with its expiry, or what `aws sts` has printed") func aws() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    try stand.must(
      "/bin/sh", ["-ec", HelperManual.example("aws", "vault set aws/prod --attr", in: stand)], stdin: Self.key)
    let start = #"{"Version":1,"AccessKeyId":"AKIAIOSFODNN7EXAMPLE","SecretAccessKey":"\#(Self.key)""#
    #expect(try stand.helper("aws", "prod").output == start + "}\n")
    try stand.sandbox.must(["set", "aws/prod", "--update", "--keep-value", "--expires", "2100-01-01"])
    #expect(try stand.helper("aws", "prod").output == start + #","Expiration":"2100-01-01T00:00:00Z"}"# + "\n")
    let inner =
      #"{"AccessKeyId":"A","SecretAccessKey":"s","SessionToken":"t+/=","Expiration":"2030-01-01T00:00:00+00:00"}"#
    for text in [inner, #"{ "Credentials": \#(inner), "AssumedRoleUser": {} }"#] {
      try stand.sandbox.must(["set", "aws/sts", "--kind", "note", "--update"], stdin: text)
      #expect(
        try stand.helper("aws", "sts").output
          == #"{"Version":1,"# + inner.dropFirst() + "\n")
    }
    for text in ["s", "{}", #"{"AccessKeyId":"A"}"#, #"{"AccessKeyId":1,"SecretAccessKey":"s"}"#] {
      try stand.sandbox.must(["set", "aws/sts", "--update"], stdin: text)
      let outcome = try stand.helper("aws", "sts")
      #expect(outcome.status == 65 && outcome.output.isEmpty && !outcome.errors.contains(text + "\n"), "\(outcome)")
    }
  }

  @Test("aws gets no JSON for a key; the message names the command that removes the attribute of the former key")
  func awsFormerKey() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let inner = #"{"AccessKeyId":"A","SecretAccessKey":"s"}"#
    for text in [inner, #"{"Credentials":\#(inner)}"#, "{\n\"Credentials\": \(inner)\n}\n"] {
      try stand.sandbox.must(["set", "aws/prod", "--update", "--attr", "access-key-id=AK"], stdin: Self.key)
      #expect(try stand.helper("aws", "prod").output.contains(Self.key))
      try stand.sandbox.must(["set", "aws/prod", "--kind", "note", "--update"], stdin: text)
      let outcome = try stand.helper("aws", "prod")
      #expect(outcome.status == 65 && outcome.output.isEmpty, "\(outcome)")
      let removal = ["set", "aws/prod", "--update", "--keep-value", "--attr", "access-key-id="]
      let advice = "remove the attribute with `vault \(removal.joined(separator: " "))`"
      #expect(outcome.errors.contains(advice), "\(outcome)")
      try stand.sandbox.must(removal)
      #expect(try stand.helper("aws", "prod").output == #"{"Version":1,"# + inner.dropFirst() + "\n")
      try stand.sandbox.must(["set", "aws/prod", "--kind", "password", "--update"], stdin: Self.key)
    }
  }

  @Test("aws gets no credentials whose own time has passed, and is told the earlier of two times") func awsExpired()
    throws
  {
    let stand = try HelperStand()
    defer { stand.close() }
    func store(_ expiration: String, _ options: String...) throws {
      let text = #"{"AccessKeyId":"A","SecretAccessKey":"s","SessionToken":"t","Expiration":"\#(expiration)"}"#
      try stand.sandbox.must(["set", "aws/sts", "--kind", "note", "--update"] + options, stdin: text)
    }
    for expiration in ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00.5+02:00"] {
      try store(expiration, "--expires", "2100-01-01")
      let outcome = try stand.helper("aws", "sts")
      #expect(outcome.status == 65 && outcome.output.isEmpty, "\(outcome)")
      #expect(outcome.errors.contains("the credentials in `aws/sts` expired on"), "\(outcome)")
    }
    for (own, item, told) in [
      ("2098-01-01T00:00:00+00:00", "2099-01-01", "2098-01-01T00:00:00+00:00"),
      ("2098-01-01T00:00:00Z", "2097-01-01", "2097-01-01T00:00:00Z"),
      ("2098-01-01T00:00:00Z", "never", "2098-01-01T00:00:00Z"),
    ] {
      try store(own, "--expires", item)
      #expect(try stand.helper("aws", "sts").output.hasSuffix(#","Expiration":"\#(told)"}"# + "\n"), "\(own) \(item)")
    }
  }

  @Test(
    "aws takes Unix seconds for a time, and gets no credentials with one that nobody can read",
    arguments: [
      ("4102444800", "2100-01-01T00:00:00Z"), ("4102444800.75", "2100-01-01T00:00:00Z"), ("null", ""),
      ("1000", "expired on"), ("1548157689.5", "expired on"), ("1548157689000", "cannot be read"),
      ("-1", "cannot be read"), ("1e300", "cannot be read"), ("true", "cannot be read"), ("{}", "cannot be read"),
      (#""""#, "cannot be read"), (#""1000""#, "cannot be read"), (#""2099-01-22T11:48:09""#, "cannot be read"),
      (#""20990122T114809Z""#, "cannot be read"), (#""2099-01-22 11:48:09 UTC""#, "cannot be read"),
    ])
  func awsNumbers(expiration: String, told: String) throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let text = #"{"AccessKeyId":"A","SecretAccessKey":"s","Expiration":\#(expiration)}"#
    try stand.sandbox.must(["set", "aws/sts", "--kind", "note"], stdin: text)
    let outcome = try stand.helper("aws", "sts")
    if told.isEmpty || told.hasSuffix("Z") {
      let end = told.isEmpty ? "" : #","Expiration":"\#(told)""#
      #expect(outcome.output == #"{"Version":1,"AccessKeyId":"A","SecretAccessKey":"s"\#(end)}"# + "\n", "\(outcome)")
    } else {
      #expect(outcome.status == 65 && outcome.output.isEmpty && outcome.errors.contains(told), "\(outcome)")
    }
  }

  @Test("the aws command line signs with it", .enabled(if: OtherProgram.path("aws") != nil, OtherProgram.why("aws")))
  func awsProgram() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let home = stand.sandbox.home
    try FileManager.default.createDirectory(atPath: home + "/.aws", withIntermediateDirectories: true)
    try stand.sandbox.write(HelperManual.example("aws", "credential_process", in: stand), to: ".aws/config")
    try stand.sandbox.must(["set", "aws/prod", "--attr", "access-key-id=AKIAIOSFODNN7EXAMPLE"], stdin: Self.key)
    let answer = """
      <GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>\
      <Arn>arn:aws:iam::1:user/ana</Arn><UserId>AID</UserId><Account>1</Account></GetCallerIdentityResult>\
      </GetCallerIdentityResponse>
      """
    let server = try GuardedServer(
      stand.sandbox, home, wanted: "Credential=AKIAIOSFODNN7EXAMPLE/", posted: answer)
    let aws = try #require(OtherProgram.path("aws"))
    let words = [
      "sts", "get-caller-identity", "--endpoint-url", "http://127.0.0.1:\(server.port)", "--region", "us-east-1",
      "--profile", "prod", "--no-cli-pager", "--output", "text",
    ].filter { $0 != "--no-cli-pager" }
    let environment: [String: String?] = ["AWS_EC2_METADATA_DISABLED": "true", "AWS_PAGER": ""]
    #expect(try stand.must(aws, words, environment).contains("arn:aws:iam::1:user/ana"))
    try stand.sandbox.must(["lock"])
    let locked = try stand.run(aws, words, environment)
    #expect(locked.status != 0 && (locked.output + locked.errors).contains("vault unlock"), "\(locked)")
  }

  // MARK: Kubernetes

  @Test("kubectl gets a token with its expiry, in the version that it asks in") func kubectl() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "kubectl/prod", "--kind", "api-key", "--expires", "2100-01-01"], stdin: "t0ken")
    func answer(_ version: String) -> String {
      #"{"apiVersion":"client.authentication.k8s.io/\#(version)","kind":"ExecCredential","status":"#
        + #"{"expirationTimestamp":"2100-01-01T00:00:00Z","token":"t0ken"}}"# + "\n"
    }
    #expect(try stand.helper("kubectl", "prod").output == answer("v1"))
    for version in ["v1", "v1beta1"] {
      let asked =
        #"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/\#(version)","#
        + #""spec":{"interactive":false}}"#
      #expect(
        try stand.helper("kubectl", "prod", environment: ["KUBERNETES_EXEC_INFO": asked]).output == answer(version))
      for count in 0..<asked.utf8.count {
        let cut = try stand.helper(
          "kubectl", "prod", environment: ["KUBERNETES_EXEC_INFO": String(asked.prefix(count))])
        #expect([64, 65].contains(cut.status) && cut.output.isEmpty)
      }
    }
    let alpha = #"{"apiVersion":"client.authentication.k8s.io/v1alpha1"}"#
    #expect(try stand.helper("kubectl", "prod", environment: ["KUBERNETES_EXEC_INFO": alpha]).status == 64)
    try stand.sandbox.must(["set", "kubectl/lines", "--kind", "note"], stdin: "a\nb")
    #expect(try stand.helper("kubectl", "lines").status == 65)
  }

  @Test("kubectl gets no password of a user for a token") func kubectlPassword() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "kubectl/basic", "--attr", "username=bob"], stdin: "hunter2")
    let outcome = try stand.helper("kubectl", "basic")
    #expect(outcome.status == 65 && outcome.output.isEmpty, "\(outcome)")
    #expect(outcome.errors.contains("`kubectl/basic` is a password with a user name"), "\(outcome)")
    try stand.sandbox.must(["set", "kubectl/basic", "--update", "--keep-value", "--kind", "api-key"])
    #expect(try stand.helper("kubectl", "basic").output.contains(#""token":"hunter2""#))
  }

  /// Makes a key and its certificate in one file, and returns the file's path.
  private func certificate(_ stand: HelperStand) throws -> String {
    let home = stand.sandbox.home
    try stand.must(
      "/usr/bin/openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
        "/CN=ana", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "client.key", "-out", "client.crt",
      ].map { ["client.key", "client.crt"].contains($0) ? "\(home)/\($0)" : $0 })
    try stand.must("/bin/sh", ["-c", "cat '\(home)/client.key' '\(home)/client.crt' >'\(home)/both.pem'"])
    return home + "/both.pem"
  }

  @Test("kubectl gets a client's key and certificate apart, and a key alone is an error") func clientKey() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let home = stand.sandbox.home
    _ = try certificate(stand)
    let command = try HelperManual.example("kubectl", "tls-key", in: stand)
    let line = try #require(command.split(separator: "\n").last)
    try stand.must("/bin/sh", ["-ec", "cd '\(home)'\n\(line)\n"])
    let answer = try JSONSerialization.jsonObject(with: Data(stand.helper("kubectl", "prod").stdout)) as? [String: Any]
    let status = try #require(answer?["status"] as? [String: String])
    #expect(status["clientKeyData"] == (try String(contentsOfFile: home + "/client.key", encoding: .utf8)))
    #expect(status["clientCertificateData"] == (try String(contentsOfFile: home + "/client.crt", encoding: .utf8)))
    try stand.sandbox.must(["set", "kubectl/key", "--kind", "tls-key", "--file", home + "/client.key"])
    let alone = try stand.helper("kubectl", "key")
    #expect(alone.status == 65 && alone.errors.contains("no certificate"), "\(alone)")
  }

  @Test("kubectl is told the end of whatever the item has: a token, or a client's key and certificate")
  func kubectlExpiry() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "kubectl/token", "--kind", "api-key"], stdin: "t0ken")
    try stand.sandbox.must(["set", "kubectl/key", "--kind", "tls-key", "--file", certificate(stand)])
    func status(_ name: String) throws -> [String: String] {
      let outcome = try stand.helper("kubectl", name)
      let answer = try JSONSerialization.jsonObject(with: Data(outcome.stdout)) as? [String: Any]
      return try #require(answer?["status"] as? [String: String], "\(outcome)")
    }
    // The item of a certificate ends with that from the beginning.
    for (name, members, end) in [
      ("token", ["token"], []), ("key", ["clientCertificateData", "clientKeyData"], ["expirationTimestamp"]),
    ] {
      #expect(try status(name).keys.sorted() == (members + end).sorted())
      let words = ["set", "kubectl/\(name)", "--update", "--keep-value", "--expires"]
      try stand.sandbox.must(words + ["2100-01-01"])
      let told = try status(name)
      #expect(told["expirationTimestamp"] == "2100-01-01T00:00:00Z", "\(name)")
      #expect(told.keys.sorted() == (members + ["expirationTimestamp"]).sorted(), "\(name)")
      // What has expired is not handed out at all.
      try stand.sandbox.must(words + ["2020-01-01", "--expired"])
      let outcome = try stand.helper("kubectl", name)
      #expect(outcome.status == 66 && outcome.output.isEmpty, "\(name) \(outcome)")
    }
  }

  @Test("kubectl gets whole lines of a key and its certificates, in whatever order and form they are stored")
  func clientKeyForms() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let home = stand.sandbox.home
    _ = try certificate(stand)
    let own = try String(contentsOfFile: home + "/client.key", encoding: .utf8)
    let older = try stand.must("/usr/bin/openssl", ["ec", "-in", home + "/client.key"])
    try #require(older.hasPrefix("-----BEGIN EC PRIVATE KEY-----\n"), "\(older)")
    let one = try String(contentsOfFile: home + "/client.crt", encoding: .utf8)
    for (text, key, certificates) in [
      (own + one, own, one), (one + own, own, one), ("of ana:\n\(older)and\n\(one)by\n\(one)", older, one + one),
    ] {
      // The last line may lack its break, as in a value that another program has made.
      for value in [text, String(text.dropLast())] {
        try stand.sandbox.must(["set", "kubectl/prod", "--kind", "tls-key", "--update"], stdin: value)
        let outcome = try stand.helper("kubectl", "prod")
        let answer = try JSONSerialization.jsonObject(with: Data(outcome.stdout)) as? [String: Any]
        let status = try #require(answer?["status"] as? [String: String], "\(outcome)")
        #expect(status["clientKeyData"] == key && status["clientCertificateData"] == certificates, "\(value)")
      }
    }
  }

  @Test(
    "kubectl itself shows its token, and its certificate",
    .enabled(if: OtherProgram.path("kubectl") != nil, OtherProgram.why("kubectl, from 1.22 on,")),
    arguments: [true, false])
  func kubectlProgram(token: Bool) throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let home = stand.sandbox.home
    let pem = try certificate(stand)
    try FileManager.default.createDirectory(atPath: home + "/served", withIntermediateDirectories: true)
    try stand.sandbox.write(#"{"gitVersion":"v1.32.0","major":"1","minor":"32"}"#, to: "served/version")
    let server = try GuardedServer(
      stand.sandbox, home + "/served", wanted: token ? "Bearer t0ken" : "(('commonName', 'ana'),)", certificate: pem)
    if token {
      try stand.sandbox.must(["set", "kubectl/prod", "--kind", "api-key"], stdin: "t0ken")
    } else {
      try stand.sandbox.must(["set", "kubectl/prod", "--kind", "tls-key", "--file", pem])
    }
    let settings =
      """
      apiVersion: v1
      kind: Config
      clusters:
      - name: prod
        cluster: { server: "https://127.0.0.1:\(server.port)", certificate-authority: \(home)/client.crt }
      contexts:
      - name: prod
        context: { cluster: prod, user: prod }
      current-context: prod

      """ + (try HelperManual.example("kubectl", "exec:", in: stand))
    try stand.sandbox.write(settings, to: "kubeconfig")
    let kubectl = try #require(OtherProgram.path("kubectl"))
    let words = ["--kubeconfig", home + "/kubeconfig", "get", "--raw", "/version"]
    #expect(try stand.must(kubectl, words).contains("v1.32.0"))
    try stand.sandbox.must(["lock"])
    let locked = try stand.run(kubectl, words)
    #expect(locked.status != 0 && locked.errors.contains("vault unlock"), "\(locked)")
  }

  // MARK: Google Cloud

  @Test("Google Cloud gets a token of the type that it asks for, with its expiry") func gcp() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "gcp/ci", "--expires", "2100-01-01"], stdin: "header.payload.signature")
    for (type, member) in [("id_token", "id_token"), ("jwt", "id_token"), ("saml2", "saml_response")] {
      let urn = "urn:ietf:params:oauth:token-type:" + type
      #expect(
        try stand.helper("gcp", "ci", environment: ["GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE": urn]).output
          == #"{"version":1,"success":true,"token_type":"\#(urn)","\#(member)":"header.payload.signature","#
          + #""expiration_time":4102444800}"# + "\n")
    }
    let missing = try stand.helper("gcp", "none")
    #expect(missing.status == 66)
    #expect(missing.output.hasPrefix(#"{"version":1,"success":false,"code":"66","message":"vault: no item"#))
    // The manual's settings are JSON, and its command runs.
    let text = "{\(try HelperManual.example("gcp", "credential_source", in: stand))}"
    let settings = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [String: [String: Any]]]
    let command = try #require(settings?["credential_source"]?["executable"]?["command"] as? String)
    #expect(try stand.must("/bin/sh", ["-c", command]).contains("header.payload.signature"))
  }

  // MARK: Passwords

  @Test("a password is printed with a newline, for Ansible by its vault id") func passwords() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    for (name, value) in [
      ("ansible/prod", "hunter2"), ("ansible/default", "d"), ("ansible/a%2Fb", "e"), ("restic/home", "r"),
    ] {
      try stand.sandbox.must(["set", name, "--kind", "blob"], stdin: value)
    }
    #expect(try stand.must("vault-ansible-client", ["--vault-id", "prod"]) == "hunter2\n")
    #expect(try stand.must("vault-ansible-client", ["--vault-id=a/b"]) == "e\n")
    #expect(try stand.must("vault-ansible-client", []) == "d\n")
    #expect(try stand.run("vault-ansible-client", ["--vault-id", "none"]).status == 66)
    let command = try HelperManual.example("password-file", "RESTIC", in: stand)
    #expect(try stand.must("/bin/sh", ["-ec", command + "$RESTIC_PASSWORD_COMMAND"]) == "r\n")
    try stand.sandbox.must(["set", "borg/home", "--kind", "note"], stdin: "b\n")
    #expect(try stand.must("/bin/sh", ["-ec", command + "$BORG_PASSCOMMAND"]) == "b\n")
    let ansible = try HelperManual.example("password-file", "ansible-playbook", in: stand)
    let client = try #require(ansible.firstMatch(of: /prod@([^ ]+)/)?.output.1)
    #expect(try stand.must(String(client), ["--vault-id", "prod"]) == "hunter2\n")
  }
}
