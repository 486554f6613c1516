public import VaultBytes

/// One message of the wire: a JSON object, whose text a NUL follows.
public typealias Frame = JSONObject
/// The reason that bytes are not a message.
public typealias FrameError = JSONFault
