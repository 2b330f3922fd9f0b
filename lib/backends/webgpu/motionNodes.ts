import { Vector4 } from 'three';
import {
  attribute,
  cameraViewMatrix,
  dot,
  modelWorldMatrix,
  normalGeometry,
  positionGeometry,
  select,
  uniform,
  vec3,
  vec4,
} from 'three/tsl';
import type { Node, NodeBuilder } from 'three/webgpu';
import { MOTION_SWAPPED, type MotionProgram, type MotionStage } from '../../../shaders/MotionProgram.js';
import randomNodes from '../../../shaders/motion.glsl.js?nodes=randomGLSL';
import type { MatrixNode, MotionNodes, MovedNodes } from '../../../shaders/motion.tsl.js';
import { inLayers, layeredOf, texels } from '../../../shaders/TexelNode.js';
import { buildOf, numbersIn, withColumns } from '../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { InstanceTexture } from '../../instances/InstanceTexture.js';
import { sizeOf } from '../../instances/UniformLayout.js';
import { instanceNode, numbersBefore, onCrowdUpdate } from './crowdNodes.js';
import type { FeatureNodes } from './featureNodes.js';
import { posedNormal, posedPosition } from './NodeSource.js';
import { instanceMatrixNode, previousMatrixNode } from './placeCrowd.js';

/** Moves the vertices of a crowd in a build. */
export const moveVertex: FeatureNodes['InstanceMotions'] = (crowd, builder, variant, pose, before) => {
  const program = crowd.motions?.program;
  if (program === undefined || program.number !== variant.motion) return null;
  const build = buildOf(builder);
  const given = givenNodes(crowd, builder, before);
  const numbers = numbersOf(before);
  const apply = (stage: MotionStage, position: Node<'vec3'>, normal: Node<'vec3'>) => {
    const moved = { position: position.toVar(), normal: normal.toVar() };
    for (const step of program.steps) {
      if (step.source.stage !== stage) continue;
      const result = moveBy(step, numbers, moved, given);
      const { position: place, normal: facing } =
        'position' in result ? result : { ...moved, position: result };
      moved.position = place.toVar();
      moved.normal = facing.toVar();
    }
    return moved;
  };

  const normal = build.hasGeometryAttribute('normal') ? normalGeometry : vec3(0);
  const first = apply('beforeSkinning', positionGeometry, normal);
  const posed = posedPosition(pose, first.position).toVar();
  const facing = posedNormal(pose, first.normal).toVar();
  const last = apply('afterSkinning', posed, facing);
  const shift = last.position.sub(posed);
  // The vertices of a hidden part are all at one point, and must stay there.
  const size = pose.rows.map(({ xyz }) => dot(xyz, xyz)).reduce((sum, one) => sum.add(one));
  const shown = variant.parts ? select(size.greaterThan(0), shift, vec3(0)) : shift;
  return {
    shift: [first.position.sub(positionGeometry), shown],
    turn: [first.normal.sub(normal), last.normal.sub(facing)],
  };
};

/** What all motions of a build are given. Each is built when it is first asked for. */
function givenNodes(crowd: DrawnCrowd, builder: NodeBuilder, before: boolean) {
  const matrix = (): MatrixNode =>
    withColumns(before ? previousMatrixNode(crowd, builder) : instanceMatrixNode(crowd, builder));
  return {
    get color() {
      return buildOf(builder).hasGeometryAttribute('color') ? attribute('color', 'vec4') : vec4(0);
    },
    get random() {
      return randomNode(crowd, builder);
    },
    get instance() {
      return instanceNode(crowd, builder);
    },
    get instanceMatrix() {
      return matrix();
    },
    modelMatrix: withColumns(modelWorldMatrix),
    get worldMatrix() {
      return withColumns(modelWorldMatrix.mul(matrix()));
    },
    viewMatrix: withColumns(cameraViewMatrix),
    attribute: (name: string) => attribute(name, 'vec3'),
    vec3,
  };
}

/** Numbers that shaders are told, now or in the frame before. */
function numbersOf(before: boolean): (at: number, size: number) => Node {
  const vectors = new Map<number, Node<'vec4'>>();
  const vectorAt = (at: number) => {
    const vector = uniform(new Vector4());
    onCrowdUpdate(({ motions }, _renderer, { frameId }) => {
      if (motions === null) return;
      const { numbers } = motions;
      vector.value.fromArray(before ? numbersBefore(motions, numbers, frameId) : numbers, at);
    });
    return vector as unknown as Node<'vec4'>;
  };
  return (at, size) => {
    const first = at & ~3;
    const vector = vectors.get(first) ?? vectorAt(first);
    vectors.set(first, vector);
    return numbersIn<Node>(vector, at, size);
  };
}

function moveBy(
  { source: { name, tsl }, places, timeAt }: MotionProgram['steps'][number],
  numbers: ReturnType<typeof numbersOf>,
  moved: { position: Node<'vec3'>; normal: Node<'vec3'> },
  given: ReturnType<typeof givenNodes>,
): MovedNodes {
  if (tsl === undefined) {
    throw new Error(
      `The motion "${name}" has no \`tsl\`, which WebGPURenderer needs; add it where the motion is defined.`,
    );
  }
  const uniforms: Record<string, Node> = {};
  for (const { name: uniform, type, at } of places) uniforms[uniform] = numbers(at, sizeOf(type) as number);
  const vertex = { ...moved, time: numbers(timeAt, 1), uniforms };
  Object.defineProperties(vertex, Object.getOwnPropertyDescriptors(given));
  return tsl(vertex as unknown as MotionNodes<never>);
}

/** Stands for the seeds of a crowd in which no instances were exchanged. */
let noSeeds: InstanceTexture | null = null;

function randomNode(crowd: DrawnCrowd, builder: NodeBuilder): Node<'float'> {
  noSeeds ??= new InstanceTexture(1, 4);
  const none = layeredOf(noSeeds);
  const seeds = texels(none);
  onCrowdUpdate(({ motions }) => {
    const texture = motions?.seeds.texture;
    seeds.value = texture ? layeredOf(texture) : none;
  });
  const { motionRandom } = randomNodes<{ motionRandom(): Node<'float'> }>({
    areSwapped: numbersOf(false)(MOTION_SWAPPED, 1),
    CROWD_SEEDS: inLayers(seeds),
    instanceIndex: () => instanceNode(crowd, builder),
  });
  return motionRandom().toVar();
}
