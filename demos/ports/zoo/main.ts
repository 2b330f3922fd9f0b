import { openPort } from '../lib/openPort.js';
import { createZoo as ported } from './instances.js';
import portedSource from './instances.ts?raw';
import { createZoo as plain } from './skinnedMesh.js';
import plainSource from './skinnedMesh.ts?raw';

await openPort('zoo', { create: plain, source: plainSource }, { create: ported, source: portedSource });
