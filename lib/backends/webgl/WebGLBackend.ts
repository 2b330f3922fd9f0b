import type { Camera, Material, Scene, WebGLRenderer } from 'three';
import {
  PARAM_LISTED,
  PARAM_SHADOW_VARIANT,
  PARAM_VARIANT,
  TEXTURE_MATRICES,
  TEXTURE_PARTS,
  TEXTURE_SEEDS,
  TEXTURE_UNIFORMS,
  TEXTURE_VIEW,
} from '../../constants.js';
import type { View } from '../../views/View.js';
import type { Backend } from '../Backend.js';
import type { DrawnCrowd } from '../DrawnCrowd.js';
import { setDrawParameters, type VariantCodes } from '../drawParameters.js';
import { updateMatrices } from '../instancePlaces.js';
import { ownInstanced, warnNotCulled } from '../ownInstanced.js';
import { COLOR_ATTRIBUTES, MATRIX_ATTRIBUTES } from '../vertexLimits.js';
import { type Draw, drawnOf } from './Drawn.js';
import { glslSourceOf } from './glslSources.js';
import { hasTexture } from './hasTexture.js';
import { drawnCount, lookFor, viewerOf } from './lookFor.js';
import { checkAttributes, type PatchRole, patchMaterial, releaseVariant } from './patchMaterial.js';
import { refreshShadow } from './refreshShadow.js';

const NAME = 'SkinnedInstancedMesh';

/** Frames after which a material that another has taken the place of forgets the crowd. */
const PATIENCE = 60;

/** Poses crowds under WebGLRenderer, in materials that are patched by `onBeforeCompile`. */
export const webGLBackend: Backend = {
  isWebGL: true,
  prepare(target: object, crowd: DrawnCrowd, _scene: Scene, camera: Camera, material: Material): void {
    const renderer = target as WebGLRenderer;
    if ((material as { isNodeMaterial?: boolean }).isNodeMaterial === true) {
      throw new Error(
        `${NAME}: WebGLRenderer cannot pose a crowd in a node material ("${material.name || material.type}"), not with a nodes handler either; use WebGPURenderer, with forceWebGL: true if need be.`,
      );
    }
    crowd.isSkinnedMesh = true;
    patch(crowd, material, 'color', crowd.bindMatrix.elements[PARAM_VARIANT]);
    checkAttributes(renderer, material, crowd.geometry, instanceAttributes(crowd));
    beginDraw(crowd, renderer, camera, viewerOf(renderer, camera), material);
  },

  prepareShadow(target: object, crowd: DrawnCrowd, camera: Camera, viewer: Camera, material: Material): void {
    // three.js has just given it the maps of what casts the shadow, one of which may be a texture array.
    if (material === crowd.customDepthMaterial || material === crowd.customDistanceMaterial) {
      refreshShadow(target as WebGLRenderer, material);
      patch(crowd, material, 'shadow', crowd.bindMatrix.elements[PARAM_SHADOW_VARIANT]);
    }
    beginDraw(crowd, target as WebGLRenderer, camera, viewer, null);
  },

  update: updateDraw,
  beginFrame: poseAhead,
  endDraw,
  endAllDraws,
  leaveMaterials,
  release: releaseMaterials,
};

function beginDraw(
  crowd: DrawnCrowd,
  renderer: WebGLRenderer,
  camera: Camera,
  viewer: Camera,
  material: Material | null,
): void {
  const { draws } = drawnOf(crowd);
  const draw = draws.begin(renderer, camera, viewer, material);
  try {
    show(crowd, draw);
  } catch (error) {
    // three.js does not tell of its end then.
    draws.end();
    throw error;
  }
}

/**
 * Lets the crowd be whole again once it was drawn; or as it was to be drawn, if that was in the middle of another draw. Call it
 * after each draw.
 */
function endDraw(crowd: DrawnCrowd): void {
  const drawn = drawnOf(crowd);
  const { draws } = drawn;
  draws.end();
  if (draws.last !== null) {
    show(crowd, draws.last);
    return;
  }
  showWhole(crowd);
}

/**
 * Lets the crowd be whole again where an error was thrown in the middle of its draw, such as by an `onBeforeCompile` of the user's:
 * three.js does not tell of the draw's end then. Call it when nothing is being drawn.
 */
function endAllDraws(crowd: DrawnCrowd): void {
  drawnOf(crowd).draws.clear();
  if (crowd.skeleton.drawnCount !== null) showWhole(crowd);
}

