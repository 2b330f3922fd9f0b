import type { Material } from 'three';
import { int, vec4 } from 'three/tsl';
import type { Node, NodeBuilder } from 'three/webgpu';
import { mergedIndex, mergedSample, mergedTexel } from '../../../shaders/mergedSurface.tsl.js';
import { texels } from '../../../shaders/TexelNode.js';
import { buildOf, componentsNamed, keptOf, materialProperty, readLayer } from '../../../shaders/tsl.js';
import { hasLayers, MERGED_MAPS, type MergedMap, mergedCode, mergedTable } from '../../utils/surfaceMaps.js';
import { onCrowdUpdate } from './crowdNodes.js';

/** What shaders know of the merged material that a fragment is of. */
export interface MergedNodes {
  /** A number of the table. */
  number(at: number): Node<'float'>;
  /** Three numbers of the table, from one of which the number is a multiple of four. */
  numbers(at: number): Node<'vec3'>;
  /**
   * A sample of a texture; `none`, or white, where the material has none.
   *
   * @param sampled Samples all layers of it; by default those of the material that is drawn.
   */
  sample(map: MergedMap, none?: Node<'vec4'>, sampled?: Node<'vec4'>): Node<'vec4'>;
}

/**
 * Reads the table of a material that was merged of several with different textures; null for others.
 *
 * @param material The one that the build is for, or whose shadow is.
 */
export function mergedNodes(material: Material, builder: NodeBuilder): MergedNodes | null {
  const kept = keptOf<{ merged: MergedNodes }>(builder);
  if (kept.merged !== undefined) return kept.merged;
  const first = mergedTable(material);
  if (first === null) return null;
  const table = texels(first);
  // Builds may be shared by several merged materials.
  onCrowdUpdate((_crowd, _renderer, { material: drawn }) => {
    table.value = (drawn && mergedTable(drawn)) ?? table.value;
  });
  const index = mergedIndex();
  const code = mergedCode(material);
  const texel = (at: number) => mergedTexel(table, index, at >> 2);
  const number = (at: number) => componentsNamed<'float'>(texel(at), 'xyzw'[at & 3]);
  const nodes: MergedNodes = {
    number,
    numbers: (at) => texel(at).xyz,
    sample(map, none = vec4(1), sampled = materialProperty<'vec4'>(map, 'texture')) {
      // Negative where the material has no such texture.
      const layer = number(MERGED_MAPS.indexOf(map));
      readLayer(sampled, buildOf(builder), int(layer.max(0)), () => hasLayers(code, map));
      return mergedSample(sampled, layer, none);
    },
  };
  kept.merged = nodes;
  return nodes;
}
