import type { ArrayCamera, Camera, InstancedMesh, Material, Object3D, Scene, WebGLRenderer } from 'three';
import {
  FIRST_LISTED,
  PARAM_LISTED,
  PARAM_LOOKS_UP,
  PARAM_SHADOW_VARIANT,
  PARAM_VARIANT,
  UNEVEN_INSTANCES,
  UNEVEN_PARTS,
} from '../../constants.js';
import type { Backend } from '../../core/Backend.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { CrowdSkeleton, Draw, DrawState } from '../../core/CrowdSkeleton.js';
import { goesByInstanceLayers, readsView, rootOf } from '../../core/drawnCrowds.js';
import { eachUpload, updateColors } from '../../core/instancePlaces.js';
import type { CrowdMesh } from '../../crowd/CrowdMesh.js';
import type { CameraView } from '../../culling/CrowdViews.js';
import type { PoseRequest, View } from '../../culling/InstanceList.js';
import { releaseBuffers } from '../../utils/attributes.js';
import { setDrawParameters } from '../drawParameters.js';
import { glslSourceOf, hasGLSLSource } from './glslSources.js';
import { MatrixTexture } from './MatrixTexture.js';
import { knowsLists, levelGLSL, type PatchRole, patchMaterial, releaseVariant } from './patchMaterial.js';
import { syncShadowMaterial } from './syncShadowMaterial.js';
import { runPasses } from './WebGLPosePass.js';
import type { WebGLPoses } from './WebGLPoses.js';

const NAME = 'SkinnedInstancedMesh';

/** The crowds that were drawn in the last frame of a scene, or draw in the one that has begun. */
type DrawnTogether = Set<DrawnCrowd> & { frame: number };

/** Draws in the middle of each other. */
const MAX_DRAWS = 8;

/** Poses crowds under WebGLRenderer, in materials that are patched by `onBeforeCompile`. */
export const webGLBackend: Backend = {
  isWebGL: true,
  prepare(target, crowd, scene, camera, material, group) {
    const renderer = target as WebGLRenderer;
    if ((material as { isNodeMaterial?: boolean }).isNodeMaterial === true) {
      throw new Error(
        `${NAME}: WebGLRenderer cannot pose a crowd in a node material ("${material.name || material.type}"); use WebGPURenderer, with forceWebGL: true if need be.`,
      );
    }
    crowd.isSkinnedMesh = true;
    const { views } = crowd;
    // Materials are made for how instances are scaled, which is known otherwise where cameras ask what they see.
    if (!views.isWatched && !views.groups.uneven) views.updateGroups();
    patch(crowd, material, 'color', crowd.bindMatrix.elements[PARAM_VARIANT]);
    beginDraw(crowd, { renderer, scene, camera, lodCamera: lodCameraOf(renderer, camera), material, group });
  },

  prepareShadow(target, crowd, camera, lodCamera, material, group) {
    const renderer = target as WebGLRenderer;
    // three.js has just given it the maps of what casts the shadow, one of which may be a texture array.
    if (material === crowd.customDepthMaterial || material === crowd.customDistanceMaterial) {
      syncShadowMaterial(renderer, material);
      patch(crowd, material, 'shadow', crowd.bindMatrix.elements[PARAM_SHADOW_VARIANT]);
    }
    beginDraw(crowd, { renderer, scene: null, camera, lodCamera, material, group });
  },

  update: updateDraw,
  beginFrame,
  endDraw,
  endAllDraws,
  release: releaseMaterials,
};

/** Crowds that were drawn. */
const held = /*@__PURE__*/ new Set<WeakRef<DrawnCrowd>>();

/** Has crowds start anew when a context is lost: browsers warn of each thing that is freed in the next one. */
function freeHeld(): void {
  for (const ref of held) {
    const crowd = ref.deref();
    if (!crowd) continue;
    releaseBuffers(crowd.geometry, [crowd.instanceMatrix, crowd.instanceColor]);
    crowd.views.groups.crowd.places.dispose();
    crowd.views.dropViews();
    // Poses go with what is played.
    eachUpload(crowd, 'disposePlain');
  }
}

function beginDraw(crowd: DrawnCrowd, draw: Draw): void {
  const { draws } = crowd.skeleton.drawn;
  // There are many where hooks in which draws end were replaced, and not called.
  if (draws.length === MAX_DRAWS) draws.length = 0;
  draws.push(draw);
  try {
    show(crowd, draw);
  } catch (error) {
    // three.js does not tell of its end then.
    draws.pop();
    throw error;
  }
}

