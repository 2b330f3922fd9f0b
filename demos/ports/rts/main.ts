import { openPort } from '../lib/openPort.js';
import { createBattle as ported } from './instances.js';
import portedSource from './instances.ts?raw';
import { createBattle as plain } from './skinnedMesh.js';
import plainSource from './skinnedMesh.ts?raw';

await openPort('rts', { create: plain, source: plainSource }, { create: ported, source: portedSource });
