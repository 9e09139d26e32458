// One import is enough: the requests and replies are the protocol's, and made of the camera's, the gestures' and the fingers' own types,
// so who uses this module has always to name some of them.

@_exported import GimbalProtocol
@_exported import Gestures
@_exported import MapCamera
@_exported import Touches