/**
 * Lets the crowd be whole again once it was drawn; or as it was to be drawn, if that was in the middle of another draw. Call it
 * after each draw.
 */
function endDraw(crowd: DrawnCrowd): void {
  const { draws } = crowd.skeleton.drawn;
  const draw = draws.pop();
  if (draw) levelGLSL?.draw(crowd as CrowdMesh, draw);
  if (draws.length > 0) show(crowd, draws[draws.length - 1]);
}

/**
 * Lets the crowd be whole again where an error was thrown in the middle of its draw, such as by an `onBeforeCompile` of the user's:
 * three.js does not tell of the draw's end then. Call it when nothing is being drawn.
 */
function endAllDraws(crowd: DrawnCrowd): void {
  crowd.skeleton.drawn.draws.length = 0;
}

/** Has the crowd's shaders draw what a draw is to show. */
function show(crowd: DrawnCrowd, draw: Draw): void {
  const { renderer, scene, camera, lodCamera, material } = draw;
  const { skeleton, views, matrixWorld } = crowd;
  const { drawn } = skeleton;
  skeleton.drawnCount = null;
  const hasLists = readsLists(crowd, scene && material);
  // In shaders that know no lists, all are seen too.
  drawn.seen =
    drawn.viewed && hasLists
      ? views.of(
          camera,
          matrixWorld,
          renderer.info.render.frame,
          lodCamera,
          !scene,
          goesByInstanceLayers(crowd),
        )
      : null;
  const asked = drawn.seen && crowd.count <= crowd.visibility.count ? drawn.seen.alone : null;
  showSeen(crowd, draw, drawn.seen, prepareDraw(renderer, crowd, drawn, asked, true, hasLists));
}

/**
 * Has the shaders of a mesh draw what it draws of that which a camera sees.
 *
 * @param seen Null for all.
 */
export function showSeen(
  crowd: DrawnCrowd,
  { renderer, scene, material }: Draw,
  seen: CameraView | null,
  poses: WebGLPoses | null,
): void {
  const { skeleton, views, matrixWorld, list, count } = crowd;
  const isPart = count < crowd.visibility.count;
  // Of a list that is sorted, no first part has the first instances. In shadow maps the order is of no use.
  let view: View | null = null;
  if (seen) {
    view =
      scene && !isPart ? seen.inOrder(list, material.transparent, matrixWorld, views) : seen.of(list, isPart);
  }
  bindTextures(renderer, crowd, skeleton, poses, view);
  // An attachment may be told to show fewer instances than there are. Lists are in ascending order then.
  if (view !== null) skeleton.drawnCount = view.list.countBelow(count, view.count, view.start);
  // In shaders that know no lists, level 0 draws all instances, also those that are at another level.
  // One that is drawn at levels of its own is drawn at none where there are none.
  else if (crowd.isLevelMesh === true && (skeleton.drawn.viewed || list === 0)) skeleton.drawnCount = 0;
}

/**
 * Brings the parameters and materials of a crowd up to what it is now. Renderers look at materials before they
 * ask the crowd anything, so this is done whenever one of them has changed. Costs a look-up per material.
 */
export function updateDraw(crowd: DrawnCrowd): void {
  // A draw by WebGLRenderer throws the error.
  if (!hasGLSLSource(crowd)) return;
  const { drawn } = crowd.skeleton;
  drawn.viewed = readsView(crowd);
  drawn.isChecked = false;
  setDrawParameters(crowd);
  const { elements } = crowd.bindMatrix;
  const color = elements[PARAM_VARIANT];
  const shadow = elements[PARAM_SHADOW_VARIANT];
  const { codes } = drawn;
  if (codes?.color !== color || codes.shadow !== shadow) {
    releaseMaterials(crowd);
    drawn.codes = { color, shadow };
    crowd.skeleton.empty();
  }
  crowd.motions?.settle(crowd);
  const isNew = drawn.renderer === null;
  // Once a frame: without arrays of materials, which would have to be made.
  const { material, customDepthMaterial, customDistanceMaterial } = crowd;
  if (Array.isArray(material)) for (const one of material) patch(crowd, one, 'color', color, isNew);
  else if (material) patch(crowd, material, 'color', color, isNew);
  // Of shadow maps, each draw sees to it; but one may compile them ahead.
  if (!isNew) return;
  if (customDepthMaterial) patch(crowd, customDepthMaterial, 'shadow', shadow);
  if (customDistanceMaterial) patch(crowd, customDistanceMaterial, 'shadow', shadow);
}

/** By the object that is drawn with all below it. */
const scenes = /*@__PURE__*/ new WeakMap<Object3D, DrawnTogether>();

