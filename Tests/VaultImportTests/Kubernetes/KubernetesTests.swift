import Foundation
import Testing
import VaultWire

@testable import VaultImport

/// Files that real programs made: kubectl 1.20, nmcli 1.42, wpa_passphrase 2.10 and ansible-vault 2.16.
func realFile(_ name: String) throws -> Source.File {
  let folder = try #require(Bundle.module.url(forResource: "Files", withExtension: nil))
  return Source.File(name, [UInt8](try Data(contentsOf: folder.appendingPathComponent(name))))
}

@Suite("Secrets of Kubernetes") struct KubernetesTests {
  @Test("become an item for each key; registries have their users") func secrets() throws {
    let file = try realFile("kubernetes-secrets.yaml")
    let read = try ReadEntries(KubernetesReader.self, [file])
    let told = read.told.filter { !$0.contains("[setting]") && !$0.hasPrefix("-----END") }
    #expect(read.format?.detail == "3 Secrets of Kubernetes")
    #expect(told.prefix(3) == ["login kubernetes/prod/db", "  password [secret] hunter2", "  user [secret] ana"])
    #expect(told[3] == "login kubernetes/default/web" && told[4].hasPrefix("  tls.crt [secret] -----BEGIN CERT"))
    #expect(
      told.suffix(5) == [
        "login kubernetes/default/pull", "login kubernetes/default/pull/ghcr.io", "  registry [url] ghcr.io",
        "  username [username] ana", "  password [password] pw",
      ])
    let json = try ReadEntries(KubernetesReader.self, [try realFile("kubernetes-secret.json")])
    #expect(json.told.prefix(2) == ["login kubernetes/prod/db", "  password [secret] hunter2"])
  }

  @Test("have plain texts that replace those in base64, lists, and other objects beside them") func forms() throws {
    let text = """
      apiVersion: v1
      kind: List
      items:
      - {apiVersion: v1, kind: Secret, type: kubernetes.io/basic-auth, metadata: {name: b, uid: u1,
          creationTimestamp: "2024-01-02T03:04:05Z"}, data: {username: YW5h, password: eA==, bad: "*"},
          stringData: {password: pw}}
      - {apiVersion: v1, kind: ConfigMap, metadata: {name: cm}, data: {a: b}}
      """
    #expect(
      try ReadEntries(KubernetesReader.self, text).told == [
        "login kubernetes/default/b", "  username [username] ana",
        "  data.password [old-field] stringData has the same key", "  bad [secret] it is not base64",
        "  password [password] pw", "  apiVersion [setting] v1", "  kind [setting] Secret",
        "  type [setting] kubernetes.io/basic-auth", "  metadata.uid [setting] u1",
        "  metadata.creationTimestamp [created] 1704164645", "login kubernetes/ConfigMap cm",
        "  ConfigMap [document] it is no Secret",
      ])
  }

  @Test("lie in a folder, of which the other files are listed") func folder() throws {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: n}\nstringData: {k: v}\n"
    let files = [Source.File("a/s.yaml", Array(secret.utf8)), Source.File("readme", [0xFF])]
    let read = try ReadEntries(KubernetesReader.self, files)
    #expect(read.told.contains("  k [secret] v"))
    #expect(read.told.suffix(2) == ["login other files", "  readme [attachment] it holds no objects of Kubernetes"])
  }

  @Test("are refused if there are none", arguments: ["", "a: b", "apiVersion: v1\nkind: Pod\n", "kind: Secret\n  x"])
  func none(_ text: String) {
    #expect(!recognizes(KubernetesReader.self, text) && refusal(KubernetesReader.self, text) != nil)
  }

  @Test("any cut or flipped bit is read or refused") func damage() {
    attack(
      KubernetesReader.self,
      "apiVersion: v1\nkind: Secret\ntype: kubernetes.io/dockercfg\nmetadata: {name: n}\n"
        + "data: {k: eA==, .dockercfg: eyJhIjp7ImF1dGgiOiJhOmIifX0=}\n")
  }
}
