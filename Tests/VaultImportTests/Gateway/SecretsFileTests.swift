import Testing
import VaultWire

@testable import VaultImport

@Suite("Files of secrets of a gateway") struct SecretsFileTests {
  @Test("of Home Assistant become an item for each value, and other values are settings") func homeAssistant() throws {
    let text = """
      # for the cloud
      http_password: hunter2  # old
      pin: 1234
      elsewhere: !include other.yaml
      empty:
      nested:
        camera: "rtsp://u:p@cam"
      """
    let read = try ReadEntries(HomeAssistantReader.self, text, name: "secrets.yaml")
    #expect(read.format?.name == "home-assistant")
    #expect(
      read.told == [
        "value home-assistant/http_password", "  http_password [secret] hunter2", "value home-assistant/pin",
        "  pin [secret] 1234", "value home-assistant/nested/camera", "  camera [secret] rtsp://u:p@cam",
        "login home-assistant/settings", "  elsewhere [setting] other.yaml", "  empty [setting] ",
      ])
    #expect(read.entries.map(\.id) == ["http_password", "pin", "nested.camera", ""])
  }

  @Test("have the place of each value, without the tag and the anchor before it") func places() throws {
    let text = "a: &x !!str one\nb: *x\nc:\n  !!str two\nd: !!str\n  three\n"
    let read = try ReadEntries(HomeAssistantReader.self, text, name: "secrets.yaml")
    let places = read.entries.map { entry in
      entry.fields.compactMap(\.place).map { String(decoding: Array(text.utf8)[$0.range], as: UTF8.self) }
    }
    #expect(places == [["one"], [], ["two"], []])
    #expect(read.told.last == "  d [secret] its anchor or its tag stands on another line than the value")
  }

  @Test("in the form of JSON have places, too") func json() throws {
    let text = #"{"a": "b", "c": [1, 2], "d": {"e": "\u00e9"}}"#
    let read = try ReadEntries(HomeAssistantReader.self, text, name: "secrets.yaml")
    let places = read.entries.flatMap { $0.fields.compactMap(\.place) }
    #expect(
      places.map { String(decoding: Array(text.utf8)[$0.range], as: UTF8.self) } == [#""b""#, "[1, 2]", #""\u00e9""#])
  }

  @Test("of ESPHome are told from those of Home Assistant by their names") func esphome() throws {
    let text = "wifi_ssid: Home\nwifi_password: 'correct horse'\n"
    #expect(recognizes(ESPHomeReader.self, text, name: "secrets.yaml"))
    #expect(!recognizes(ESPHomeReader.self, "http_password: x", name: "secrets.yaml"))
    #expect(!recognizes(HomeAssistantReader.self, text, name: "other.yaml"))
    #expect(try ReadEntries(ESPHomeReader.self, text).format?.detail == "secrets of ESPHome")
    let mixed = text + "mqtt_password: x\nlatitude: 47.3\n"
    #expect(recognizes(ESPHomeReader.self, mixed, name: "secrets.yaml"))
    let detail = try ReadEntries(ESPHomeReader.self, mixed).format?.detail
    #expect(detail == "secrets of ESPHome; with --from home-assistant, secrets of Home Assistant")
    #expect(
      try ReadEntries(ESPHomeReader.self, text).told == [
        "value esphome/wifi_ssid", "  wifi_ssid [secret] Home", "value esphome/wifi_password",
        "  wifi_password [secret] correct horse",
      ])
  }

  @Test("of Zigbee2MQTT hold lists, which are one value") func zigbee() throws {
    let text = "network_key: [1, 2,\n  3]\npassword: pw\nserver: mqtt://localhost\n"
    #expect(recognizes(Zigbee2MQTTReader.self, text, name: "secret.yaml"))
    #expect(
      try ReadEntries(Zigbee2MQTTReader.self, text).told == [
        "value zigbee2mqtt/network_key", "  network_key [secret] [1, 2,\n  3]", "value zigbee2mqtt/password",
        "  password [secret] pw", "value zigbee2mqtt/server", "  server [secret] mqtt://localhost",
      ])
  }

  @Test("and the settings of Zigbee2MQTT give their secrets alone") func settings() throws {
    let text = """
      mqtt:
        server: mqtt://ana:pw@localhost
        user: ana
        password: "p w"
        key: /etc/x.key
      serial: {port: /dev/ttyUSB0}
      advanced:
        network_key:
          - 1
          - 3
        ext_pan_id: GENERATE
      frontend:
        auth_token: '!secret.yaml auth_token'
      """
    #expect(recognizes(Zigbee2MQTTReader.self, text, name: "configuration.yaml"))
    let told = try ReadEntries(Zigbee2MQTTReader.self, text).told
    #expect(
      told.filter { $0.contains("[secret]") } == [
        "  server [secret] mqtt://ana:pw@localhost", "  password [secret] p w", "  network_key [secret] - 1\n    - 3",
      ])
    #expect(told.contains("  mqtt.key [setting] /etc/x.key"))
    #expect(told.contains("  frontend.auth_token [setting] !secret.yaml auth_token"))
    let generated = try ReadEntries(Zigbee2MQTTReader.self, "mqtt: {}\nadvanced: {network_key: GENERATE}")
    #expect(!generated.told.contains { $0.contains("[secret]") })
  }

  @Test("that are no mapping are refused", arguments: ["- a", "a", "a: 1\n---\nb: 2", "a: [", "a: 1\na: 2"])
  func refused(_ text: String) {
    #expect(refusal(HomeAssistantReader.self, text) != nil)
    #expect(!recognizes(HomeAssistantReader.self, text, name: "secrets.yaml"))
  }

  @Test("any cut or flipped bit is read or refused") func damage() {
    attack(HomeAssistantReader.self, "a: &x 'b'  # c\nd: *x\ne: [1,2]\nf: !secret g\nh: |\n  i\n", name: "secrets.yaml")
    attack(Zigbee2MQTTReader.self, "mqtt: {password: \"\\u00e9\"}\nadvanced:\n  network_key:\n    - 1\n")
  }
}
