import type { Material, Scene, Texture, WebGLRenderer } from 'three';
import { PARAM_ROWS, PARAM_VARIANT } from '../../constants.js';
import { INSTANCE_ATTRIBUTES } from '../../playback/instanceLayout.js';
import type { Backend } from '../Backend.js';
import type { DrawnCrowd } from '../DrawnCrowd.js';
import { isPosedByPass, setDrawParameters, type VariantCodes } from '../drawParameters.js';
import {
  COLOR_ATTRIBUTES,
  GLSL_ATTRIBUTES,
  MATRIX_ATTRIBUTES,
  ownVertexAttributes,
} from '../vertexLimits.js';
import { checkAttributes, type PatchRole, patchMaterial, releaseVariant } from './patchMaterial.js';
import { posesOf, WebGLPoses } from './WebGLPoses.js';

const NAME = 'SkinnedInstancedMesh';

/** What this backend remembers of a crowd. */
interface Drawn {
  /** The variants that materials were last patched for; null before the first time. */
  codes: VariantCodes | null;
  /** Who drew the crowd last, so that its poses can be ready before the frame's first shadow map. */
  renderer: WeakRef<WebGLRenderer> | null;
}

const known = /*@__PURE__*/ new WeakMap<DrawnCrowd, Drawn>();

function drawnOf(crowd: DrawnCrowd): Drawn {
  let drawn = known.get(crowd);
  if (drawn === undefined) {
    drawn = { codes: null, renderer: null };
    known.set(crowd, drawn);
  }
  return drawn;
}

/** Poses crowds under WebGLRenderer, in materials that are patched by `onBeforeCompile`. */
export const webGLBackend: Backend = {
  prepare(target: object, crowd: DrawnCrowd, _scene: Scene, material: Material): void {
    const renderer = target as WebGLRenderer;
    if ((material as { isNodeMaterial?: boolean }).isNodeMaterial === true) {
      throw new Error(
        `${NAME}: WebGLRenderer cannot pose a crowd in a node material ("${material.name || material.type}"), not with a nodes handler either; use WebGPURenderer, with forceWebGL: true if need be.`,
      );
    }
    prepareUploads(renderer, crowd);
    crowd.isSkinnedMesh = true;
    pose(renderer, crowd);
    patch(crowd, material, 'color', crowd.bindMatrix.elements[PARAM_VARIANT]);
    checkAttributes(renderer, material, crowd.geometry, instanceAttributes(crowd));
  },

  prepareShadow(target: object, crowd: DrawnCrowd): void {
    const renderer = target as WebGLRenderer;
    prepareUploads(renderer, crowd);
    pose(renderer, crowd);
  },
};

/**
 * Brings the parameters, textures and materials of a crowd up to what it is now. Renderers look at materials before they
 * ask the crowd anything, so this is done whenever one of them has changed. Costs a look-up per material.
 */
export function updateDraw(crowd: DrawnCrowd): void {
  const drawn = drawnOf(crowd);
  const posedByPass = isPosedByPass(crowd);
  const codes = setDrawParameters(crowd, posedByPass ? WebGLPoses.columnsOf(crowd) : 0);
  const last = drawn.codes;
  if (last !== null && (last.color !== codes.color || last.shadow !== codes.shadow)) release(crowd, last);
  drawn.codes = codes;
  if (!posedByPass) {
    const { fades } = crowd.playback;
    const parts = crowd.parts?.texture ?? fades;
    crowd.skeleton.setTextures(crowd.boneTexture, fades.plain, parts.plain);
  }
  for (const material of colorMaterials(crowd)) patch(crowd, material, 'color', codes.color);
  for (const material of shadowMaterials(crowd)) patch(crowd, material, 'shadow', codes.shadow);
}

/**
 * Poses a crowd that was drawn before, at the beginning of a frame: in time for all its shadow maps and cameras, and while
 * nothing is being drawn into yet.
 */
