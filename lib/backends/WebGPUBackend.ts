import type { DataTexture, Material, Matrix4, Object3D, Scene, Skeleton } from 'three';
import {
  dot,
  Fn,
  instancedMesh,
  instanceIndex,
  int,
  ivec2,
  materialReference,
  morphReference,
  normalLocal,
  OnObjectUpdate,
  positionLocal,
  positionPrevious,
  reference,
  subBuild,
  tangentLocal,
  vec3,
  vec4,
} from 'three/tsl';
import { type Node, type NodeBuilder, NodeMaterial } from 'three/webgpu';
import type { Rows } from '../../shaders/encodings/matrix.tsl.js';
import { type ShaderVariant, variantOf } from '../../shaders/ShaderVariant.js';
import { type DrawNodes, type PlaybackNodes, skinningMatrix } from '../../shaders/skinningMatrix.tsl.js';
import { type TexelNode, texels } from '../../shaders/TexelNode.js';
import {
  PARAM_CLOCK,
  PARAM_PREVIOUS_CLOCK,
  PARAM_ROWS,
  PARAM_SHADOW_VARIANT,
  PARAM_STRIDE,
  PARAM_VARIANT,
} from '../constants.js';
import { INSTANCES_PER_ROW } from '../playback/instanceLayout.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { warnOnce } from '../utils/warnOnce.js';
import type { NodeBackend } from './nodeBackend.js';

/** What this backend reads of a crowd; the mesh itself lies in a layer below. */
export interface NodeCrowd extends Object3D {
  isSkinnedInstancedMesh: true;
  boneTexture: BoneTexture;
  playbackTexture: DataTexture;
  bindMatrix: Matrix4;
  skeleton: Skeleton;
}

type SetupPosition = (this: NodeMaterial, builder: NodeBuilder) => Node;

interface Posable extends Material {
  setupPosition?: SetupPosition;
}

const isCrowd = (object: Object3D | null): object is NodeCrowd =>
  (object as NodeCrowd | null)?.isSkinnedInstancedMesh === true;

/**
 * Poses crowds under WebGPURenderer, on WebGPU and on WebGL 2, by a `setupPosition` of the materials' own that asks
 * whose object is being built. Nothing global is changed, and other meshes of the material are built as ever.
 */
export const webGPUBackend: NodeBackend = {
  prepare(object: Object3D, scene: Scene, material: Material): void {
    const crowd = object as NodeCrowd;
    // Part of the key by which builds are shared: crowds of other variants, and plain meshes, get builds of their own.
    const key =
      crowd.bindMatrix.elements[PARAM_VARIANT] * 16 + crowd.bindMatrix.elements[PARAM_SHADOW_VARIANT] + 1;
    if (crowd.skeleton.bones.length !== key) crowd.skeleton.bones.length = key;

    teach(material);
    if (scene.overrideMaterial) teach(scene.overrideMaterial);
  },
};

function teach(material: Posable): void {
  if (Object.hasOwn(material, 'setupPosition')) return;
  if ((material as unknown as NodeMaterial).vertexNode) {
    warnOnce(
      `SkinnedInstancedMesh: material "${material.name}" has a vertexNode, which takes the place of posing; use positionNode to add to it.`,
    );
  }
  // Enumerable: a plain material becomes a node material by a copy of its enumerable properties.
  material.setupPosition = setupPosition;
}

const setupPosition: SetupPosition = function setupPositionOfCrowd(
  this: NodeMaterial,
  builder: NodeBuilder,
): Node {
  const { object } = builder as unknown as { object: Object3D | null };
  if (!isCrowd(object)) return NodeMaterial.prototype.setupPosition.call(this, builder) as unknown as Node;
  return setupCrowd(this, builder, object);
};

