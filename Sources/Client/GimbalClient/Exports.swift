// One import is enough: requests and replies are the protocol's, made of the camera's, gestures' and fingers' types,
// and users of this module always have to name some of them.

@_exported import GimbalProtocol
@_exported import Gestures
@_exported import MapCamera
@_exported import Touches
