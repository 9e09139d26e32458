// A camera's complete state reaches a mirror, also one that begins to follow later. `CameraChange` lists what can
// differ between cameras.

import Hub
import MQTTBridge
import TestSupport
import Testing

@Suite struct SurvivalTests {
    private func follower(_ fleet: SimulatedFleet, _ host: HubHost) -> SimulatedBridge {
        let mirror = CameraMirror.Settings(node: "left", camera: "main", local: "copy")
        let follower = SimulatedBridge(fleet, host, node: nil, mirror: mirror)
        fleet.connect(follower)
        return follower
    }

    @Test(arguments: CameraChange.all)
    func mirrorsAreWhatTheirSourceIsWheneverTheyBegin(_ change: CameraChange) throws {
        let fleet = SimulatedFleet(HubHost(), HubHost(epochSeed: 99), HubHost(epochSeed: 199))
        let source = SimulatedBridge(fleet, fleet.hosts[0], node: Node.Settings("left", instance: "a1"))
        fleet.connect(source)
        _ = follower(fleet, fleet.hosts[1])
        fleet.pass(2500)
        let feeder = fleet.hosts[0].connect()
        for line in change.lines {
            feeder.send(line)
            fleet.pass(10)
        }
        fleet.pass(4000)
        _ = follower(fleet, fleet.hosts[2])
        fleet.pass(2500)
        // A mirror goes home with its source, not by itself.
        let told = try everything("main", of: fleet.hosts[0]).replacing(/,"idleAction":.*/, with: "}")
        #expect(try everything("copy", of: fleet.hosts[1]) == told)
        #expect(try everything("copy", of: fleet.hosts[2]) == told)
    }
}
