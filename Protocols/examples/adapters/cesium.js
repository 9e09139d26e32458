// Makes Cesium follow a camera. Cesium shows the earth another way: round, with mountains, seen by an eye in space.
//
//     import { follow } from "./cesium.js";
//     const viewer = new Cesium.Viewer("map");
//     follow(viewer, camera, Cesium);
//
// `camera` has `position`, `viewport` and the event `change`: see cameras.js. The viewport's height fills the scene.
//
// Limitations:
// - The earth is round: the target is in the middle, and only what is near it is where the camera shows it. README.md
//   lists the errors in pixels.
// - Padding is ignored: the target is in the middle of the scene.
// - The ground is the ellipsoid: in mountains the eye is nearer to the ground than the camera is, at worst below it.
// - A frame of a camera that gets its positions ahead of time is drawn twice, here and by Cesium's own loop, unless
//   the viewer's `requestRenderMode` is true.
// - It does not lead. `positionAt` of earth.js makes a position of what Cesium looks at.
//
// Its numbers are tested against a pinhole camera over the ellipsoid, not against Cesium.

import { rangeOf } from "./earth.js";
import { link } from "./link.js";
import { DEGREE, EYE_DISTANCE } from "./projection.js";

/** Returns the arguments of `camera.lookAt`, in radians and metres; `fov` is along the longer side of the scene. */
export function lookAt(camera, { width, height } = camera.viewport) {
    const { target, bearing = 0, viewingAngle = 0 } = camera.position;
    return {
        longitude: target.longitude * DEGREE, latitude: target.latitude * DEGREE,
        heading: bearing * DEGREE, pitch: (viewingAngle - 90) * DEGREE, range: rangeOf(camera),
        fov: 2 * Math.atan(Math.max(1, width / height) / (2 * EYE_DISTANCE)),
    };
}

/** Makes a viewer follow a camera; returns a function that stops it. */
export function follow(viewer, camera, Cesium) {
    return link({
        show(camera) {
            const { clientWidth: width, clientHeight: height } = viewer.canvas;
            const { longitude, latitude, heading, pitch, range, fov } = lookAt(camera, { width, height });
            viewer.camera.frustum.fov = fov;
            viewer.camera.lookAt(
                Cesium.Cartesian3.fromRadians(longitude, latitude),
                new Cesium.HeadingPitchRange(heading, pitch, range));
            // Otherwise the viewer's own gestures would keep turning around this target.
            viewer.camera.lookAtTransform(Cesium.Matrix4.IDENTITY);
        },
        listen({ resized }) {
            const observer = new ResizeObserver(resized);
            observer.observe(viewer.canvas);
            return () => observer.disconnect();
        },
        draw() { viewer.render(); },
    }, camera);
}

