import { If, int, uniform } from 'three/tsl';
import type { Node, NodeBuilder, WebGPURenderer } from 'three/webgpu';
import { drawParameter } from '../../../shaders/drawSlots.tsl.js';
import { jointRows, multiplyRows } from '../../../shaders/palette.tsl.js';
import { layeredOf, texels } from '../../../shaders/TexelNode.js';
import { assignAll, componentsOf, variablesOf } from '../../../shaders/tsl.js';
import { sourceOf } from '../../animation/PoseSource.js';
import { PARAM_MORPH_TEXEL, PARAM_STRIDE } from '../../constants.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { onCrowdUpdate, rowNode } from './crowdNodes.js';
import type { RowsNodes } from './MatrixRows.js';
import type { NodeSource } from './NodeSource.js';
import { type WebGPUPoses, webGPUPoses } from './WebGPUPoses.js';

/** Twin of `lib/animation/trackSource.ts`: a pass poses each instance once, and vertices read what it has written. */
const trackNodes: NodeSource = {
  name: 'tracks',
  posesOf: (renderer, crowd) => webGPUPoses.of(renderer, crowd),

  skinningMatrix({ crowd, build, variant, instance, follow, shown, placed }) {
    const own = webGPUPoses.of(build.renderer, crowd);
    const reader = own.palette.nodes(false);
    let takeBefore: ((poses: WebGPUPoses, renderer: object) => void) | null = null;
    onCrowdUpdate((other, renderer) => {
      if (sourceOf(other).name !== trackNodes.name) return;
      const poses = webGPUPoses.of(renderer, other);
      reader.use(poses.palette);
      takeBefore?.(poses, renderer);
    });
    // Behind all else stands the inverse of the instance's matrix.
    const last = int(drawParameter(PARAM_STRIDE)).toVar();
    const at = (row: Node<'int'>, column: Node<'int'>) => row.mul(last.add(1)).add(column).toVar();
    const rowsAt = (from: RowsNodes, row: Node<'int'>) => {
      const read = (column: Node<'int'>) => from.read(at(row, column));
      const rows = shown(() => jointRows(follow, read));
      return placed ? rows : multiplyRows(read(last), rows);
    };
    const row = rowNode(crowd, build as unknown as NodeBuilder);
    const rows = rowsAt(reader, row);
    const influence = (target: Node<'int'>) => {
      const [four] = reader.read(at(row, int(drawParameter(PARAM_MORPH_TEXEL)).add(target.shiftRight(2))));
      return componentsOf(four).element(target.bitAnd(3));
    };
    return {
      rows,
      influence: variant.morphs ? influence : null,
      unplacing: () => reader.read(at(row, last)),
      // From the morphed position: influences of the frame before are not read.
      previous() {
        const { keptPoses } = own;
        const before = keptPoses.palette.nodes(false);
        const places = texels(layeredOf(keptPoses.texture));
        const count = uniform(0, 'int');
        takeBefore = ({ keptPoses: kept }, renderer) => {
          before.use(kept.palette);
          places.value = layeredOf(kept.texture);
          count.value = kept.countIn((renderer as WebGPURenderer).info.frame);
        };
        const then = int(places.instanceTexels(instance.toVar(), 1, int(0), 1)[0].x).toVar();
        // The same as now, of instances that were not there then, or have not moved.
        const result = variablesOf(rows);
        If(then.lessThan(count), () => {
          assignAll(result, rowsAt(before, then));
        });
        return { rows: result };
      },
    };
  },
};

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
