import { modelNames } from '../../support/models.js';
import type { EngineScene } from '../EngineScene.js';
import { edits, layers } from './layers.js';
import { attachments, mergedMaterials, morphs, parts, surfaces } from './looks.js';
import { fading, paused, playing } from './playback.js';
import { directionalShadows, pointShadows } from './shadows.js';
import { encodings, realModel } from './textures.js';

/** All of them, those of the real characters that are there last. */
export async function allScenes(): Promise<EngineScene[]> {
  const models = await modelNames();
  return [
    playing,
    fading,
    paused,
    directionalShadows,
    pointShadows,
    parts,
    mergedMaterials,
    surfaces,
    morphs,
    attachments,
    encodings,
    layers,
    edits,
    ...models.map(realModel),
  ];
}
