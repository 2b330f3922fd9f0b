import type { Node, NodeBuilder } from 'three/webgpu';
import type { discardFaded, writeFade } from '../../../shaders/levelDissolve.tsl.js';
import type { dividedColor, partMapOffset } from '../../../shaders/parts.tsl.js';
import type { bodyNodes, CreatePoseEditNodes, layerNodes } from '../../../shaders/posePass.tsl.js';
import type { ShaderVariant } from '../../../shaders/ShaderVariant.js';
import type { Rows } from '../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';

/** What poses a vertex. */
export interface PosedNodes {
  /** The rows of the skinning matrix. */
  rows: Rows;
  /**
   * Of sources whose matrix holds for the vertex alone, the posed normal of the vertex. Then the matrix takes the
   * vertex to its posed position, and turns what differs from the vertex, or from its normal.
   */
  normal?: Node<'vec3'>;
}

/** Reads colour and visibility of the vertex's part, of whichever crowd is drawn. */
export type PartNode = () => Node<'vec4'>;

/** What node materials and the pose pass need for a feature. It comes with the feature's class: `lib/webgpu.ts` registers it. */
export interface FeatureNodes {
  AnimationLayers: typeof layerNodes;
  CrowdKinds: typeof bodyNodes;
  CrowdLevels: { writeFade: typeof writeFade; discardFaded: typeof discardFaded };
  /**
   * Twin of `moveVertex` in `motion.glsl.ts`; null where nothing moves vertices. Builds on the current stack.
   *
   * @param pose What poses the vertex.
   * @param before Whether that is of the frame before.
   */
  InstanceMotions: (
    crowd: DrawnCrowd,
    builder: NodeBuilder,
    variant: ShaderVariant,
    pose: PosedNodes,
    before: boolean,
  ) => {
    shift: readonly [Node<'vec3'>, Node<'vec3'>];
    turn: readonly [Node<'vec3'>, Node<'vec3'>];
  } | null;
  InstanceParts: {
    part(crowd: DrawnCrowd, builder: NodeBuilder): PartNode;
    mapOffset: typeof partMapOffset;
    color: typeof dividedColor;
  };
  JointEdits: CreatePoseEditNodes;
}

const registered: Partial<FeatureNodes> = {};

/** Lets WebGPURenderer draw crowds with features. */
export function registerNodes(nodes: Partial<FeatureNodes>): void {
  Object.assign(registered, nodes);
}

/** @throws If the page has the feature from the main entry, and not from the one for node materials. */
export function nodesOf<K extends keyof FeatureNodes>(name: K): FeatureNodes[K] {
  const nodes = registered[name];
  if (nodes !== undefined) return nodes as FeatureNodes[K];
  throw new Error(
    `WebGPURenderer draws ${name} of the entry 'skinned-instanced-mesh/webgpu': import ${name} from there.`,
  );
}
