import { beforeEach } from 'vitest';
import { THOROUGH } from '../support/thorough.js';

/** Files that together have every kind of shader: pictures, vertices by each encoding, poses by tracks, surfaces, order, changes. */
const FILES = /\/(images|vertices|tracks|surfaces|mergedTextures|order|poseRates)\.test\.ts$/;

const drawn = new WeakSet<object>();

// The WebGL 2 backend of WebGPURenderer runs the nodes that WebGPU runs. Its shaders take as long to compile as the others, so
// that where not everything is tested it has the first test of some files.
beforeEach(({ task, skip }) => {
  if (THOROUGH) return;
  let name = task.name;
  for (let suite = task.suite; suite !== undefined; suite = suite.suite) name += suite.name;
  if (!name.includes('TSL on WebGL 2')) return;
  if (!FILES.test(task.file.filepath) || drawn.has(task.file)) skip('on WebGL 2 with SIM_TESTS=all');
  drawn.add(task.file);
});
