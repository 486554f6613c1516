/// The description of an object for introspection (D-Bus specification, "Introspection Data Format").
///
/// It does not name the objects below, because there may be many, and not everybody may know them.
enum BusIntrospection {
  static let interface = "org.freedesktop.DBus.Introspectable"

  /// The interfaces that each served object has, as sd-bus describes them.
  private static let common = """
     <interface name="org.freedesktop.DBus.Peer">
      <method name="Ping"/>
      <method name="GetMachineId">
       <arg type="s" name="machine_uuid" direction="out"/>
      </method>
     </interface>
     <interface name="\(interface)">
      <method name="Introspect">
       <arg name="xml_data" type="s" direction="out"/>
      </method>
     </interface>
     <interface name="\(BusProperties.interface)">
      <method name="Get">
       <arg name="interface_name" direction="in" type="s"/>
       <arg name="property_name" direction="in" type="s"/>
       <arg name="value" direction="out" type="v"/>
      </method>
      <method name="GetAll">
       <arg name="interface_name" direction="in" type="s"/>
       <arg name="props" direction="out" type="a{sv}"/>
      </method>
      <method name="Set">
       <arg name="interface_name" direction="in" type="s"/>
       <arg name="property_name" direction="in" type="s"/>
       <arg name="value" direction="in" type="v"/>
      </method>
      <signal name="PropertiesChanged">
       <arg type="s" name="interface_name"/>
       <arg type="a{sv}" name="changed_properties"/>
       <arg type="as" name="invalidated_properties"/>
      </signal>
     </interface>

    """

  /// Describes an object with these interfaces. No name of ours has a character that XML would escape.
  static func describe(_ interfaces: [BusInterface]) -> String {
    var text = """
      <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
      "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
      <node>

      """ + common
    for interface in interfaces {
      text += " <interface name=\"\(interface.name)\">\n"
      for method in interface.methods {
        text += "  <method name=\"\(method.name)\">\n"
        text += arguments(method.takes, " direction=\"in\"") + arguments(method.gives, " direction=\"out\"")
        text += "  </method>\n"
      }
      for property in interface.properties {
        let access = property.set == nil ? "read" : "readwrite"
        text += "  <property name=\"\(property.name)\" type=\"\(property.type)\" access=\"\(access)\"/>\n"
      }
      for signal in interface.signals {
        text += "  <signal name=\"\(signal.name)\">\n" + arguments(signal.carries, "") + "  </signal>\n"
      }
      text += " </interface>\n"
    }
    return text + "</node>\n"
  }

  private static func arguments(_ arguments: BusInterface.Arguments, _ direction: String) -> String {
    arguments.map { "   <arg name=\"\($0.key)\" type=\"\($0.value)\"\(direction)/>\n" }.joined()
  }
}
