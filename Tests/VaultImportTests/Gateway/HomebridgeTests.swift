import Testing
import VaultWire

@testable import VaultImport

@Suite("Homebridge's settings") struct HomebridgeTests {
  private static let text = #"""
    {
      "bridge": {"name": "Homebridge", "username": "CC:22:3D:E3:CE:30", "port": 51826, "pin": "031-45-154"},
      "platforms": [
        {"platform": "Camera-ffmpeg", "cameras": [{"name": "Door", "source": "-i rtsp://ana:pw@10.0.0.2/1"}]},
        {"platform": "Hue", "name": "My Hue", "users": {"0017": "t\u006fk"}, "token": "a\/b", "password": 123,
          "_bridge": {"username": "0E:11:22:33:44:55", "pin": "111-22-333"}}
      ],
      "accessories": [{"accessory": "Door", "apiKey": ""}]
    }
    """#

  @Test("give the pin and the address of the bridge, and what sounds like a secret") func entries() throws {
    #expect(recognizes(HomebridgeReader.self, Self.text))
    let read = try ReadEntries(HomebridgeReader.self, Self.text)
    #expect(
      Array(read.told.prefix { $0 != "login homebridge/settings" }) == [
        "value homebridge/username", "  username [secret] CC:22:3D:E3:CE:30", "pairing homebridge/pin",
        "  pin [password] 031-45-154", "value homebridge/Camera-ffmpeg/cameras/Door/source",
        "  source [secret] -i rtsp://ana:pw@10.0.0.2/1", "value homebridge/My Hue/users/0017", "  0017 [secret] tok",
        "value homebridge/My Hue/token", "  token [secret] a/b", "value homebridge/My Hue/password",
        "  password [secret] 123", "value homebridge/My Hue/_bridge/username",
        "  username [secret] 0E:11:22:33:44:55", "pairing homebridge/My Hue/_bridge/pin",
        "  pin [password] 111-22-333",
      ])
    #expect(read.told.contains("  bridge.port [setting] 51826"))
    #expect(read.told.contains("  accessories.1.apiKey [setting] "))
  }

  @Test("have the place of each value with its quotes") func places() throws {
    let bytes = Array(Self.text.utf8)
    let found = try ReadEntries(HomebridgeReader.self, Self.text).entries.flatMap { $0.fields.compactMap(\.place) }
      .map { String(decoding: bytes[$0.range], as: UTF8.self) }
    #expect(found.first == "\"CC:22:3D:E3:CE:30\"" && found.contains("123") && found.contains(#""t\u006fk""#))
    #expect(found.count == 8)
  }

  @Test("are told from other JSON", arguments: ["{}", "[]", #"{"bridge": 1}"#, #"{"auths": {}}"#, #"{"bridge": {"#])
  func others(_ text: String) {
    #expect(!recognizes(HomebridgeReader.self, text) && refusal(HomebridgeReader.self, text) != nil)
  }

  @Test("any cut or flipped bit is read or refused") func damage() {
    attack(HomebridgeReader.self, #"{"bridge":{"pin":"1-2"},"platforms":[{"name":"x","token":"\u00e9"},[1,null]]}"#)
  }
}