/**
 * Poses a crowd that was drawn before, at the beginning of a frame: in time for all its shadow maps and cameras, and while
 * nothing is being drawn into yet. With the first one all are posed that the frame before began with.
 */
function beginFrame(crowd: DrawnCrowd): void {
  const { drawn } = crowd.skeleton;
  const renderer = drawn.renderer?.deref();
  levelGLSL?.begin(crowd as CrowdMesh);
  if (renderer === undefined || drawn.shared) return;
  const { frame } = renderer.info.render;
  const root = rootOf(crowd);
  const crowds: DrawnTogether = scenes.get(root) ?? Object.assign(new Set<DrawnCrowd>(), { frame });
  scenes.set(root, crowds);
  const last = crowds.frame;
  crowds.frame = frame;
  if (last !== frame) {
    for (const other of crowds) {
      if (other.skeleton.drawn.frame !== last) crowds.delete(other);
      else poseAhead(renderer, other);
    }
  }
  crowds.add(crowd);
  drawn.frame = frame;
  poseAhead(renderer, crowd, true);
}

function poseAhead(renderer: WebGLRenderer, crowd: DrawnCrowd, isLast = false): void {
  const { drawn } = crowd.skeleton;
  try {
    const { views, matrixWorld } = crowd;
    const { frame } = renderer.info.render;
    const last = drawn.draws.at(-1);
    // Any of the meshes of a crowd has all posed; what it reads itself is brought up to date at its draw.
    if (glslSourceOf(crowd).poses && (views.posedAhead !== frame || last)) {
      prepareDraw(renderer, crowd, drawn, drawn.viewed ? views.expected(matrixWorld, frame) : null, false);
      views.posedAhead = frame;
    }
    if (isLast) runPasses(renderer, false);
    if (last) show(crowd, last);
  } catch {
    // The error comes up again right before the draw, where it can be told apart from those of other objects.
    drawn.shared = true;
  }
}

/**
 * Brings up to date what the crowd's shaders read.
 *
 * @param asked Whose instances are posed; null for all.
 * @param isDrawing Whether the renderer is in the middle of drawing, rather than at the beginning of a frame.
 * @param hasLists Whether the shaders know lists.
 */
function prepareDraw(
  renderer: WebGLRenderer,
  crowd: DrawnCrowd,
  drawn: DrawState,
  asked: readonly PoseRequest[] | null,
  isDrawing: boolean,
  hasLists = true,
): WebGLPoses | null {
  if (drawn.renderer?.deref() !== renderer) {
    // three.js does not say which renderer begins a frame: the crowd is posed right before each draw then.
    if (drawn.renderer) drawn.shared = true;
    else held.add(new WeakRef(crowd));
    for (const ref of held) if (!ref.deref()) held.delete(ref);
    drawn.renderer = new WeakRef(renderer);
    drawn.isChecked = false;
    renderer.domElement.addEventListener('webglcontextlost', freeHeld);
  }
  const matrices = matricesOf(crowd);
  matrices.update(renderer, hasLists);
  // First: what it changes is uploaded then.
  crowd.crowd.poseEdits?.update();
  updateColors(crowd);
  if (!drawn.isChecked) {
    checkTextureSizes(renderer.capabilities.maxTextureSize, crowd);
    eachUpload(crowd, 'prepare', renderer);
    drawn.isChecked = true;
  }
  const poses = glslSourceOf(crowd).poses?.(crowd) ?? null;
  poses?.update(renderer, crowd, asked, isDrawing, matrices);
  crowd.views.posed = poses?.count ?? 0;
  return poses;
}

/** Where the crowd's instances stand, as a texture. */
function matricesOf({ crowd: { places } }: DrawnCrowd): MatrixTexture {
  let matrices = places.follower as MatrixTexture | null;
  if (matrices?.attribute !== places.attribute) {
    matrices?.dispose();
    matrices = places.follower = new MatrixTexture(places, readsAttribute);
  }
  return matrices;
}

/** Whether a mesh of a crowd will be drawn in shaders that know no lists. */
function readsAttribute(mesh: InstancedMesh): boolean {
  const crowd = mesh as DrawnCrowd;
  const { overrideMaterial } = rootOf(crowd) as Scene;
  const materials = colorMaterials(crowd).concat(overrideMaterial ?? []);
  return !materials.every(knowsLists) || (crowd.castShadow && !readsLists(crowd, null));
}

/**
 * Lets a material pose the crowd.
 *
 * @param isNew Whether no renderer has drawn the crowd: one may compile it ahead.
 */
