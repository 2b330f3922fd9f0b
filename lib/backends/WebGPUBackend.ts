import type {
  InstancedBufferAttribute,
  InstancedMesh,
  Material,
  Matrix4,
  Object3D,
  Scene,
  Skeleton,
} from 'three';
import {
  dot,
  Fn,
  instanceIndex,
  int,
  materialColor,
  materialReference,
  morphReference,
  normalGeometry,
  normalLocal,
  OnAfterObjectUpdate,
  OnObjectUpdate,
  positionGeometry,
  positionLocal,
  positionPrevious,
  reference,
  referenceAttribute,
  subBuild,
  tangentLocal,
  transformNormal,
  uniform,
  varying,
  varyingProperty,
  vec3,
  vec4,
} from 'three/tsl';
import type { Node, NodeBuilder, NodeMaterial } from 'three/webgpu';
import type { Rows } from '../../shaders/encodings/matrix.tsl.js';
import { morphTargets } from '../../shaders/morphTargets.tsl.js';
import { instancePart, partMapOffset } from '../../shaders/parts.tsl.js';
import { type ShaderVariant, VARIANT_CODES, variantOf } from '../../shaders/ShaderVariant.js';
import {
  type DrawNodes,
  type PlaybackNodes,
  type SlotNodes,
  skinningMatrix,
} from '../../shaders/skinningMatrix.tsl.js';
import { type TexelNode, texels } from '../../shaders/TexelNode.js';
import {
  PARAM_CLOCK,
  PARAM_MORPH_TEXEL,
  PARAM_ROWS,
  PARAM_SHADOW_VARIANT,
  PARAM_STRIDE,
  PARAM_VARIANT,
} from '../constants.js';
import type { InstancePlayback } from '../playback/InstancePlayback.js';
import type { InstanceTexture } from '../playback/InstanceTexture.js';
import { INSTANCES_PER_ROW, OLDER_STRIDE, OLDEST, SLOT_STRIDE } from '../playback/instanceLayout.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { warnOnce } from '../utils/warnOnce.js';
import type { NodeBackend } from './nodeBackend.js';

/** What this backend reads of a crowd; the mesh itself lies in a layer below. */
export interface NodeCrowd extends InstancedMesh {
  isSkinnedInstancedMesh: true;
  clock: number;
  elapsed: number;
  previousInstanceMatrix: InstancedBufferAttribute | null;
  boneTexture: BoneTexture;
  playback: InstancePlayback;
  /** Which parts of instances are shown and in what colour; null until one is not as it came. */
  parts: { texture: InstanceTexture } | null;
  bindMatrix: Matrix4;
  skeleton: Skeleton;
}

type SetupPosition = (this: NodeMaterial, builder: NodeBuilder) => Node;

type SetupDiffuseColor = (this: NodeMaterial, builder: NodeBuilder) => void;

interface Posable extends Material {
  setupPosition?: SetupPosition;
  setupDiffuseColor?: SetupDiffuseColor;
}

const isCrowd = (object: Object3D | null): object is NodeCrowd =>
  (object as NodeCrowd | null)?.isSkinnedInstancedMesh === true;

/** The build key with which a material last drew a crowd. */
const drawnKeys = /*@__PURE__*/ new WeakMap<Object3D, WeakMap<Material, number>>();

/**
 * Poses crowds under WebGPURenderer, on WebGPU and on WebGL 2, by a `setupPosition` of the materials' own that asks
 * whose object is being built. Nothing global is changed, and other meshes of the material are built as ever.
 */
