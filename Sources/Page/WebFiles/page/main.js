// Assembles the page: the stream changes what is known of the cameras, and each frame draws what has changed.
// Invariant: drawing happens only in a frame, and no frame is requested while nothing changes.

import {Cameras} from "./cameras.js";
import {Commands} from "./commands.js";
import {Connection} from "./connection.js";
import {Earth} from "./earth.js";
import {Ground} from "./ground.js";
import {Hands, commandOf, endsOf} from "./hands.js";
import {Lock} from "./lock.js";
import {KINDS, Log} from "./log.js";
import {Overview} from "./overview.js";
import {Player} from "./player.js";
import {wallTimeOf} from "./present.js";
import {Projection} from "./projection.js";
import {Step} from "./step.js";
import {Surface} from "./surface.js";
import {Theme} from "./theme.js";
import {Timeline, degrees} from "./timeline.js";
import {Tour} from "./tour.js";
import {View} from "./view.js";
import {loadWorld} from "./world.js";

const $ = (selector) => document.querySelector(selector);
const link = new URLSearchParams(location.hash.slice(1));
addEventListener("hashchange", () => location.reload());

const cameras = new Cameras();
const ground = new Ground(undefined, new Earth(showMore));
const theme = new Theme(() => draw());
let chosen = link.get("camera") ?? "main";
// A camera chosen by the user stays chosen, even if it does not exist yet.
let isChosenByHand = link.has("camera");

const camera = () => cameras.get(chosen);
const send = (line) => {
    // The choice must not change to another camera under the user's hand.
    isChosenByHand = true;
    const named = (request) => ({...request, camera: chosen});
    connection.send(Array.isArray(line) ? line.map(named) : named(line));
};
// While another client holds the camera's lease, the daemon would refuse to move it.
const ask = async (request) => {
    const message = connection.mayFeed ? lock.refusal(camera()) : "The page has no connection now.";
    return message ? {type: "error", message} : connection.ask({camera: chosen, ...request});
};

// MARK: Drawing

const view = new View($("#view"), ground, theme);
const overview = new Overview($("#overview canvas"), ground, theme, choose);
const timeline = new Timeline($("#timeline canvas"), theme, {seek: (timeMs) => player.seek(timeMs), changed: draw});
const log = new Log($("#log"));
const step = new Step($("#step"), theme);
const player = new Player($("#player"), send, () => connection.mayFeed);
const lock = new Lock($("#lock"), {
    ask: (request) => connection.ask(request), cameras, chosen: camera, label: () => surface.name.value.trim() || hands.surface,
    tell: (text) => toast(text), changed: draw,
});
const surface = new Surface($("#surface"), {send: (line) => { if (!lock.refusal(camera())) move(line); }, ask, camera, theme, ground});
const commands = new Commands($("#commands"), {ask, camera, overviewBounds: () => overview.bounds});
const tour = new Tour($("#tour"), $("#open-tour"), {ask, camera, tell: toast, changed: draw});
overview.tour = tour;
overview.hit = (point) => overview.cameraAt(cameras.all, point);
surface.changed = draw;
overview.changed = () => {
    $("[data-overview=fit]").setAttribute("aria-pressed", String(!overview.isHeld));
    draw();
};

// More of the ground has loaded.
function showMore() {
    ground.version += 1;
    draw();
}

let isAsked = false;

function draw() {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(paint);
}

function paint(frameTime) {
    isAsked = false;
    const now = performance.now();
    const shown = camera();
    let [goesOn, ghost] = [step.paint(cameras.all, Date.now()), null];
    for (const each of cameras.all) {
        goesOn = each.present(wallTimeOf(frameTime)) || goesOn;
        goesOn = each.fade(now) || goesOn;
    }
    lock.show(shown, now, connection.mayFeed);
    if (surface.isOpen) {
        surface.paint(shown, now, lock.refusal(shown));
        showSurface(shown);
        if (goesOn) draw();
        return;
    }
    if (shown) {
        // A wide viewport gets more room. The layout depends on the camera's shape, not on what it does.
        document.body.dataset.shape = shown.viewport.width > shown.viewport.height ? "wide" : "tall";
        timeline.paint(shown, now);
        if (timeline.hovered !== null) ghost = shown.positionAt(timeline.hovered);
        view.paint(shown, now, ghost);
        showPosition(shown);
    }
    goesOn = overview.paint(cameras.all, chosen, ghost) || goesOn;
    log.paint();
    player.show(shown, now);
    tour.show(shown);
    $("#whole").hidden = !timeline.part;
    if (goesOn || shown?.replay?.state === "playing" || shown?.activeGestures.length) draw();
}

