/**
 * Typed arrays over memory that is not shared, as three.js's textures and WebGPU want them. TypeScript has written these as
 * `Float32Array<ArrayBuffer>` since 5.7; said so, the declarations of this package can be read by older ones too.
 */
export type OwnedFloats = ReturnType<typeof Float32Array.of>;
/** See {@link OwnedFloats}. */
export type OwnedBytes = ReturnType<typeof Uint8Array.of>;