export const webGPUBackend: NodeBackend = {
  prepare(renderer: object, object: Object3D, scene: Scene, material: Material): void {
    const crowd = object as NodeCrowd;
    checkTextureSize(renderer as Renderer, crowd);
    // Part of the key by which builds are shared: crowds of other variants, and plain meshes, get builds of their own;
    // so does a crowd once its instances have colours or influences, which the renderer looks for only when it builds.
    const { elements } = crowd.bindMatrix;
    const precision = crowd.boneTexture.precision === 'half' ? 1 : 0;
    const own = (crowd.instanceColor === null ? 0 : 2) + (crowd.morphTexture === null ? 0 : 4);
    const variants = elements[PARAM_VARIANT] * VARIANT_CODES + elements[PARAM_SHADOW_VARIANT];
    const key = variants * 8 + own + precision + 1;
    crowd.skeleton.bones.length = key;

    teach(crowd, material, key);
    if (scene.overrideMaterial) teach(crowd, scene.overrideMaterial, key);
  },
};

function teach(crowd: NodeCrowd, material: Posable, key: number): void {
  if ((material as unknown as NodeMaterial).vertexNode) {
    warnOnce(
      `SkinnedInstancedMesh: material "${material.name}" has a vertexNode, which says itself where vertices are; use positionNode to add to the pose.`,
    );
  }
  // Enumerable: a plain material becomes a node material by a copy of its enumerable properties.
  if (!Object.hasOwn(material, 'setupPosition')) {
    material.setupPosition = setupPosition;
    material.setupDiffuseColor = setupDiffuseColor;
  }

  let keys = drawnKeys.get(crowd);
  if (keys === undefined) {
    keys = new WeakMap();
    drawnKeys.set(crowd, keys);
  }
  const last = keys.get(material);
  if (last === key) return;
  // The renderer looks at keys of what it has built only when the material's version has moved.
  if (last !== undefined) material.needsUpdate = true;
  keys.set(material, key);
}

interface Renderer {
  backend: {
    device?: { limits: { maxTextureDimension2D: number } };
    gl?: WebGL2RenderingContext;
  };
}

const checkedRenderers = /*@__PURE__*/ new WeakMap<BoneTexture, WeakSet<object>>();

function checkTextureSize(renderer: Renderer, { boneTexture }: NodeCrowd): void {
  let checked = checkedRenderers.get(boneTexture);
  if (checked?.has(renderer)) return;
  checked ??= new WeakSet();
  checkedRenderers.set(boneTexture, checked);
  checked.add(renderer);

  const { device, gl } = renderer.backend;
  boneTexture.checkSize(device?.limits.maxTextureDimension2D ?? gl?.getParameter(gl.MAX_TEXTURE_SIZE));
}

const setupPosition: SetupPosition = function setupPositionOfCrowd(
  this: NodeMaterial,
  builder: NodeBuilder,
): Node {
  const { object } = builder as unknown as { object: Object3D | null };
  if (isCrowd(object)) return setupCrowd(this, builder, object);
  return (Object.getPrototypeOf(this) as { setupPosition: SetupPosition }).setupPosition.call(this, builder);
};

/** Lets the colour's map be looked up where the instance's part has it. */
const setupDiffuseColor: SetupDiffuseColor = function setupDiffuseColorOfCrowd(
  this: NodeMaterial,
  builder: NodeBuilder,
): void {
  const { object } = builder as unknown as { object: Object3D | null };
  const setup = (Object.getPrototypeOf(this) as { setupDiffuseColor: SetupDiffuseColor }).setupDiffuseColor;
  const { colorNode } = this;
  const { map } = this as unknown as { map?: unknown };
  if (isCrowd(object) && map && colorNode === null && variantFor(this, object).parts) {
    const part = partNode(object, variantFor(this, object));
    const inVertexStage = Fn(() => partMapOffset(part())) as unknown as () => Node<'vec2'>;
    const offset = varying(inVertexStage());
    const getUV = (texture: { getDefaultUV(): Node<'vec2'> }) => texture.getDefaultUV().add(offset);
    this.colorNode = (materialColor as unknown as { context(context: object): Node<'vec4'> }).context({
      getUV,
    });
  }
  setup.call(this, builder);
  this.colorNode = colorNode;
};

