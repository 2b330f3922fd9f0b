/**
 * Typed arrays over memory that is not shared, as three.js's textures and WebGPU want them. Since TypeScript 5.7 the memory is a
 * type parameter of `Float32Array`, which older ones refuse; written this way, they can read the package's declarations too.
 */
export type OwnedFloats = ReturnType<typeof Float32Array.of>;
/** See {@link OwnedFloats}. */
export type OwnedBytes = ReturnType<typeof Uint8Array.of>;