const values = Object.fromEntries([...document.querySelectorAll("[data-value]")].map((part) => [part.dataset.value, part]));

function showPosition({position, activeGestures, touching, isMoving, reason}) {
    values.target.textContent = `${position.target.latitude.toFixed(5)}, ${position.target.longitude.toFixed(5)}`;
    values.zoom.textContent = position.zoom.toFixed(3);
    values.bearing.textContent = `${degrees(position.bearing)}°`;
    values.angle.textContent = `${position.viewingAngle.toFixed(1)}°`;
    const what = activeGestures.length ? activeGestures.join(" + ")
        : isMoving ? (reason === "gesture" ? "fling" : reason ?? "") : "";
    $("#activity").textContent = [what, ...touching].filter(Boolean).join(", ");
}

function showSurface(shown) {
    const text = shown ? `zoom ${shown.position.zoom.toFixed(2)}  ${shown.activeGestures.join(" + ")}` : "no camera";
    $("[data-surface=text]").textContent = text;
}

// MARK: Cameras

function choose(name) {
    // What the user's hand began ends at the camera where it began.
    letGo();
    chosen = name;
    isChosenByHand = true;
    listCameras();
    commands.fill();
    showLogOf();
    log.refilter();
    draw();
}

function listCameras() {
    const names = cameras.names;
    // Cameras arrive one after another: the first to arrive is not chosen if there is a main one.
    if (!isChosenByHand && names.includes("main")) chosen = "main";
    if (!isChosenByHand && names.length && !names.includes(chosen)) chosen = names[0];
    if (isChosenByHand && !names.includes(chosen)) names.push(chosen);
    const tabs = $("#tabs");
    const hadFocus = tabs.contains(document.activeElement);
    tabs.replaceChildren(...names.map((name) => {
        const tab = document.createElement("button");
        tab.role = "tab";
        tab.textContent = name;
        tab.setAttribute("aria-selected", String(name === chosen));
        tab.setAttribute("aria-controls", "camera");
        tab.tabIndex = name === chosen ? 0 : -1;
        tab.dataset.color = cameras.get(name)?.color ?? 0;
        tab.onclick = () => choose(name);
        return tab;
    }));
    if (hadFocus) tabs.querySelector("[aria-selected=true]")?.focus();
    const select = $("[data-surface=camera]");
    select.replaceChildren(...names.map((name) => new Option(name, name, name === chosen, name === chosen)));
    $("#drop strong").textContent = chosen;
    showLogOf();
    $("#view").setAttribute("aria-label", `Camera ${chosen}`);
}

function showLogOf() {
    $("#log").dataset.of = $("#of").value;
    log.camera = $("#of").value === "this" ? chosen : null;
}

$("#tabs").addEventListener("keydown", (event) => {
    const way = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!way) return;
    const {names} = cameras;
    choose(names[(names.indexOf(chosen) + way + names.length) % names.length]);
    $("#tabs [aria-selected=true]").focus();
});
$("[data-surface=camera]").onchange = (event) => choose(event.target.value);

// MARK: The stream

let isMade = false;

