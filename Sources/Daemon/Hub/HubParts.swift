// The parts of a hub. Each owns what it changes, and knows only those above it in this list, so there are no cycles.

struct HubParts {
    let limits: Limits
    let server: String
    let counters = Counters()
    let observer = ClientObserver()
    let clock = WallClock()
    /// Budgets of work and events, and the queue of waiting peers.
    let turns: Turns
    /// All cameras, by name.
    let registry: CameraRegistry
    /// All clients.
    let clients: ClientRegistry
    /// Sends replies and events to peers.
    let sender: Sender
    /// The subscriptions of all peers.
    let subscriptions: Subscriptions
    /// Requests that wait until a camera rests.
    let waits: RestWaits
    /// Moves cameras in time, and passes on what that produces.
    let runner: CameraRunner
    /// Positions that cameras take at certain times of the wall clock.
    let playOuts: PlayOuts
    /// Leases of cameras, and the requests that wait for one.
    let leases: Leases
    /// The traces that are being played.
    let replays: Replays
    /// The traces that the daemon can play by itself.
    let traces = StoredTraces()

    init(limits: Limits, server: String, epochSeed: UInt64, memory: (any HistoryMemory)?) {
        (self.limits, self.server) = (limits, server)
        turns = Turns(limits: limits)
        registry = CameraRegistry(limits: limits, memory: memory, epochSeed: epochSeed, clock)
        clients = ClientRegistry()
        sender = Sender(limits: limits, turns, counters, observer)
        subscriptions = Subscriptions(limits: limits, registry, sender, turns)
        waits = RestWaits(sender, turns)
        runner = CameraRunner(registry, subscriptions, waits, sender, turns, observer)
        playOuts = PlayOuts(runner, turns, clock)
        leases = Leases(runner, sender)
        replays = Replays(limits: limits, registry, clients, runner, leases, sender, turns)
    }
}