/** What `NodeMaterial.setupPosition` does for an instanced mesh, with our skinning in the place where three.js's is. */
function setupCrowd(material: NodeMaterial, builder: NodeBuilder, crowd: NodeCrowd): Node {
  const { position, normal, color } = crowd.geometry.morphAttributes;
  if (position || normal || color) morphReference(morphsOf(crowd) as never);

  const variant = variantFor(material, crowd);
  const part = partNode(crowd, variant);
  skinCrowd(crowd, builder, variant, part);

  if ((material as unknown as { displacementMap: unknown }).displacementMap) {
    const map = materialReference('displacementMap', 'texture') as unknown as Node<'vec4'>;
    const scale = materialReference('displacementScale', 'float') as unknown as Node<'float'>;
    const bias = materialReference('displacementBias', 'float') as unknown as Node<'float'>;
    positionLocal.addAssign(normalLocal.normalize().mul(map.x.mul(scale).add(bias)));
  }

  // Before the instance's matrix, which stands where a SkinnedMesh has its own: so the node means what it means there.
  if (material.positionNode !== null) {
    positionLocal.assign(subBuild(material.positionNode, 'POSITION', 'vec3') as never);
  }
  placeCrowd(crowd, builder, part);
  return positionLocal;
}

/**
 * What three.js's morphing shall look at: influences of each instance, where there are any, however many instances are
 * drawn. Where it has both, it also updates the array of shared ones, which then was never built.
 */
function morphsOf(crowd: NodeCrowd): object {
  if (crowd.morphTexture === null) return crowd;
  return Object.create(crowd, { count: { value: 2 }, morphTargetInfluences: { value: undefined } });
}

function variantFor(material: NodeMaterial, crowd: NodeCrowd): ShaderVariant {
  const shadow = (material as unknown as { isShadowPassMaterial?: boolean }).isShadowPassMaterial === true;
  return variantOf(crowd.bindMatrix.elements[shadow ? PARAM_SHADOW_VARIANT : PARAM_VARIANT]);
}

/**
 * Applies the instances' matrices and colours. three.js's own way counts every attribute of the geometry, read or not,
 * and for small crowds may send all matrices anew each frame; it also leaves tangents unturned.
 */
function placeCrowd(crowd: NodeCrowd, builder: NodeBuilder, part: PartNode): void {
  const build = builder as unknown as Build;
  const place = Fn(() => {
    const matrix = referenceAttribute('instanceMatrix', 'mat4') as unknown as Node<'mat4'>;
    positionLocal.assign(matrix.mul(vec4(positionLocal, 1)).xyz);
    if (build.hasGeometryAttribute('normal'))
      normalLocal.assign(transformNormal(normalLocal, matrix as never) as never);
    if (build.hasGeometryAttribute('tangent')) tangentLocal.assign(matrix.mul(vec4(tangentLocal, 0)).xyz);

    if (build.needsPreviousData()) {
      OnAfterObjectUpdate(({ object }: { object: Object3D | null }) => {
        if (isCrowd(object)) keepMatrices(object);
      });
      keepMatrices(crowd);
      const previous = referenceAttribute('previousInstanceMatrix', 'mat4') as unknown as Node<'mat4'>;
      positionPrevious.assign(previous.mul(vec4(positionPrevious, 1)).xyz);
    }

    if (crowd.instanceColor !== null) {
      const color = referenceAttribute('instanceColor', 'vec3') as unknown as Node<'vec3'>;
      varyingProperty('vec3', 'vInstanceColor').assign(color.mul(part().xyz) as never);
    }
  }, 'void');
  place();
}

