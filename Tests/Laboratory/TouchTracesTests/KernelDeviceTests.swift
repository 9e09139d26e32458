// A device as described by a simulated kernel.

import Testing

@testable import TouchTraces

@Suite struct KernelDeviceTests {
    /// Answers like evdev; it knows only what it is given.
    private func ask(
        axes: [UInt: [Int32]], name: String = "pad", properties: UInt8 = 0
    ) -> (UInt, inout [UInt8]) -> Bool {
        { request, room in
            // _IOR('E', number, size)
            #expect(request >> 30 == 2 && request >> 8 & 0xff == 0x45)
            #expect(request >> 16 & 0x3fff == UInt(room.count))
            switch request & 0xff {
            case 0x06: room.replaceSubrange(0..<name.utf8.count, with: name.utf8)
            case 0x09: room[0] = properties
            case 0x40...:
                guard let values = axes[request & 0xff - 0x40] else { return false }
                let bytes = values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
                room.replaceSubrange(0..<24, with: bytes)
            default: return false
            }
            return true
        }
    }

    @Test func theAxesOfContactsCount() {
        let axes: [UInt: [Int32]] = [
            0: [7, 0, 99, 0, 0, 0], 1: [7, 0, 99, 0, 0, 0], 0x35: [500, -10, 1079, 0, 0, 12],
            0x36: [0, 0, 2399, 0, 0, 13],
        ]
        let device = DeviceDescription(asking: ask(axes: axes, name: "fts é", properties: 0b1000))
        #expect(device?.name == "fts é" && device?.isSemiMT == true)
        #expect(device?.x == DeviceAxis(minimum: -10, maximum: 1079, resolution: 12))
        #expect(device?.y == DeviceAxis(minimum: 0, maximum: 2399, resolution: 13))
    }

    @Test func aDeviceOfOneFingerAndAGamepadHaveTheirOwnAxes() {
        var axes: [UInt: [Int32]] = [0: [0, 0, 4095, 0, 0, 0], 1: [0, 0, 4095, 0, 0, 0]]
        #expect(DeviceDescription(asking: ask(axes: axes))?.x?.maximum == 4095)
        for code in [0x2e, 0x35, 0x36] as [UInt] { axes[code] = [0, 0, 255, 0, 0, 0] }
        #expect(DeviceDescription(asking: ask(axes: axes))?.x?.maximum == 4095)
    }

    @Test func whatTellsNoPositionsIsNoDevice() {
        #expect(DeviceDescription(asking: { _, _ in false }) == nil)
        #expect(DeviceDescription(asking: ask(axes: [0: [0, 0, 9, 0, 0, 0]])) == nil)
        #expect(DeviceDescription(asking: ask(axes: [0: [0, 5, 5, 0, 0, 0], 1: [0, 0, 9, 0, 0, 0]])) == nil)
    }
}
