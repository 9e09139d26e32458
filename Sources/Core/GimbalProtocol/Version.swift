// The only place with the version of Gimbal.

/// The version of Gimbal. The protocol has a version of its own: 1.
package let gimbalVersion = "0.2.0"