/** Remembers the matrices that were drawn, for the next frame's motion vectors. */
function keepMatrices(crowd: NodeCrowd): void {
  const { instanceMatrix } = crowd;
  if (crowd.previousInstanceMatrix?.count !== instanceMatrix.count) {
    crowd.previousInstanceMatrix?.dispose();
    const copy = instanceMatrix.clone() as InstancedBufferAttribute;
    copy.version = instanceMatrix.version;
    crowd.previousInstanceMatrix = copy;
  } else if (crowd.previousInstanceMatrix.version !== instanceMatrix.version) {
    crowd.previousInstanceMatrix.array.set(instanceMatrix.array);
    crowd.previousInstanceMatrix.version = instanceMatrix.version;
  }
}

interface Build {
  needsPreviousData(): boolean;
  hasGeometryAttribute(name: string): boolean;
}

function skinCrowd(crowd: NodeCrowd, builder: NodeBuilder, variant: ShaderVariant, part: PartNode): void {
  const build = builder as unknown as Build;
  const skin = Fn(() => {
    const { boneTexture, playback, draw, previous } = crowdNodes(crowd, part);

    // Morph targets that clips move, on top of those that three.js has applied.
    const morphs = variant.morphs ? morphTargets(crowd.geometry) : null;
    if (morphs !== null) {
      OnObjectUpdate(({ object }: { object: Object3D | null }) => {
        if (isCrowd(object)) morphs.value.value = morphs.textureOf(object.geometry);
      });
    }
    const rows = skinningMatrix(boneTexture, playback, draw, variant, morphs?.add);

    if (build.needsPreviousData()) {
      // From the morphed position: three.js keeps no weights of the frame before.
      const before = skinningMatrix(boneTexture, playback, previous, variant);
      positionPrevious.assign(transform(before, vec4(positionLocal, 1)));
    }
    positionLocal.assign(transform(rows, vec4(positionLocal, 1)));
    if (build.hasGeometryAttribute('normal')) normalLocal.assign(transform(rows, vec4(normalLocal, 0)));
    if (build.hasGeometryAttribute('tangent')) tangentLocal.assign(transform(rows, vec4(tangentLocal, 0)));
  }, 'void');
  skin();
}

/** Builds on what is being built: the crowd's own nodes, or `otherwise` for any other object. */
function forCrowd(vector: Node<'vec4'>, otherwise: Node<'vec3'>): Node<'vec3'> {
  const skinned = Fn((_: unknown, builder: unknown) => {
    const { object, material } = builder as { object: Object3D | null; material: NodeMaterial };
    if (!isCrowd(object)) return otherwise;
    const variant = variantFor(material, object);
    const { boneTexture, playback, draw } = crowdNodes(object, partNode(object, variant));
    return transform(skinningMatrix(boneTexture, playback, draw, variant), vector);
  });
  return (skinned as unknown as () => Node<'vec3'>)();
}

/**
 * TSL building block: the geometry's position as the instance's pose has it, before the instance matrix, in whatever
 * node of the vertex stage asks for it. On other objects than crowds it is `positionGeometry`.
 *
 * ```ts
 * const material = new MeshBasicNodeMaterial();
 * // stripes that stick to the posed body, not to the world
 * material.colorNode = varying(skinnedInstancePosition()).y.mul(20).fract();
 * ```
 */
export function skinnedInstancePosition(): Node<'vec3'> {
  return forCrowd(vec4(positionGeometry, 1), positionGeometry as Node<'vec3'>);
}

/** TSL building block: the geometry's normal as the instance's pose has it, before the instance matrix; not normalised. */
export function skinnedInstanceNormal(): Node<'vec3'> {
  return forCrowd(vec4(normalGeometry, 0), normalGeometry as Node<'vec3'>);
}

function transform([row0, row1, row2]: Rows, vector: Node<'vec4'>): Node<'vec3'> {
  return vec3(dot(row0, vector), dot(row1, vector), dot(row2, vector));
}

