import { int } from 'three/tsl';
import type { Node, NodeBuilder } from 'three/webgpu';
import { drawStride } from '../../../shaders/drawSlots.tsl.js';
import { paletteMatrix } from '../../../shaders/palette.tsl.js';
import { multiplyRows, type Rows } from '../../../shaders/tsl.js';
import { sourceOf } from '../../animation/PoseSource.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { clipMorphs, onCrowdUpdate, rowNode } from './crowdNodes.js';
import { posesOf } from './NodePoses.js';
import type { NodeSource } from './NodeSource.js';
import { PaletteNodes } from './paletteNodes.js';

/** Twin of `lib/animation/trackSource.ts`: a pass poses each instance once, and vertices read what it has written. */
const trackNodes: NodeSource = {
  name: 'tracks',
  places: true,
  posesOf,

  skinningMatrix({ crowd, build, variant, instance, part, morph, placed }) {
    const row = rowNode(crowd, build as unknown as NodeBuilder);
    const palette = new PaletteNodes(posesOf(build.renderer, crowd), build, row);
    onCrowdUpdate((other, renderer) => {
      if (sourceOf(other).name === trackNodes.name) palette.use(posesOf(renderer, other), renderer);
    });
    const shown = variant.parts ? part().w.toVar() : null;
    const sum = (jointMatrix: (joint: Node<'int'>) => Rows) => {
      const rows = paletteMatrix(jointMatrix, variant.influences, shown);
      return placed ? rows : multiplyRows(jointMatrix(unplacingColumn()), rows);
    };
    const rows = sum((joint) => palette.rows(joint));
    if (morph && variant.morphs) clipMorphs(crowd).add((target) => palette.influence(target));
    return {
      rows,
      // From the morphed position: influences of the frame before are not read.
      previous: () => ({ rows: palette.rowsBefore(instance.toVar(), rows, sum) }),
      unplacing: () => palette.rows(unplacingColumn()),
    };
  },
};

/** Behind all else stands the inverse of the instance's matrix. */
const unplacingColumn = (): Node<'int'> => int(drawStride());

const sources: NodeSource[] = [trackNodes];

/** Lets node materials pose crowds of more pose sources. */
export function registerNodeSource(...added: NodeSource[]): void {
  for (const source of added) if (!sources.includes(source)) sources.push(source);
}

/**
 * What poses a crowd in node materials.
 *
 * @throws If its pose source has no twin for them.
 */
export function nodeSourceOf(crowd: DrawnCrowd): NodeSource {
  const { name } = sourceOf(crowd);
  for (let i = 0; i < sources.length; i++) if (sources[i].name === name) return sources[i];
  throw new Error(
    `WebGPURenderer cannot draw poses of the source "${name}"; import what makes them from 'skinned-instanced-mesh/webgpu' or 'skinned-instanced-mesh/vertex-textures/webgpu'.`,
  );
}
