/**
 * The extension `SIM_baked_animation` for glTF-Transform, so that scripts that are built on it keep what was baked:
 * `new NodeIO().registerExtensions([BakedAnimation])`. It needs `@gltf-transform/core`, which such scripts have.
 *
 * @module skinned-instanced-mesh/gltf-transform
 */

export { BakedAnimation } from './cli/BakedAnimation.js';
