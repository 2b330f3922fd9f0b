import type { Vector4 } from 'three';
import {
  attribute,
  cameraViewMatrix,
  dot,
  modelWorldMatrix,
  normalGeometry,
  positionGeometry,
  select,
  vec3,
  vec4,
} from 'three/tsl';
import type { Node, NodeBuilder } from 'three/webgpu';
import type { MotionProgram, MotionStage } from '../../../shaders/MotionProgram.js';
import randomNodes from '../../../shaders/motion.glsl.js?nodes=randomGLSL';
import type { MatrixNode, MotionNodes, MovedNodes } from '../../../shaders/motion.tsl.js';
import type { ShaderVariant } from '../../../shaders/ShaderVariant.js';
import { inLayers, texels } from '../../../shaders/TexelNode.js';
import {
  buildOf,
  componentsNamed,
  type DrawFrame,
  objectUniform,
  vectorUniform,
  withColumns,
} from '../../../shaders/tsl.js';
import type { DrawnCrowd, MeshMotions } from '../../core/Crowd.js';
import { isCrowd } from '../../core/drawnCrowds.js';
import { InstanceTexture } from '../../instances/InstanceTexture.js';
import { instanceNode, onCrowdUpdate } from './crowdNodes.js';
import type { FeatureNodes, PosedNodes } from './featureNodes.js';
import { posedNormal, posedPosition } from './NodeSource.js';
import { instanceMatrixNode, previousMatrixNode } from './placeCrowd.js';

/** What moves the vertices of a crowd in a build; null where nothing does. */
export function motionBuild(
  crowd: DrawnCrowd,
  builder: NodeBuilder,
  variant: ShaderVariant,
): ReturnType<FeatureNodes['InstanceMotions']> | null {
  const program = crowd.motions?.program;
  if (program === undefined || program.number !== variant.motion) return null;
  return { move: (pose, before) => moveVertex(program, crowd, builder, variant, pose, before) };
}

function moveVertex(
  program: MotionProgram,
  crowd: DrawnCrowd,
  builder: NodeBuilder,
  { parts }: ShaderVariant,
  pose: PosedNodes,
  before: boolean,
) {
  const build = buildOf(builder);
  const given = givenNodes(crowd, builder, before);
  const apply = (stage: MotionStage, position: Node<'vec3'>, normal: Node<'vec3'>) => {
    const moved = { position: position.toVar(), normal: normal.toVar() };
    for (const step of program.steps) {
      if (step.source.stage !== stage) continue;
      const result = moveBy(step, { ...given, ...moved });
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
  const shown = parts ? select(size.greaterThan(0), shift, vec3(0)) : shift;
  return {
    shift: [first.position.sub(positionGeometry), shown],
    turn: [first.normal.sub(normal), last.normal.sub(facing)],
  } as const;
}

/** What all motions of a build are given. Each is built when it is first asked for. */
function givenNodes(crowd: DrawnCrowd, builder: NodeBuilder, before: boolean) {
  const build = buildOf(builder);
  const matrix = (): MatrixNode =>
    withColumns(before ? previousMatrixNode(crowd, builder) : instanceMatrixNode(crowd, builder));
  const vectors = new Map<number, Node<'vec4'>>();
  return {
    /** Four of the numbers that shaders are told. */
    numbers: (index: number): Node<'vec4'> => {
      const known = vectors.get(index) ?? vectorUniform(before ? beforeAt(index) : nowAt(index));
      vectors.set(index, known);
      return known;
    },
    color: (): Node<'vec4'> => (build.hasGeometryAttribute('color') ? attribute('color', 'vec4') : vec4(0)),
    random: (): Node<'float'> => randomNode(crowd, builder),
    instance: (): Node<'int'> => instanceNode(crowd, builder),
    instanceMatrix: matrix,
    worldMatrix: (): MatrixNode => withColumns(modelWorldMatrix.mul(matrix())),
  };
}

type Given = ReturnType<typeof givenNodes> & { position: Node<'vec3'>; normal: Node<'vec3'> };

function moveBy(
  { source: { name, tsl }, places, timeAt }: MotionProgram['steps'][number],
  given: Given,
): MovedNodes {
  if (tsl === undefined) {
    throw new Error(
      `The motion "${name}" has no \`tsl\`, which WebGPURenderer needs; add it where the motion is defined.`,
    );
  }
  const uniforms: Record<string, Node> = {};
  const numbers = (at: number, size: number) =>
    componentsNamed<Node>(given.numbers(at >> 2), 'xyzw'.slice(at & 3, (at & 3) + size));
  for (const { name: uniform, type, at } of places) {
    const size = type === 'color' ? 3 : type === 'float' ? 1 : Number(type[3]);
    uniforms[uniform] = numbers(at, size);
  }
  const vertex = {
    position: given.position,
    normal: given.normal,
    get color() {
      return given.color();
    },
    get time() {
      return numbers(timeAt, 1);
    },
    get random() {
      return given.random();
    },
    get instance() {
      return given.instance();
    },
    get instanceMatrix() {
      return given.instanceMatrix();
    },
    modelMatrix: withColumns(modelWorldMatrix),
    get worldMatrix() {
      return given.worldMatrix();
    },
    viewMatrix: withColumns(cameraViewMatrix),
    attribute: (attributeName: string) => attribute(attributeName, 'vec3'),
    uniforms,
    vec3,
  };
  return tsl(vertex as unknown as MotionNodes<never>);
}

/** Stands for the seeds of a crowd in which no instances were exchanged. */
let noSeeds: InstanceTexture | null = null;

function randomNode(crowd: DrawnCrowd, builder: NodeBuilder): Node<'float'> {
  noSeeds ??= new InstanceTexture(1, 4);
  const none = noSeeds.layered;
  const seeds = texels(none);
  onCrowdUpdate(({ motions }) => {
    seeds.value = motions?.seeds.texture?.layered ?? none;
  });
  const areSwapped = objectUniform((frame) => (motionsOf(frame)?.seeds.areSwapped ? 1 : 0));
  const { motionRandom } = randomNodes<{ motionRandom(): Node<'float'> }>({
    areSwapped,
    CROWD_SEEDS: inLayers(seeds),
    instanceIndex: () => instanceNode(crowd, builder),
  });
  return motionRandom().toVar();
}

const motionsOf = ({ object }: DrawFrame): MeshMotions | null => (isCrowd(object) ? object.motions : null);

const nowAt = (index: number) => (frame: DrawFrame, vector: Vector4) => {
  const numbers = motionsOf(frame)?.numbers;
  if (numbers !== undefined) vector.fromArray(numbers, index * 4);
};

const beforeAt = (index: number) => (frame: DrawFrame, vector: Vector4) => {
  const motions = motionsOf(frame);
  if (motions !== null) vector.fromArray(numbersBefore(motions, frame.frameId), index * 4);
};

const kept = /*@__PURE__*/ new WeakMap<
  MeshMotions,
  { frameId: number; now: Float32Array; before: Float32Array }
>();

/** The numbers of the frame drawn before, time and uniforms; to begin with, those of now. */
function numbersBefore(motions: MeshMotions, frameId: number): Float32Array {
  const { numbers } = motions;
  let last = kept.get(motions);
  if (last === undefined) {
    last = { frameId, now: numbers.slice(), before: numbers.slice() };
    kept.set(motions, last);
  }
  if (last.frameId !== frameId) {
    last.frameId = frameId;
    last.before.set(last.now);
    last.now.set(numbers);
  }
  return last.before;
}
