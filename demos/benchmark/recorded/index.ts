import type { Result } from '../Result.js';
import h200 from './h200-webgl.json' with { type: 'json' };
import h200WebGPU from './h200-webgpu.json' with { type: 'json' };
import software from './software.json' with { type: 'json' };

/** What was measured elsewhere, with the commands of the guide "Figures". */
export const recorded: Result[] = [h200, h200WebGPU, software];
