public import VaultBytes

/// One message on the wire: a JSON object whose text is followed by a NUL.
public typealias Frame = JSONObject
/// The reason that bytes are not a message.
public typealias FrameError = JSONFault
