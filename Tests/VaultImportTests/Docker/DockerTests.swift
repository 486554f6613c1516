import Testing
import VaultWire

@testable import VaultImport

@Suite("Docker's credentials") struct DockerTests {
  private static let text = """
    {"auths": {"https://index.docker.io/v1/": {"auth": "YW5hOnMzY3JldDp4"}, "ghcr.io": {},
      "quay.io": {"auth": "Ym9iOg==", "identitytoken": "idtok"}, "GCR.io": {"auth": "!", "email": "e@x"},
      "old.example": {"username": "u", "password": "p"}},
     "credHelpers": {"ecr.example": "ecr-login"}, "credsStore": "desktop", "psFormat": "table"}
    """
  private static let desktop =
    "the credentials lie elsewhere: docker-credential-desktop keeps them, and `docker-credential-desktop list` shows "
    + "of which registries"

  @Test("registries become the items that the docker helper looks up, and stores are listed") func registries() throws {
    #expect(
      try ReadEntries(DockerReader.self, Self.text, name: "config.json").told == [
        "login docker/https:%2F%2Findex.docker.io%2Fv1%2F", "  server [url] https://index.docker.io/v1/",
        "  auth [username] ana", "  auth [password] s3cret:x", "login docker/ghcr.io",
        "  server [setting] nothing beside it is a secret, so it stays where it is",
        "  credentials [setting] \(Self.desktop)", "login docker/quay.io", "  server [url] quay.io",
        "  username [username] <token>", "  identitytoken [password] idtok", "  auth [username] bob",
        "login docker/gcr.io", "  server [url] GCR.io", "  auth [secret] !", "  email [text] e@x",
        "  credentials [setting] \(Self.desktop)", "login docker/old.example", "  server [url] old.example",
        "  username [username] u", "  password [password] p", "value config.json",
        "  credHelpers: ecr.example [setting] "
          + Self.desktop.replacing("docker-credential-desktop", with: "docker-credential-ecr-login"),
        "  credsStore [setting] \(Self.desktop)",
        "  psFormat [setting] it is a setting of the program that it comes from",
      ])
  }

  @Test("the older form has the registries alone") func older() throws {
    #expect(
      try ReadEntries(DockerReader.self, "{\"r.example\": {\"auth\": \"YTpiAAA=\"}}", name: ".dockercfg").told == [
        "login docker/r.example", "  server [url] r.example", "  auth [username] a", "  auth [password] b",
      ])
  }

  @Test("it is recognized by its members") func recognized() {
    #expect(recognizes(DockerReader.self, Self.text) && recognizes(DockerReader.self, "{\"credsStore\": \"x\"}"))
    #expect(!recognizes(DockerReader.self, "{\"a\": 1}", name: "config.json"))
    #expect(refusal(DockerReader.self, "[]") == "the JSON is no object")
  }

  @Test("no damaged file crashes the reader") func attacked() { attack(DockerReader.self, Self.text) }
}