function showWhole(crowd: DrawnCrowd): void {
  crowd.skeleton.drawnCount = null;
  crowd.bindMatrix.elements[PARAM_LISTED] = 0;
  drawnOf(crowd).listed = null;
}

/** Has the crowd's shaders draw what a draw is to show. */
function show(crowd: DrawnCrowd, draw: Draw): void {
  const { skeleton } = crowd;
  skeleton.drawnCount = null;
  const view = lookFor(crowd, draw);
  prepareDraw(draw.renderer, crowd, view);
  skeleton.drawnCount = drawnCount(crowd, view);
}

/**
 * Brings the parameters, textures and materials of a crowd up to what it is now. Renderers look at materials before they
 * ask the crowd anything, so this is done whenever one of them has changed. Costs a look-up per material.
 */
function updateDraw(crowd: DrawnCrowd): void {
  const drawn = drawnOf(crowd);
  drawn.viewed = isViewed(crowd);
  setDrawParameters(crowd, drawn.viewed);
  const { elements } = crowd.bindMatrix;
  const color = elements[PARAM_VARIANT];
  const shadow = elements[PARAM_SHADOW_VARIANT];
  const { codes } = drawn;
  if (codes?.color !== color || codes.shadow !== shadow) {
    if (codes !== null) release(crowd, codes);
    drawn.codes = { color, shadow };
  }
  if (drawn.former.size > 0) releaseFormer(crowd);
  bindTextures(crowd);
  // Once a frame: without arrays of materials, which would have to be made.
  const { material, customDepthMaterial, customDistanceMaterial } = crowd;
  if (Array.isArray(material)) for (const one of material) patch(crowd, one, 'color', color);
  else if (material) patch(crowd, material, 'color', color);
  if (customDepthMaterial) patch(crowd, customDepthMaterial, 'shadow', shadow);
  if (customDistanceMaterial) patch(crowd, customDistanceMaterial, 'shadow', shadow);
}

/**
 * Poses a crowd that was drawn before, at the beginning of a frame: in time for all its shadow maps and cameras, and while
 * nothing is being drawn into yet.
 */
function poseAhead(crowd: DrawnCrowd): void {
  const drawn = drawnOf(crowd);
  const renderer = drawn.renderer?.deref();
  if (renderer === undefined || drawn.shared || glslSourceOf(crowd).update === undefined) return;
  try {
    const { viewed } = drawn;
    const { views, matrixWorld } = crowd;
    drawn.wanted = viewed ? views.expected(matrixWorld, renderer.info.render.frame) : null;
    prepareDraw(renderer, crowd, null);
    if (drawn.draws.last !== null) show(crowd, drawn.draws.last);
  } catch {
    // three.js does not say which renderer begins a frame, and only one that has begun can run a pass. The crowd is posed
    // right before each draw then; an error of another kind comes up again there.
    drawn.shared = true;
  }
}

/** Whether the crowd's own views say which instances this mesh draws. */
function isViewed({ views, geometry }: DrawnCrowd): boolean {
  if (!views.isUsed) return false;
  const own = ownInstanced(geometry);
  if (own !== null) warnNotCulled(own);
  return own === null;
}

/** Brings up to date what the crowd's shaders read. */
function prepareDraw(renderer: WebGLRenderer, crowd: DrawnCrowd, view: View | null): void {
  const drawn = drawnOf(crowd);
  if (drawn.renderer?.deref() !== renderer) drawn.renderer = new WeakRef(renderer);
  const listed = view !== null && !(view.isWhole ?? false) ? view : null;
  drawn.listed = listed;
  if (listed !== null) updateMatrices(crowd);
  else crowd.texels.matrices?.skip(crowd.instanceMatrix);
  crowd.bindMatrix.elements[PARAM_LISTED] = listed === null ? 0 : 1;
  // First: what it changes is uploaded then.
  crowd.crowd.poseEdits?.update();
  prepareUploads(renderer, crowd, listed);
  const source = glslSourceOf(crowd);
  source.update?.(renderer, crowd, drawn.wanted);
  crowd.views.posed = source.posedCount?.(renderer, crowd) ?? 0;
  bindTextures(crowd);
}

