// Makes deck.gl, 9 or later, with a MapView, follow a camera, and with `lead` move it.
//
//     import { follow } from "./deck.js";
//     const view = new deck.Deck({ views: new deck.MapView({ repeat: true }), controller: true, layers,
//                                  initialViewState: { longitude: 0, latitude: 0, zoom: 1 },
//                                  onLoad: () => follow(view, camera, { lead: true }) });
//
// `camera` has `position`, `viewport` and the event `change`: see cameras.js. With React, or several views, set what
// `viewState` returns. The viewport's height fills the map.
//
// Limitations:
// - `viewport.unproject` above the horizon and `viewport.project` behind the camera return plausible numbers that mean
//   nothing, and `project` does not choose the nearest copy of a place: projection.js does all three.
// - `altitude` must stay 1.5, the default. A Deck's own `onViewStateChange` is called, too, but what it returns is not
//   shown: the camera decides.
// - Nothing is drawn behind the horizon; MapView's `farZMultiplier` sets the far edge of a layer.

import { link } from "./link.js";
import { paddingOf, positionOf, scaleOf } from "./projection.js";

/** Returns the view state with which a MapView of `height` pixels shows a camera. */
export function viewState({ position, viewport }, height) {
    const scale = scaleOf(viewport, height);
    return {
        longitude: position.target.longitude, latitude: position.target.latitude,
        // The world is 512 pixels wide at deck.gl's zoom 0.
        zoom: position.zoom - 1 + Math.log2(scale), bearing: position.bearing, pitch: position.viewingAngle,
        padding: paddingOf(viewport, scale),
        // The camera has its own constraints; deck.gl's would move it away.
        minZoom: -20, maxZoom: 40, maxPitch: 65, normalize: false,
    };
}

/** Makes a loaded Deck follow a camera; returns a function that stops it. */
export function follow(deck, camera, { lead = false } = {}) {
    const canvas = deck.getCanvas();
    let scale = 1, state = null;
    const set = (next) => deck.setProps({ viewState: state = next });
    return link({
        show(camera) {
            scale = scaleOf(camera.viewport, canvas.clientHeight);
            set(viewState(camera, canvas.clientHeight));
        },
        read() {
            const { latitude, longitude, zoom, bearing, pitch } = state;
            return positionOf({ latitude, longitude, zoom: zoom + 1 - Math.log2(scale), bearing, viewingAngle: pitch });
        },
        draw() { deck.redraw("in step"); },
        surface: canvas.parentElement,
        listen({ moved, rested, resized }) {
            const { onViewStateChange, onInteractionStateChange, onResize } = deck.props;
            deck.setProps({
                // Only this may set the view: a Deck with a `viewState` shows nothing else.
                onViewStateChange: (change) => {
                    onViewStateChange?.(change);
                    if (!lead) return;
                    set(change.viewState);
                    moved();
                },
                onInteractionStateChange: (interaction) => {
                    onInteractionStateChange?.(interaction);
                    const { isDragging, isPanning, isRotating, isZooming, inTransition } = interaction;
                    if (!(isDragging || isPanning || isRotating || isZooming || inTransition)) rested();
                },
                onResize: (size) => {
                    onResize?.(size);
                    resized();
                },
            });
            return () => deck.setProps({ onViewStateChange, onInteractionStateChange, onResize });
        },
    }, camera, { lead });
}
