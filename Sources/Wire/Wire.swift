// The name that the protocol's target had, until all that import it say the new one.

@_exported import GimbalProtocol
