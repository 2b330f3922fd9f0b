/**
 * Share of the pixels that a crowd covers which differ by more than 8 of 255 from Chromium's on SwiftShader, in the worst
 * engine and renderer. Measured in November 2026 with Chromium 156, Firefox 153 and WebKitGTK 2.50 on Mesa 22.3. All of it is
 * at edges: SwiftShader rounds corners of triangles to a sixteenth of a pixel, Mesa to a 256th.
 */
const MEASURED = {
  playing: 0.0047,
  fading: 0.0051,
  paused: 0.0038,
  'directional shadows': 0.0078,
  'point shadows': 0.0044,
  parts: 0.0061,
  'merged materials': 0.0061,
  'morph targets': 0.0033,
  attachments: 0.003,
  encodings: 0.0091,
  layers: 0.0089,
  'edits and live poses': 0.0106,
  'CesiumMan.glb': 0.0058,
  'Horse.glb': 0.0083,
  'Knight.glb': 0.0115,
  'RobotExpressive.glb': 0.0084,
};

/** For characters that are not measured, which may be all edges. */
const UNKNOWN = 0.012;

/** How much more may differ than was measured: edges fall otherwise with every version of a driver. */
const ROOM = 1.5;

/** How far numbers may be apart, as a share of the height: a few steps of a float. Measured: 2.6e-7, on one driver 0. */
const NUMBERS = 1e-6;

/** How far an engine may be from one that draws by another driver. */
export const boundsAcrossDrivers = (scene) => ({
  pixels: (MEASURED[scene] ?? UNKNOWN) * ROOM,
  numbers: NUMBERS,
});

/**
 * How far two that draw by the same driver may be apart. Measured: none on Mesa; WebGPU on SwiftShader up to 0.056 %, but for
 * the edits, where six pixels at edges are 0.114 % of those that the crowd covers.
 */
export const boundsOnOneDriver = (scene) => ({
  pixels: scene === 'edits and live poses' ? 0.0017 : 0.001,
  numbers: NUMBERS,
});