export function poseAhead(crowd: DrawnCrowd): void {
  const renderer = drawnOf(crowd).renderer?.deref();
  if (renderer === undefined || !isPosedByPass(crowd)) return;
  prepareUploads(renderer, crowd);
  pose(renderer, crowd);
}

/** Runs the pose pass, if there is one and its poses are not up to date. */
function pose(renderer: WebGLRenderer, crowd: DrawnCrowd): void {
  if (!isPosedByPass(crowd)) return;
  const drawn = drawnOf(crowd);
  if (drawn.renderer?.deref() !== renderer) drawn.renderer = new WeakRef(renderer);
  const poses = posesOf(crowd);
  const [row0, row1, row2] = poses.update(renderer, crowd);
  const { skeleton, parts } = crowd;
  crowd.bindMatrix.elements[PARAM_ROWS] = Math.log2(poses.perRow);
  if (parts === null) skeleton.setTextures(row0, row1, row2);
  else skeleton.setTextures(row0, row1, row2, parts.texture.plain);
}

/** Lets a material pose the crowd, and binds what its shaders then read. */
function patch(crowd: DrawnCrowd, material: Material, role: PatchRole, code: number): void {
  const posedByPass = isPosedByPass(crowd);
  const taken = ownVertexAttributes(crowd.geometry) + instanceAttributes(crowd) + INSTANCE_ATTRIBUTES.length;
  const slots = taken > GLSL_ATTRIBUTES && !posedByPass ? 'texture' : 'attributes';
  const made = patchMaterial(material, role, code, slots);
  if (made === null) return;
  if (made.slots === 'texture' && !posedByPass) crowd.skeleton.setSlots(crowd.playback.state.plain);
  crowd.skeleton.fill(made.textures);
}

/** Lets go of variants that the crowd drew with. */
function release(crowd: DrawnCrowd, { color, shadow }: VariantCodes): void {
  for (const material of colorMaterials(crowd)) releaseVariant(material, color);
  for (const material of shadowMaterials(crowd)) releaseVariant(material, shadow);
}

function colorMaterials({ material }: DrawnCrowd): readonly Material[] {
  return Array.isArray(material) ? material : material ? [material] : [];
}

function shadowMaterials({ customDepthMaterial, customDistanceMaterial }: DrawnCrowd): Material[] {
  return [customDepthMaterial, customDistanceMaterial].filter((material) => material !== undefined);
}

/** Vertex attributes that matrices and colours take. */
function instanceAttributes({ instanceColor }: DrawnCrowd): number {
  return MATRIX_ATTRIBUTES + (instanceColor === null ? 0 : COLOR_ATTRIBUTES);
}

/** A renderer that has not got all of a texture must not be sent a part of it. */
function prepareUploads(renderer: WebGLRenderer, crowd: DrawnCrowd): void {
  checkTextureSizes(renderer.capabilities.maxTextureSize, crowd);
  const { properties } = renderer;
  const has = (texture: Texture) =>
    (properties.get(texture) as { __webglTexture?: unknown }).__webglTexture !== undefined;
  crowd.playback.state.prepare(renderer, has);
  crowd.playback.fades.prepare(renderer, has);
  crowd.parts?.texture.prepare(renderer, has);
}

/**
 * Asked in every frame, since any of the textures may have become another one.
 *
 * @param max Texels that a texture may have on a side.
 * @throws If this device cannot hold a texture of the crowd.
 */
function checkTextureSizes(max: number, { boneTexture, morphTexture, parts }: DrawnCrowd): void {
  boneTexture.checkSize(max);
  if (morphTexture !== null) checkHeight(morphTexture, 'morph weights', max);
  if (parts !== null) checkHeight(parts.texture.plain, 'parts', max);
}

function checkHeight({ image }: { image: { height: number } }, what: string, max: number): void {
  if (image.height <= max) return;
  throw new Error(
    `${NAME}: ${what} of the instances need a texture of height ${image.height}, this device takes ${max}; split the crowd.`,
  );
}
