// An example of the documentation: the camera alone, without a daemon.

import MapCamera

/// Shows a region beside a panel, then comes closer to a place of it; says where on the screen the place stays.
func approach(_ place: LatLng, in region: CoordinateBounds) -> (camera: Camera, point: ScreenPoint?) {
    let viewport = Viewport(width: 1280, height: 720, padding: EdgeInsets(left: 320))
    var camera = Camera(viewport: viewport)
    camera.setTargetBounds(region)
    camera.apply(.fitBounds(region, insets: EdgeInsets(all: CameraUpdate.defaultFitPadding)))
    camera.apply(.zoomBy(2, focus: camera.projection.point(for: place)))
    camera.apply(.setViewingAngle(30))
    return (camera, camera.projection.point(for: place))
}
