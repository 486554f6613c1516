import Testing

@testable import VaultCLI

/// Edits that Homebridge, Home Assistant and Zigbee2MQTT make of their own files, none of which holds a value.
@Suite("An edit that holds no value is taken into the template") struct AdoptedEditsTests {
  private static let values = [
    "pin": "031-45-154", "mqtt": "correct horse battery staple",
    "net": "[12, 43, 200, 1, 77, 90, 3, 64, 5, 6, 7, 8, 9, 10, 11, 254]",
    "key": "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJpc3MiOiI5In0.c2lnbmF0dXJl",
    "url": "https://user:hunter2-x@db.example/ha",
  ]

  private static let homebridge = #"""
    {
        "bridge": {
            "name": "Homebridge 5A1C",
            "username": "0E:52:9D:B7:5A:1C",
            "port": 51826,
            "pin": {{ vault "pin" | json }},
            "advertiser": "avahi"
        },
        "accessories": [],
        "platforms": [
            {
                "name": "Config",
                "port": 8581,
                "auth": "form",
                "theme": "auto",
                "platform": "config"
            },
            {
                "platform": "mqttthing",
                "url": "mqtt://127.0.0.1:1883",
                "password": {{ vault "mqtt" | json }}
            }
        ]
    }

    """#

  private static let assistant = #"""
    default_config:

    homeassistant:
      name: Home
      unit_system: metric
      time_zone: Europe/Berlin

    recorder:
      db_url: {{ vault "url" }}
      purge_keep_days: 10

    rest_command:
      notify:
        url: https://api.example/notify
        headers:
          authorization: "Bearer {{ vault "key" }}"

    automation: !include automations.yaml

    """#

  private static let zigbee = #"""
    homeassistant:
      enabled: true
    mqtt:
      base_topic: zigbee2mqtt
      server: mqtt://localhost:1883
      user: z2m
      password: {{ vault "mqtt" }}
    serial:
      port: /dev/ttyUSB0
      adapter: zstack
    advanced:
      log_level: info
      channel: 11
      network_key: {{ vault "net" }}
    frontend:
      enabled: true
      port: 8080
    version: 4

