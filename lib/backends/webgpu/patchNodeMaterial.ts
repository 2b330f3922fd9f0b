import type { Material, Texture } from 'three';
import {
  cameraViewMatrix,
  Fn,
  mat3,
  modelNormalMatrix,
  modelViewMatrix,
  modelWorldMatrix,
  OnBeforeObjectUpdate,
  positionGeometry,
  positionLocal,
  positionWorld,
  varying,
  velocity,
} from 'three/tsl';
import { type Node, type NodeBuilder, NodeMaterial } from 'three/webgpu';
import { assignDrawnIndex, overrideDrawnIndex } from '../../../shaders/instanceIndex.tsl.js';
import type { ShaderVariant } from '../../../shaders/ShaderVariant.js';
import {
  buildOf,
  type DrawnMaterial,
  mat4Of,
  type OverrideNode,
  traverseNode,
  withColumns,
  withoutOverride,
} from '../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { isCrowd } from '../../core/drawnCrowds.js';
import { warnOnce } from '../../utils/messages.js';
import { callMissedHook } from './bundledHooks.js';
import { instanceNode, listOfBuild, onCrowdUpdate, partNode, variantFor, writeFade } from './crowdNodes.js';
import { readsDrawnIndex } from './drawnLists.js';
import { nodesOf } from './featureNodes.js';
import { overrideMaterial, surfaceNodes } from './materialOfCrowd.js';
import { posedPosition } from './NodeSource.js';
import { nodeSourceOf } from './nodeSources.js';
import { instanceMatrixNode, placeCrowd } from './placeCrowd.js';
import { poseCrowd, unplacingOf } from './poseCrowd.js';

/** The methods of a node material that are called here, or called in their place. */
interface Setup {
  setup(builder: NodeBuilder): void;
  setupPosition(builder: NodeBuilder): Node;
  setupOutput(builder: NodeBuilder, output: Node): Node;
}

/** The method that patched materials were given, to notice when the user sets another. */
const patched = /*@__PURE__*/ new WeakMap<Material, Setup['setup']>();

/**
 * Lets a material draw crowds: it gets a `setup` of its own, which does more if the object that is built for is a crowd. It calls what
 * the user has set there, or else the method of the material's class.
 */
export function patchNodeMaterial(material: Material): void {
  const own = Object.hasOwn(material, 'setup') ? (material as unknown as Setup).setup : undefined;
  if (own !== undefined && own === patched.get(material)) return;
  const setup = setupOfCrowd(own);
  // three.js tells builds apart by the text of such properties, and ours is the same for every material.
  Object.defineProperty(setup, 'toString', { value: () => `crowd ${own}` });
  patched.set(material, setup);
  // Enumerable: a plain material becomes a node material by a copy of its enumerable properties.
  Object.assign(material, { setup });
}

const setupOfCrowd = (user: Setup['setup'] | undefined): Setup['setup'] =>
  function setup(this: NodeMaterial, builder: NodeBuilder): void {
    const { object: crowd } = buildOf(builder);
    const original = user ?? (Object.getPrototypeOf(this) as Setup).setup;
    if (!isCrowd(crowd)) {
      original.call(this, builder);
      return;
    }
    const { setupPosition, setupOutput } = this as unknown as Setup;
    const members: Partial<Setup> = {
      ...surfaceNodes(this as DrawnMaterial, builder, crowd),
      setupPosition: () => setupCrowd(this, builder, crowd, setupPosition),
    };
    if (variantFor(this, crowd).fades) {
      // What a fragment is in the end, which it is not if another level of detail draws it.
      members.setupOutput = (_, output) => {
        nodesOf('CrowdLevels').discardFaded();
        return setupOutput.call(this, builder, output);
      };
    }
    withMembers(this, members, () => original.call(this, builder));
  };

/** Does something while an object has other members. */
function withMembers(object: object, members: object, action: () => void): void {
  const names = Object.keys(members);
  const before = names.map((name) => Object.getOwnPropertyDescriptor(object, name));
  Object.assign(object, members);
  try {
    action();
  } finally {
    names.forEach((name, i) => {
      const own = before[i];
      if (own === undefined) Reflect.deleteProperty(object, name);
      else Object.defineProperty(object, name, own);
    });
  }
}

/** The position as a SkinnedMesh has it in its own space: posed, before the instance's matrix. */
const positionPosed = /*@__PURE__*/ positionGeometry.toVarying('crowdPosition');

/**
 * Builds the position of a crowd's vertices. three.js's own `setupPosition`, or one of the user's that calls it, builds the
 * most of it; our skinning comes in between morph targets and displacement, where a SkinnedMesh has its own, and the
 * instance's matrix comes last.
 */
function setupCrowd(
  material: NodeMaterial,
  builder: NodeBuilder,
  crowd: DrawnCrowd,
  original: Setup['setupPosition'],
): Node {
  const building = buildOf(builder);
  const variant = variantFor(material, crowd);
  const part = partNode(crowd, variant, builder);
  OnBeforeObjectUpdate(callMissedHook);
  showLists(crowd, builder);
  readListedInstance(crowd, builder);
  const placed = isPlaced(material, crowd, variant, original);
  if (variant.fades) writeFade(crowd, builder);
  let posed = false;
  building.object = standInFor(crowd, () => {
    if (!posed) poseCrowd(crowd, builder, variant, part, placed);
    posed = true;
  });
  try {
    original.call(material, builder);
  } finally {
    building.object = crowd;
  }
  if (!posed) {
    warnOnce(
      `SkinnedInstancedMesh: the setupPosition of material "${material.name || material.type}" does not call that of NodeMaterial; let it return super.setupPosition(builder).`,
    );
  }
  if (!placed) positionPosed.assign(positionLocal);
  placeCrowd(crowd, builder, part, placed);
  meanPosedInFragments(crowd, builder, placed ? unplacedPosition(crowd, builder) : positionPosed);
  overrideMaterial(material, builder, crowd);
  return positionLocal;
}

