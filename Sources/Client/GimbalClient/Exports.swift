// One import is enough: requests and replies belong to the protocol and use the camera's, gestures' and fingers' types,
// some of which every user of this module has to name.

@_exported import GimbalProtocol
@_exported import Gestures
@_exported import MapCamera
@_exported import Touches