    """#

  private struct Edit: CustomTestStringConvertible {
    let source: String
    let name: String
    let make: @Sendable (String) -> String

    var testDescription: String { name }
  }

  private static func replaced(_ source: String, _ edits: [(String, String)]) -> [Edit] {
    edits.map { old, new in Edit(source: source, name: new) { $0.replacing(old, with: new) } }
  }

  private static func added(_ source: String, _ texts: [String]) -> [Edit] {
    texts.map { text in Edit(source: source, name: text) { $0 + text } }
  }

  private static let edits =
    replaced(
      homebridge,
      [
        ("51826", "51900"), ("8581", "8582"), ("\"auto\"", "\"dark-mode-teal\""), ("avahi", "bonjour-hap"),
        ("5A1C\"", "Living Room\""),
        ("\"form\"", "\"none\""),
        ("\"accessories\": []", "\"accessories\": [{\"accessory\": \"Dummy\", \"name\": \"Test Switch 1\"}]"),
        (",\n        \"advertiser\": \"avahi\"", ""), ("    ", "  "), ("    ", "\t"), ("\n", "\r\n"),
        ("\"platforms\": [", "\"disabledPlugins\": [\"homebridge-dummy\"],\n    \"platforms\": ["),
        (
          "\"platform\": \"config\"",
          "\"platform\": \"config\",\n            \"_bridge\": {\"username\": \"0E:11:22:33:44:55\", \"port\": 38123}"
        ),
        (
          "\"port\": 8581,",
          "\"port\": 8581,\n            \"ssl\": {\"key\": \"/etc/ssl/private/hb.key\", \"cert\": "
            + "\"/etc/ssl/certs/hb.crt\"},"
        ),
        ("\"auth\": \"form\",", "\"auth\": \"form\",\n            \"sessionTimeout\": 28800,"), (": ", ":"),
        ("\"theme\": \"auto\",", "\"lang\": \"auto\", \"tempUnits\": \"c\", \"theme\": \"auto\","),
        (
          "\"platform\": \"mqttthing\",",
          "\"platform\": \"mqttthing\",\n            \"type\": \"lightbulb-OnOff\",\n            \"topics\": "
            + "{\"getOn\": \"home/lamp/state\", \"setOn\": \"home/lamp/set\"},"
        ),
      ])
    + replaced(
      assistant,
      [
        ("metric", "us_customary"), ("Europe/Berlin", "America/New_York"), ("name: Home", "name: \"Zuhause am See\""),
        ("10", "30"),
        ("default_config:\n\n", "default_config:\n"),
        ("default_config:", "# Loads the default set of integrations. Do not remove.\ndefault_config:"),
        (
          "purge_keep_days: 10",
          "purge_keep_days: 10\n  commit_interval: 30\n  exclude:\n    domains: [automation, updater]"
        ),
        ("!include automations.yaml", "!include_dir_merge_list automations/"),
        ("https://api.example/notify", "https://api.example/v2/notify"),
        ("\n    headers:", "\n    method: POST\n    content_type: \"application/json; charset=utf-8\"\n    headers:"),
        ("name: Home", "name: Home\n  latitude: 52.5200\n  longitude: 13.4050"),
      ])
    + added(
      assistant,
      [
        "script: !include scripts.yaml\n", "scene: !include scenes.yaml\n",
        "http:\n  use_x_forwarded_for: true\n  trusted_proxies:\n    - 127.0.0.1\n    - ::1\n",
        "frontend:\n  themes: !include_dir_merge_named themes\n",
        "logger:\n  default: warning\n  logs:\n    homeassistant.components.mqtt: debug\n",
        "template:\n  - sensor:\n      - name: \"Outside\"\n        state: \"{ states('sensor.outside') }\"\n",
        "tts:\n  - platform: google_translate\n",
      ])
    + replaced(
      zigbee,
      [
        ("channel: 11", "channel: 25"),
        ("/dev/ttyUSB0", "/dev/serial/by-id/usb-ITead_Sonoff_Zigbee_3.0_USB_Dongle_Plus-if00-port0"),
        ("zstack", "ember"),
        ("log_level: info", "log_level: debug\n  last_seen: ISO_8601_local"), ("8080", "8099"),
        ("version: 4", "version: 5"), ("enabled: true", "enabled: false"),
        ("base_topic: zigbee2mqtt", "base_topic: home/zigbee"),
        ("channel: 11", "channel: 11\n  pan_id: 45127\n  ext_pan_id: [221, 17, 8, 91, 150, 33, 72, 6]"),
      ])
    + added(
      zigbee,
      [
        "devices:\n  '0x00158d0001dc126a':\n    friendly_name: kitchen/motion\n",
        "devices:\n  '0x00158d0001dc126a':\n    friendly_name: '0x00158d0001dc126a'\n    retain: true\n",
        "groups:\n  '1':\n    friendly_name: all lights\n    devices:\n      - 0x00158d0001dc126a/1\n",
        "availability:\n  enabled: true\n  active:\n    timeout: 10\n",
        "ota:\n  zigbee_ota_override_index_location: https://raw.example/index.json\n",
        "device_options:\n  legacy: false\n  retain: true\n",
      ])

  @Test("and the template gives it again", arguments: edits) private func edit(edit: Edit) throws {
    let result = try adopt(edit.source, Self.values) { rendered in
      let present = edit.make(rendered)
      #expect(present != rendered)
      return present
    }
    #expect(result.adopted != nil, "\(result.refusal ?? "")")
    for value in Self.values.values { #expect(result.adopted?.contains(value) != true) }
  }

  @Test("fifty of them") func count() { #expect(Self.edits.count >= 50) }
}
