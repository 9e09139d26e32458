// What an administrator looks for in the journal, by MESSAGE_ID. systemd/gimbal.catalog says what to do about each.

/// The event of a line in a log. (A raw value comes from `systemd-id128 new` and never changes.)
package enum LogEvent: String, CaseIterable, Sendable {
    case ready = "ca709d7ad6814298815d7d05b7191c69"
    case notStarted = "1ef54261525145e18988ef31b3e7a88f"
    case ended = "3e439047d61546e1a2179d548db1024f"
    case restarting = "3cd88b1d955b43d39f4bca7aa65c2c75"
    case notRestarted = "1c16155ff34b44e89f756dcb46205ae8"
    case clientsLost = "3e1b797980104967b77895654d8bb833"
    case clientsRefused = "2c9a08556554461ab73ee7902c0d0370"
    case stateRestored = "7bcb4165634a44a38bfc552be8910375"
    case stateSetAside = "89d2b7f2699f4b308477c572122b73a1"
    case stateNotSaved = "9c804c2ad29a4714b20b6040645777c8"
    case stateSavedAgain = "7963f4875bbc4e359c38ce6332a050eb"
    case traceLeftOut = "84b0eca00f894ca9a81ab6d34f29a7be"
    case clientCameOrWent = "baf684ceec5640dcbda34e9e1c6949b8"
    case lineRefused = "e85d2738ef3f4a4cadb466a84b5271e3"
    case cameraMadeOrRemoved = "6941d61fa16d433dbfc4bd7dde4c0f05"
}