function handle(message, line) {
    // With a wrong clock, nothing can be shown at its time.
    const isForNow = message.type === "present" && step.isOff;
    const isListed = cameras.update(isForNow ? {...message, presentation: undefined} : message, performance.now());
    if (message.type === "page") return showRole(message);
    if (message.type === "daemon") {
        isMade = false;
        step.beginning = Date.now();
        step.setScreens([]);
        if (!message.connected) lock.forget();
        showConnection(message.connected ? "live" : "lost", message.connected ? "live" : "no daemon");
        $("#connection").title = message.reason ?? "";
    }
    if (isListed) listCameras();
    if (message.type === "alive") makeCamera();
    if (message.type === "daemon" && message.connected) setTimeout(makeCamera, 150);
    if (message.type === "camera" && message.camera === chosen) {
        if ($("#commands").hidden) commands.fill(); else commands.fillSettings();
    }
    if (message.type === "idle" && message.camera === chosen) announce(message);
    if (message.type === "recording") return showReading(message);
    if (message.type === "refused") toast(message.message);
    if (message.type === "error" && message.id === "recording") toast(message.message);
    if (message.type === "alive") {
        step.setClock(message);
        return draw();
    }
    if (message.type === "screens") {
        step.setScreens(message.screens);
        return draw();
    }
    if (message.type === "present") {
        if (message.presentation) step.add(message.camera, message.presentation, Date.now());
        return draw();
    }
    log.add(message, line);
    draw();
}

// A new daemon has no camera: the first page that may create one does.
function makeCamera() {
    if (isMade || cameras.byName.size || !connection.mayFeed) return;
    isMade = true;
    connection.send({type: "get-camera", camera: chosen});
}

function showConnection(state, text) {
    const part = $("#connection");
    part.dataset.state = state;
    part.firstElementChild.textContent = text;
}

const connection = new Connection(link.get("token") ?? "", handle, (state, text) => {
    if (state === "live") return showConnection("live", "live");
    lock.forget();
    showConnection("lost", state === "refused" ? "no access" : "reconnecting");
    $("#connection").title = text;
    if (state === "refused") refuse(text);
}, (lost) => {
    letGo();
    for (const end of endsOf(lost)) connection.send(end);
});

// Without access, the page shows nothing that looks usable.
function refuse(why) {
    surface.close();
    document.body.dataset.state = "refused";
    $("#refused").hidden = false;
    $("#refused p").textContent = `${why}.`;
}

let timer;

function announce({position}) {
    clearTimeout(timer);
    timer = setTimeout(() => {
        const {latitude, longitude} = position.target;
        $("#announcement").textContent = `${chosen} rests at ${Math.abs(latitude).toFixed(3)} degrees `
            + `${latitude < 0 ? "south" : "north"}, ${Math.abs(longitude).toFixed(3)} ${longitude < 0 ? "west" : "east"}, `
            + `zoom ${position.zoom.toFixed(1)}, bearing ${Math.round(position.bearing) % 360}, angle ${Math.round(position.viewingAngle)}.`;
    }, 700);
}

// MARK: Hands and keys

// A replay has exclusive control of its camera, unless it is at its end or the daemon plays it by itself.
function move(line) {
    const {replay} = camera() ?? {};
    if (replay && replay.state !== "at-end" && !replay.trace) toast("A replay moves this camera: End stops it.");
    else if (lock.refusal(camera())) toast(lock.refusal(camera()));
    else send(line);
}
const hands = new Hands($("#view"), (x, y) => view.pointAt(x, y), move);

function letGo() {
    hands.cancel();
    surface.hands.cancel();
}

for (const part of [$("#view"), surface.canvas]) {
    part.addEventListener("keydown", (event) => {
        const command = camera() && commandOf(event, camera());
        if (!command) return;
        event.preventDefault();
        move(command);
    });
}
addEventListener("keydown", (event) => {
    const {tagName} = event.target;
    if (tagName === "INPUT" || tagName === "SELECT" || tagName === "BUTTON" || !camera()?.replay || event.ctrlKey || event.metaKey) return;
    if (event.key === " ") {
        event.preventDefault();
        player.toggle();
    } else if (event.key === ".") {
        send({type: "step-replay"});
    }
});

// MARK: Controls

// Shows a map in the user's own style, if the server has an engine for it; without WebGL the ground is drawn as before.
async function showStyle(map) {
    if (view.isSeenThrough) return;
    view.isSeenThrough = true;
    const told = new Set();
    const tell = (text) => {
        if (!told.has(text)) toast(text);
        told.add(text);
    };
    const credit = (text) => {
        $("#credits").textContent = text;
        $("#credits").className = "told";
    };
    try {
        const {Styled} = await import("./styled.js");
        view.styled = await Styled.make($("#map"), map, {tell, credit});
        view.grid = $("#grid").value = "none";
    } catch (error) {
        tell(`No styled map: ${error.message}`);
    }
    draw();
}

