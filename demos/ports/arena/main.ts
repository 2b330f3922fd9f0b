import { openPort } from '../lib/openPort.js';
import { createArena as ported } from './instances.js';
import portedSource from './instances.ts?raw';
import { createArena as plain } from './skinnedMesh.js';
import plainSource from './skinnedMesh.ts?raw';

await openPort('arena', { create: plain, source: plainSource }, { create: ported, source: portedSource });