/** Whether skinning matrices place vertices: nothing is done to these before they are placed. */
const isPlaced = (
  { positionNode, displacementMap }: DrawnMaterial & { displacementMap?: Texture | null },
  crowd: DrawnCrowd,
  { motion }: ShaderVariant,
  setupPosition: Setup['setupPosition'],
): boolean =>
  nodeSourceOf(crowd).posesOf !== undefined &&
  motion === 0 &&
  !positionNode &&
  !displacementMap &&
  setupPosition === (NodeMaterial.prototype as unknown as Setup).setupPosition;

/** Has each draw of a build show its list. Right before the draw: shadow maps are drawn after all that renderers call before it. */
function showLists(crowd: DrawnCrowd, builder: NodeBuilder): void {
  const list = listOfBuild(crowd, builder);
  onCrowdUpdate((drawn, renderer, frame) => {
    const rows = nodeSourceOf(drawn).posesOf?.(renderer, drawn).rows ?? null;
    list.show(drawn, frame, rows, readsDrawnIndex(drawn, builder));
  });
}

/** Lets three.js's own morphing and nodes of the user read the instance where they read the drawn index. */
function readListedInstance(crowd: DrawnCrowd, builder: NodeBuilder): void {
  const { context } = buildOf(builder);
  const read = Fn(() => assignDrawnIndex(instanceNode(crowd, builder)), 'void');
  read();
  context.overrideNodes = new Map(context.overrideNodes);
  overrideDrawnIndex(context.overrideNodes);
}

/**
 * Stands for a crowd while three.js sets up the position, without morph targets. At the point where three.js would skin a mesh it asks
 * whether the mesh is skinned: the stand-in calls `pose` then, and says no.
 */
function standInFor(crowd: DrawnCrowd, pose: () => void): DrawnCrowd {
  const no = { value: false };
  const isSkinnedMesh = {
    get() {
      pose();
      return false;
    },
  };
  const geometry = { value: Object.create(crowd.geometry, { morphAttributes: { value: {} } }) };
  return Object.create(crowd, { isSkinnedMesh, isInstancedMesh: no, isCrowdMesh: no, geometry });
}

/** The same of a vertex that was placed as it was posed, in fragments that ask for it. */
function unplacedPosition(crowd: DrawnCrowd, builder: NodeBuilder): Node {
  const unplaced = Fn(() => posedPosition({ rows: unplacingOf(crowd, builder) }, positionLocal));
  return varying(unplaced() as unknown as Node<'vec3'>);
}

/** The instance's matrix, in fragments. */
function placeInFragments(crowd: DrawnCrowd, builder: NodeBuilder): Node<'mat4'> {
  const column = (i: number) =>
    varying(
      Fn(() => withColumns(instanceMatrixNode(crowd, builder)).element(i))() as unknown as Node<'vec4'>,
    );
  return mat4Of([0, 1, 2, 3].map(column));
}

/** Motion vectors need the position where the vertex is drawn, in both stages. */
const placedVelocity: OverrideNode = () =>
  [positionLocal, modelViewMatrix, modelWorldMatrix].reduce<Node>(withoutOverride, velocity);

/**
 * On a SkinnedMesh, `positionLocal` in fragments is the posed position without the object's matrix, and patterns and alpha
 * hashes made of it stay on the body. Here it would have the instance's matrix in it, so fragments get the position as it was
 * before that, and matrices of the object have it. What three.js derives from `positionLocal`, like `positionWorld`, it derives in the
 * vertex stage.
 */
function meanPosedInFragments(crowd: DrawnCrowd, builder: NodeBuilder, posed: Node): void {
  const { context, renderer } = buildOf(builder);
  const inFragments = (node: Node, mean: () => Node): [Node, OverrideNode] => [
    node,
    ({ shaderStage }) => (shaderStage === 'fragment' ? mean() : node),
  ];
  const matrix = () =>
    withoutOverride(modelWorldMatrix, modelWorldMatrix).mul(placeInFragments(crowd, builder));
  context.overrideNodes = new Map<Node, OverrideNode>([
    inFragments(positionLocal, () => posed),
    inFragments(modelWorldMatrix, matrix),
    inFragments(modelViewMatrix, () => cameraViewMatrix.mul(matrix())),
    inFragments(modelNormalMatrix, () => mat3(matrix()).inverse().transpose()),
    [velocity, placedVelocity],
    ...(context.overrideNodes ?? []),
  ]);
  // With high precision, three.js would derive the position for shadows in fragments.
  if (renderer.highPrecision) context.shadowPositionWorld ??= positionWorld;
}

function readsPosition(vertexNode: Node): boolean {
  let reads = false;
  traverseNode(vertexNode, (node) => {
    if (node === positionLocal) reads = true;
  });
  return reads;
}

/** Warns of a `vertexNode` that computes positions without reading `positionLocal`, where the pose is. */
export function checkVertexNode(material: Material): void {
  const { vertexNode } = material as DrawnMaterial;
  if (!vertexNode || readsPosition(vertexNode)) return;
  warnOnce(
    `SkinnedInstancedMesh: material "${material.name}" has a vertexNode, which places vertices itself; use positionNode to add to the pose.`,
  );
}