function showRole(page) {
    if (page.map) showStyle(page.map);
    document.body.dataset.role = page.role;
    const isWatch = page.role === "watch";
    for (const id of ["#open-commands", "#open-surface", "#open-tour", "#file"]) $(id).disabled = isWatch;
    $("#view").setAttribute("aria-readonly", String(isWatch));
    if (!link.has("surface") || isWatch) return;
    // Once: the user may have left it before the page reconnects.
    link.delete("surface");
    surface.open();
}

let toastTimer;
let told = "";

function hideToast() {
    told = "";
    $("#toast").hidden = true;
    surface.note("");
}

function toast(text, stays = false) {
    clearTimeout(toastTimer);
    hideToast();
    told = text;
    const part = $("#toast");
    // The surface covers the page, so it shows the text itself.
    if (surface.isOpen) surface.note(text);
    else {
        part.textContent = part.title = text;
        part.hidden = false;
    }
    if (!stays) toastTimer = setTimeout(hideToast, 6000);
}

for (const kind of KINDS) {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = true;
    box.onchange = () => {
        if (box.checked) log.kinds.add(kind); else log.kinds.delete(kind);
        log.refilter();
    };
    label.append(box, kind);
    label.className = kind;
    $("#kinds").append(label);
}
$("#of").onchange = () => {
    showLogOf();
    log.refilter();
};
$("#search").oninput = () => {
    log.text = $("#search").value.trim().toLowerCase();
    log.refilter();
};
$("#stop").onclick = () => {
    log.isStopped = !log.isStopped;
    $("#stop").setAttribute("aria-pressed", String(log.isStopped));
    $("#stop").textContent = log.isStopped ? "Start" : "Stop";
};
$("#copy").onclick = async () => {
    await copy(log.lines);
    $("#copy").textContent = "Copied";
    setTimeout(() => { $("#copy").textContent = "Copy"; }, 1200);
};
$("#clear").onclick = () => log.clear();
$("#whole").onclick = () => timeline.show(null);
$("#grid").onchange = (event) => {
    view.grid = event.target.value;
    draw();
};
$("[data-overview=in]").onclick = () => overview.zoom(1);
$("[data-overview=out]").onclick = () => overview.zoom(-1);
$("[data-overview=fit]").onclick = () => overview.release();

// Insecure pages have no clipboard, only the old way.
async function copy(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text).catch(() => copyOldWay(text));
    copyOldWay(text);
}

function copyOldWay(text) {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "hidden";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
}

function showPanel(name) {
    document.body.dataset.panel = name;
    for (const button of document.querySelectorAll(".panels button")) {
        button.setAttribute("aria-pressed", String(button.dataset.show === name));
    }
    draw();
}
for (const button of document.querySelectorAll(".panels button")) button.onclick = () => showPanel(button.dataset.show);
showPanel("overview");

function toggleCommands(isOpen) {
    $("#commands").hidden = !isOpen;
    $("#open-commands").setAttribute("aria-expanded", String(isOpen));
    if (isOpen) {
        commands.fill();
        $("#commands input").focus();
    } else {
        $("#open-commands").focus();
    }
}
$("#open-commands").onclick = () => toggleCommands($("#commands").hidden);
$("#commands [data-close]").onclick = () => toggleCommands(false);
$("#commands").addEventListener("keydown", (event) => { if (event.key === "Escape") toggleCommands(false); });
$("#open-surface").onclick = () => surface.open();

// MARK: Other screens

$("#share [data-close]").onclick = () => $("#share").close();
$("#open-share").onclick = () => {
    const {links = [], network} = connection.page ?? {};
    const texts = {surface: "A touch surface for this camera", watch: "Watch only"};
    $("#share .note").textContent = !links.length ? "This link may only watch."
        : network ? "Scan these with a phone on the same network."
            : "Only this machine can open these. For a phone on the same network, start the server like this; "
                + "those who can read its traffic can move cameras, too:";
    const command = "gimbal web --listen 0.0.0.0 --insecure-lan";
    $("#share .links").replaceChildren(
        ...links.length && !network ? [shared("", command)] : [],
        ...links.map(({name, link, code}) => shared(texts[name] ?? name, link, network ? picture(code, link) : "")));
    $("#share").showModal();
};