export function patch(
  crowd: DrawnCrowd,
  material: Material,
  role: PatchRole,
  code: number,
  isNew = false,
): void {
  const uneven = role === 'color' ? unevenOf(crowd) : 0;
  const patched = patchMaterial(material, role, code, uneven);
  if (isNew && patched !== null && patched.newest?.deref() !== crowd) patched.newest = new WeakRef(crowd);
}

const unevenOf = ({ views, geometry }: DrawnCrowd): number =>
  (views.groups.uneven ? UNEVEN_INSTANCES : 0) | (geometry.attributes.shadingJoint ? UNEVEN_PARTS : 0);

/** Puts what shaders read where three.js binds it, for a view of the crowd; null for all. */
function bindTextures(
  renderer: WebGLRenderer,
  crowd: DrawnCrowd,
  skeleton: CrowdSkeleton,
  poses: WebGLPoses | null,
  view: View | null,
): void {
  const { parts, instanceUniforms, motions } = crowd;
  const { colors } = crowd.texels;
  const { textures } = skeleton;
  const { list, start = 0 } = view ?? { list: crowd.views.everyone };
  const listed = poses?.rows.listed(list) ?? list;
  listed.texture.prepare(renderer);
  const { elements } = crowd.bindMatrix;
  elements[PARAM_LISTED] = FIRST_LISTED + listed.first + start;
  elements[PARAM_LOOKS_UP] = listed === list ? 0 : 1;
  (poses ?? glslSourceOf(crowd)).bindTextures?.(crowd, textures);
  textures.list = listed.texture.plain;
  textures.matrices = (crowd.crowd.places.follower as MatrixTexture).texture;
  if (parts !== null) textures.parts = parts.texture.plain;
  if (colors !== null) textures.colors = colors.texture.plain;
  if (instanceUniforms !== null) textures.uniforms = instanceUniforms.texture.plain;
  if (motions === null) return;
  motions.settle(crowd);
  textures.motion = motions.numbers;
  const { texture: seeds } = motions.seeds;
  if (seeds) textures.seeds = seeds.plain;
}

/**
 * Lets materials forget a crowd that is drawn no more, or not in these variants. Those that others took the place of do not: some
 * programs exchange materials in every frame, which shall look for no programs then.
 */
function releaseMaterials(crowd: DrawnCrowd): void {
  const { drawn } = crowd.skeleton;
  const { codes } = drawn;
  drawn.frame = -1;
  if (!codes) return;
  drawn.codes = undefined;
  for (const material of colorMaterials(crowd)) releaseVariant(material, codes.color);
  for (const material of shadowMaterials(crowd)) releaseVariant(material, codes.shadow);
}

function colorMaterials({ material }: DrawnCrowd): readonly Material[] {
  return [material ?? []].flat();
}

function shadowMaterials({ customDepthMaterial, customDistanceMaterial }: DrawnCrowd): Material[] {
  return [customDepthMaterial ?? [], customDistanceMaterial ?? []].flat();
}

/**
 * Once a frame, since any of the textures may have become another one.
 *
 * @param max Texels that a texture may have on a side.
 * @throws If this device cannot hold a texture of the crowd.
 */
function checkTextureSizes(max: number, crowd: DrawnCrowd): void {
  const { boneTexture, morphTexture, parts, playback } = crowd;
  boneTexture.checkSize(max);
  // Of uniforms and the like, a row has more instances.
  checkHeight(playback.texels.texture.rows, 'actions', max);
  checkHeight(morphTexture?.image.height, 'morph weights', max);
  checkHeight(parts?.texture.rows, 'parts', max);
}

function checkHeight(height: number | undefined, what: string, max: number): void {
  if ((height ?? 0) <= max) return;
  throw new Error(
    `${NAME}: ${what} of the instances need a texture of height ${height}, this device takes ${max}; split the crowd.`,
  );
}

/**
 * The camera that decides on levels of detail where a camera draws. Of a headset's eyes it is what both are part of, so that
 * they see the same.
 */
function lodCameraOf({ xr }: WebGLRenderer, camera: Camera): Camera {
  if (!xr.isPresenting) return camera;
  const head = xr.getCamera() as ArrayCamera;
  return head.cameras.includes(camera as ArrayCamera['cameras'][number]) ? head : camera;
}

/** Whether the shaders of a draw know lists. Those of shadow maps do unless three.js uses its own, where the crowd has none. */
function readsLists(
  { customDepthMaterial: depth, customDistanceMaterial: distance }: DrawnCrowd,
  material: Material | null,
): boolean {
  if (material) return knowsLists(material);
  return !!depth && !!distance && knowsLists(depth) && knowsLists(distance);
}
