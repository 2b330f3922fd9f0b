import { beforeEach, inject } from 'vitest';
import { NIGHTLY, THOROUGH } from '../support/thorough.js';

/** Files that together have every kind of shader: pictures, vertices of frames and of tracks, surfaces. */
const FILES = /\/(images|vertices|surfaces)\.test\.ts$/;

const drawn = new WeakSet<object>();

// The WebGL 2 backend of WebGPURenderer runs the nodes that WebGPU runs. Its shaders take as long to compile as the others, so
// that it has the first test of these files; where everything is tested the first of all others too, and on a schedule all of these.
beforeEach(({ task, skip }) => {
  let name = task.name;
  for (let suite = task.suite; suite !== undefined; suite = suite.suite) name += suite.name;
  if (!name.includes('TSL on WebGL 2') || !inject('hasWebGPU')) return;
  const isMain = FILES.test(task.file.filepath);
  if (NIGHTLY && isMain) return;
  if ((!THOROUGH && !isMain) || drawn.has(task.file)) skip('WebGL 2 has the first test of a file');
  drawn.add(task.file);
});