/** What `NodeMaterial.setupPosition` does for an instanced mesh, with our skinning in the place where three.js's is. */
function setupCrowd(material: NodeMaterial, builder: NodeBuilder, crowd: NodeCrowd): Node {
  const { geometry } = crowd as unknown as { geometry: { morphAttributes: Record<string, unknown> } };
  const { position, normal, color } = geometry.morphAttributes;
  if (position || normal || color) morphReference(crowd as never);

  const shadow = (material as unknown as { isShadowPassMaterial?: boolean }).isShadowPassMaterial === true;
  const code = crowd.bindMatrix.elements[shadow ? PARAM_SHADOW_VARIANT : PARAM_VARIANT];
  skinCrowd(crowd, builder, variantOf(code));

  if ((material as unknown as { displacementMap: unknown }).displacementMap) {
    const map = materialReference('displacementMap', 'texture') as unknown as Node<'vec4'>;
    const scale = materialReference('displacementScale', 'float') as unknown as Node<'float'>;
    const bias = materialReference('displacementBias', 'float') as unknown as Node<'float'>;
    positionLocal.addAssign(normalLocal.normalize().mul(map.x.mul(scale).add(bias)));
  }

  instancedMesh(crowd as never);

  if (material.positionNode !== null) {
    positionLocal.assign(subBuild(material.positionNode, 'POSITION', 'vec3') as never);
  }
  return positionLocal;
}

interface Build {
  needsPreviousData(): boolean;
  hasGeometryAttribute(name: string): boolean;
}

function skinCrowd(crowd: NodeCrowd, builder: NodeBuilder, variant: ShaderVariant): void {
  const { needsPrevious, hasNormal, hasTangent } = {
    needsPrevious: (builder as unknown as Build).needsPreviousData(),
    hasNormal: (builder as unknown as Build).hasGeometryAttribute('normal'),
    hasTangent: (builder as unknown as Build).hasGeometryAttribute('tangent'),
  };

  const skin = Fn(() => {
    const { boneTexture, playback, draw, previous } = crowdNodes(crowd);

    if (needsPrevious) {
      const rows = skinningMatrix(boneTexture, playback, previous, variant);
      positionPrevious.assign(transform(rows, vec4(positionPrevious, 1)));
    }

    const rows = skinningMatrix(boneTexture, playback, draw, variant);
    positionLocal.assign(transform(rows, vec4(positionLocal, 1)));
    if (hasNormal) {
      normalLocal.assign(transform(rows, vec4(normalLocal, 0)));
      if (hasTangent) tangentLocal.assign(transform(rows, vec4(tangentLocal, 0)));
    }
  }, 'void');
  skin();
}

function transform([row0, row1, row2]: Rows, vector: Node<'vec4'>): Node<'vec3'> {
  return vec3(dot(row0, vector), dot(row1, vector), dot(row2, vector));
}

interface CrowdNodes {
  boneTexture: TexelNode;
  playback: PlaybackNodes;
  draw: DrawNodes;
  previous: DrawNodes;
}

/** The textures and parameters of whichever crowd is drawn: a build may be shared by several. */
function crowdNodes(crowd: NodeCrowd): CrowdNodes {
  const boneTexture = texels(crowd.boneTexture);
  const states = texels(crowd.playbackTexture);
  OnObjectUpdate(({ object }: { object: Object3D | null }) => {
    if (!isCrowd(object)) return;
    boneTexture.value = object.boneTexture;
    states.value = object.playbackTexture;
  });

  const index = int(instanceIndex).toVar();
  const x = index.bitAnd(INSTANCES_PER_ROW - 1).mul(2);
  const y = index.shiftRight(Math.log2(INSTANCES_PER_ROW));
  const at = ivec2(x, y).toVar();
  const playback = {
    clip: states.texel(at).toVar(),
    timing: states.texel(at.add(ivec2(1, 0))).xy.toVar(),
  };

  const parameters = reference('bindMatrix', 'mat4', undefined as never) as unknown as {
    element(i: number): Node<'vec4'>;
  };
  const parameter = (i: number): Node<'float'> => {
    const column = parameters.element(i >> 2);
    return [column.x, column.y, column.z, column.w][i & 3];
  };
  const common = { rows: parameter(PARAM_ROWS), stride: parameter(PARAM_STRIDE) };
  return {
    boneTexture,
    playback,
    draw: { ...common, clock: parameter(PARAM_CLOCK) },
    previous: { ...common, clock: parameter(PARAM_PREVIOUS_CLOCK) },
  };
}
