// The memory of an idle client, of which there may be thousands.

import Testing

@testable import Hub

@Suite struct PeerSizeTests {
    /// With its other properties, a pointer or two each, a peer has 184 bytes, and fills a piece of malloc's of 192.
    @Test func partsOfAPeerAreSmall() {
        #expect(MemoryLayout<Role>.size == 8)
        #expect(MemoryLayout<PeerInput>.size == 32)
        #expect(MemoryLayout<PeerOutput>.size == 32)
        #expect(MemoryLayout<FairQueue.Share>.size == 24)
        #expect(MemoryLayout<PeerSubscriptions>.size <= 16)
        #expect(MemoryLayout<Replays.SentTrace>.size == 8)
    }
}
