// The one place that says which version of Gimbal this is.

/// Gimbal's version. The protocol's is another: 1.
package let gimbalVersion = "0.2.0"