function shared(title, text, code = "") {
    const part = document.createElement("figure");
    const [caption, words, button] = ["figcaption", "code", "button"].map((name) => document.createElement(name));
    caption.textContent = title;
    words.textContent = text;
    button.textContent = "Copy";
    button.onclick = () => copy(text);
    part.append(caption, code, words, button);
    return part;
}

// A QR code needs a light margin of four modules.
function picture(rows, link) {
    const canvas = document.createElement("canvas");
    const size = rows.length + 8;
    const module = Math.max(Math.floor(280 / size), 2);
    canvas.width = canvas.height = size * module;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `QR code of ${link}`);
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.fillStyle = "#000";
    for (const [y, row] of rows.entries()) {
        for (let x = 0; x < row.length; x++) {
            if (row[x] === "1") context.fillRect((x + 4) * module, (y + 4) * module, module, module);
        }
    }
    return canvas;
}

// MARK: Recordings

// The text shown while a recording is queued or being read, and the number of answers awaited: events take another
// connection, and may arrive after the answer.
let reading = "";
let awaited = 0;

function showReading({ahead, progress}) {
    if (awaited === 0) return;
    reading = ahead ? `${ahead} ${ahead === 1 ? "recording is" : "recordings are"} ahead of this one.`
        : `Reading the recording: ${Math.round(progress * 100)}%.`;
    toast(reading, true);
}

async function play(file) {
    const limit = connection.page?.limits.recordingBytes ?? 0;
    if (!connection.mayFeed) return toast("This link may only watch.");
    if (await tour.open(file)) return overview.release();
    const refusal = lock.refusal(camera());
    if (refusal) return toast(refusal);
    if (file.size > limit) return toast(`${file.name} is larger than ${limit >> 20} MiB.`);
    awaited += 1;
    // The recording is sent over another connection, which shares the page's lease.
    const lease = lock.has(camera()) ? `&lease=${camera().lease.lease}` : "";
    await connection.post(`/recording?camera=${encodeURIComponent(chosen)}${lease}`, file);
    awaited -= 1;
    if (told === reading) hideToast();
}
for (const button of document.querySelectorAll("[data-sample]")) {
    button.onclick = async () => {
        const response = await fetch(`/samples/${button.dataset.sample}.ndjson`).catch(() => null);
        if (response?.ok) await play(await response.blob()); else toast("The server does not answer.");
    };
}
$("#file").onchange = async () => {
    const [file] = $("#file").files;
    if (file) await play(file);
    $("#file").value = "";
};
$("[data-tour=open]").onclick = () => $("#file").click();
addEventListener("dragover", (event) => {
    event.preventDefault();
    $("#drop").hidden = false;
});
addEventListener("dragleave", (event) => { if (!event.relatedTarget) $("#drop").hidden = true; });
addEventListener("drop", (event) => {
    event.preventDefault();
    $("#drop").hidden = true;
    const [file] = event.dataTransfer.files;
    if (file) play(file);
});

// Draws as sharply as another screen, to which the window is moved.
function redrawOnOtherScreens() {
    draw();
    matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", redrawOnOtherScreens, {once: true});
}

// MARK: For scripts

// What the page shows of a camera, and where; null if there is no such camera, or nothing is visible.
window.gimbal = Object.freeze({
    camera(name = "main") {
        const camera = cameras.get(name);
        if (!camera) return null;
        const {position, viewport, seq, epoch} = camera;
        return structuredClone({position, viewport, seq, epoch});
    },
    project(name, coordinate) {
        const camera = cameras.get(name);
        return camera ? new Projection(camera.position, camera.viewport).project(coordinate) : null;
    },
});

new ResizeObserver(() => draw()).observe(document.body);
redrawOnOtherScreens();
listCameras();
if (link.has("token")) connection.run(); else refuse("It has no token");
loadWorld().then((world) => {
    ground.world = world;
    showMore();
}, (error) => toast(error.message));
