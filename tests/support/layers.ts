import { AnimationLayers, featureOf, type LayerOptions, type SkinnedInstancedMesh } from './library.js';

/** Lays layers over the base of a crowd. */
export function withLayers(
  crowd: SkinnedInstancedMesh,
  layers: readonly LayerOptions[],
): SkinnedInstancedMesh {
  new AnimationLayers(crowd, layers);
  return crowd;
}

/** The layers of a crowd. */
export const layersOf = (crowd: SkinnedInstancedMesh): AnimationLayers =>
  featureOf(crowd, AnimationLayers) as AnimationLayers;