/** Lets a material pose the crowd, and binds what its shaders then read. */
function patch(crowd: DrawnCrowd, material: Material, role: PatchRole, code: number): void {
  const patched = patchMaterial(material, role, code);
  if (patched !== null) crowd.skeleton.fill(patched.textures.textures, patched.textures.integers);
}

/** Puts the textures that shaders read where three.js binds them. */
function bindTextures(crowd: DrawnCrowd): void {
  const { skeleton, parts, instanceUniforms, motions } = crowd;
  const { matrices } = crowd.texels;
  const { listed } = drawnOf(crowd);
  const { textures, integers } = skeleton;
  skeleton.empty(crowd.boneTexture);
  const source = glslSourceOf(crowd);
  source.bindTextures(crowd, textures);
  source.bindIntegers?.(crowd, integers);
  if (parts !== null) textures[TEXTURE_PARTS] = parts.texture.plain;
  if (listed !== null && matrices !== null) {
    textures[TEXTURE_MATRICES] = matrices.texture.plain;
    textures[TEXTURE_VIEW] = listed.list.texture.plain;
  }
  if (instanceUniforms !== null) textures[TEXTURE_UNIFORMS] = instanceUniforms.texture.plain;
  const seeds = motions?.seeds.texture;
  if (seeds) textures[TEXTURE_SEEDS] = seeds.plain;
  motions?.settle(crowd);
  skeleton.setMotion(motions?.numbers);
  skeleton.fill(0, 0);
}

/** Call when other materials take the place of a crowd's. They may come back: some programs exchange them in every frame. */
function leaveMaterials(crowd: DrawnCrowd): void {
  const { former } = drawnOf(crowd);
  for (const material of colorMaterials(crowd)) former.set(material, PATIENCE);
}

/** Lets materials that have not come back for a while forget the crowd. */
function releaseFormer(crowd: DrawnCrowd): void {
  const { former, codes } = drawnOf(crowd);
  const current = colorMaterials(crowd);
  for (const [material, frames] of former) {
    former.set(material, frames - 1);
    if (frames > 0 && !current.includes(material)) continue;
    former.delete(material);
    if (codes !== null && !current.includes(material)) releaseVariant(material, codes.color);
  }
}

/** Lets materials forget a crowd that is drawn no more, or not with them. */
function releaseMaterials(crowd: DrawnCrowd): void {
  const drawn = drawnOf(crowd);
  if (drawn.codes !== null) release(crowd, drawn.codes);
  drawn.codes = null;
}

/** Lets go of variants that the crowd drew with. */
function release(crowd: DrawnCrowd, { color, shadow }: VariantCodes): void {
  const { former } = drawnOf(crowd);
  for (const material of [...colorMaterials(crowd), ...former.keys()]) releaseVariant(material, color);
  former.clear();
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
function prepareUploads(renderer: WebGLRenderer, crowd: DrawnCrowd, view: View | null): void {
  checkTextureSizes(renderer.capabilities.maxTextureSize, crowd);
  crowd.playback.prepare(renderer, hasTexture);
  const { poseEdits } = crowd.crowd;
  if (poseEdits !== null) for (const texture of poseEdits.textures) texture.prepare(renderer, hasTexture);
  crowd.parts?.texture.prepare(renderer, hasTexture);
  crowd.instanceUniforms?.texture.prepare(renderer, hasTexture);
  crowd.motions?.seeds.texture?.prepare(renderer, hasTexture);
  if (view === null) return;
  view.list.texture.prepare(renderer, hasTexture);
  crowd.texels.matrices?.texture.prepare(renderer, hasTexture);
}

/**
 * Asked in every frame, since any of the textures may have become another one.
 *
 * @param max Texels that a texture may have on a side.
 * @throws If this device cannot hold a texture of the crowd.
 */
function checkTextureSizes(max: number, crowd: DrawnCrowd): void {
  const { boneTexture, morphTexture, parts, instanceUniforms } = crowd;
  boneTexture.checkSize(max);
  if (morphTexture !== null) checkHeight(morphTexture, 'morph weights', max);
  if (parts !== null) checkHeight(parts.texture.plain, 'parts', max);
  if (instanceUniforms !== null) checkHeight(instanceUniforms.texture.plain, 'uniforms', max);
}

function checkHeight({ image }: { image: { height: number } }, what: string, max: number): void {
  if (image.height <= max) return;
  throw new Error(
    `${NAME}: ${what} of the instances need a texture of height ${image.height}, this device takes ${max}; split the crowd.`,
  );
}
