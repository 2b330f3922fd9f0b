/**
 * Share of the pixels that a crowd covers which differ by more than 8 of 255 from Chromium's on SwiftShader, in the worst
 * engine and renderer. Measured in November 2026 with Chromium 156, Firefox 153 and WebKitGTK 2.50 on Mesa 22.3. All of it is
 * at edges: SwiftShader rounds corners of triangles to a sixteenth of a pixel, Mesa to a 256th.
 */
const MEASURED = {
  playing: 0.007,
  fading: 0.0068,
  paused: 0.0071,
  'directional shadows': 0.0081,
  'point shadows': 0.0053,
  parts: 0.0057,
  'merged materials': 0.0057,
  surfaces: 0.0067,
  'morph targets': 0.0044,
  attachments: 0.0046,
  encodings: 0.0172,
  layers: 0.0075,
  'edits and live poses': 0.0074,
  'CesiumMan.glb': 0.0057,
  'Horse.glb': 0.0046,
  'Knight.glb': 0.0094,
  'RobotExpressive.glb': 0.0056,
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

/** Scenes in which a few pixels at edges are more of what the crowd covers than in others. */
const SMALL = ['encodings', 'edits and live poses'];

/** How far two that draw by the same driver may be apart. Measured: none on Mesa; WebGPU on SwiftShader up to 0.088 %, of the small 0.110 %. */
export const boundsOnOneDriver = (scene) => ({
  pixels: SMALL.includes(scene) ? 0.0017 : 0.001,
  numbers: NUMBERS,
});