/** A float of the draw's parameters. */
function drawParameter(i: number): Node<'float'> {
  const parameters = reference('bindMatrix', 'mat4', undefined as never) as unknown as {
    element(column: number): Node<'vec4'>;
  };
  const column = parameters.element(i >> 2);
  return [column.x, column.y, column.z, column.w][i & 3];
}

/** Reads colour and visibility of the vertex's part, of whichever crowd is drawn. */
type PartNode = () => Node<'vec4'>;

function partNode(crowd: NodeCrowd, { parts: wanted }: ShaderVariant): PartNode {
  if (!wanted || crowd.parts === null) return () => vec4(1) as Node<'vec4'>;
  const parts = texels(crowd.parts.texture.layered);
  return () => {
    OnObjectUpdate(({ object }: { object: Object3D | null }) => {
      if (isCrowd(object) && object.parts !== null) parts.value = object.parts.texture.layered;
    });
    return instancePart(parts, drawParameter).toVar();
  };
}

interface CrowdNodes {
  boneTexture: TexelNode;
  playback: PlaybackNodes;
  draw: DrawNodes;
  previous: DrawNodes;
}

/** The textures and parameters of whichever crowd is drawn: a build may be shared by several. */
function crowdNodes(crowd: NodeCrowd, part: PartNode): CrowdNodes {
  const boneTexture = texels(crowd.boneTexture);
  const states = texels(crowd.playback.state.layered);
  const fades = texels(crowd.playback.fades.layered);
  OnObjectUpdate(({ object }: { object: Object3D | null }) => {
    if (!isCrowd(object)) return;
    boneTexture.value = object.boneTexture;
    states.value = object.playback.state.layered;
    fades.value = object.playback.fades.layered;
  });

  const index = int(instanceIndex).toVar();
  const playback = {
    ...slotOf(states, index, SLOT_STRIDE, int(0)),
    older: (slot: Node<'int'>) => slotOf(fades, index, OLDER_STRIDE, slot.mul(OLDEST / 4)),
    part,
  };

  const common = {
    rows: drawParameter(PARAM_ROWS),
    stride: drawParameter(PARAM_STRIDE),
    morphTexel: int(drawParameter(PARAM_MORPH_TEXEL)),
  };
  return {
    boneTexture,
    playback,
    draw: { ...common, clock: drawParameter(PARAM_CLOCK) },
    previous: { ...common, clock: previousClock() },
  };
}

/** Reads a slot of an instance out of an `InstanceTexture`; `offset` in texels from where the instance begins. */
function slotOf(texture: TexelNode, index: Node<'int'>, stride: number, offset: Node<'int'>): SlotNodes {
  const x = index
    .bitAnd(INSTANCES_PER_ROW - 1)
    .mul(stride / 4)
    .add(offset);
  const row = index.shiftRight(Math.log2(INSTANCES_PER_ROW)).toVar();
  return { clip: texture.rowTexel(x, row).toVar(), timing: texture.rowTexel(x.add(1), row).toVar() };
}

interface DrawnClock {
  frameId: number;
  /** Seconds since the crowd was made, in the frame drawn and in the one before. */
  now: number;
  before: number;
}

const drawnClocks = /*@__PURE__*/ new WeakMap<Object3D, DrawnClock>();

/** The clock of the frame drawn before, however often the crowd was updated since, on the scale the clock has now. */
function previousClock(): Node<'float'> {
  return uniform(0).onObjectUpdate(({ object, frameId }: { object: Object3D | null; frameId: number }) => {
    if (!isCrowd(object)) return 0;
    const { clock, elapsed } = object;
    const drawn = drawnClocks.get(object);
    if (drawn === undefined) {
      drawnClocks.set(object, { frameId, now: elapsed, before: elapsed });
      return clock;
    }
    if (drawn.frameId !== frameId) {
      drawn.frameId = frameId;
      drawn.before = drawn.now;
      drawn.now = elapsed;
    }
    return drawn.before - elapsed + clock;
  }) as unknown as Node<'float'>;
}
