// Looking up cameras by the bytes of their names, compared with a dictionary.

import TestSupport
import Testing

@testable import Hub

@Suite struct CameraTableTests {
    @Test func findsWhatADictionaryFindsWhileCamerasComeAndGo() {
        let environment = HostedCamera.Environment(
            limits: Limits(), memory: nil, encoder: LineEncoder(), clock: WallClock())
        var random = Seeded(1)
        var table = CameraTable()
        var wanted: [String: HostedCamera] = [:]
        for step in 0..<20_000 {
            let name = "c\(random.integer(0...150))"
            if wanted[name] == nil, random.chance(step % 4000 < 2000 ? 0.9 : 0.3) {
                let camera = HostedCamera(name: name, epoch: "e", at: 0, environment)
                table.insert(camera)
                wanted[name] = camera
            } else if let camera = wanted.removeValue(forKey: name) {
                table.remove(camera)
            }
            let asked = "c\(random.integer(0...150))"
            #expect(table[asked] === wanted[asked])
            #expect(table.all.count == wanted.count)
        }
        #expect(table.all.map(\.name) == wanted.keys.sorted())
        let names = wanted.keys.sorted().map { "\"\($0)\"" }
        #expect(table.namesAsJSON() == Array("[\(names.joined(separator: ","))]".utf8))
        #expect(table["c"] == nil && table[""] == nil)
    }

    @Test func aNameThatIsThereCannotEnterAgain() async {
        await #expect(processExitsWith: .failure) {
            let environment = HostedCamera.Environment(
                limits: Limits(), memory: nil, encoder: LineEncoder(), clock: WallClock())
            var table = CameraTable()
            for _ in 0..<2 { table.insert(HostedCamera(name: "main", epoch: "e", at: 0, environment)) }
        }
    }
}
