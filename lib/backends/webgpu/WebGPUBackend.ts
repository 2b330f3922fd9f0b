import type { Camera, GeometryGroup, Material, Scene } from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { influencesCode } from '../../../shaders/ShaderVariant.js';
import type { DrawnMaterial } from '../../../shaders/tsl.js';
import { PARAM_SHADOW_VARIANT, PARAM_VARIANT } from '../../constants.js';
import type { Backend } from '../../core/Backend.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { readsView } from '../../core/drawnCrowds.js';
import { eachUpload, updateColors } from '../../core/instancePlaces.js';
import type { CameraView } from '../../culling/CrowdViews.js';
import type { ViewInfo } from '../../culling/ViewInfo.js';
import { warnOnce } from '../../utils/messages.js';
import { MAPS_CODES, mapsCode } from '../../utils/surfaceMaps.js';
import { setDrawParameters } from '../drawParameters.js';
import { noteHook } from './bundledHooks.js';
import { checkSizes, fitVertexBuffers, type NodeRenderer } from './checkLimits.js';
import { compileShadows } from './compileAhead.js';
import { isInBundle, listsOnGPU, lodCameraOf, seenBy, showsEveryone } from './drawnLists.js';
import { morphedGeometry } from './morphedGeometry.js';
import { nodeSourceOf } from './nodeSources.js';
import { computeWaiting } from './PoseSteps.js';
import { checkVertexNode, patchNodeMaterial } from './patchNodeMaterial.js';
import { isUneven } from './poseCrowd.js';
import { storedPlaces } from './StoredPlaces.js';
import type { WebGPUPoses } from './WebGPUPoses.js';

export { skinnedInstanceNormal, skinnedInstancePosition } from './poseCrowd.js';
export { instanceUniform } from './uniformNodes.js';

/** By crowd the build key of each material. */
const builds = /*@__PURE__*/ new WeakMap<DrawnCrowd, WeakMap<Material, number>>();

/** Short numbers for keys. */
const numbers = /*@__PURE__*/ new Map<number, number>();

/** More bones than skeletons have; few enough for an array of that length, which engines may make room for. */
const MAX_BONES = 4096;

interface Renderer extends NodeRenderer {
  library: { getMaterialNodeClass(type: string): unknown };
  info: { frame: number };
}

/**
 * Poses crowds under WebGPURenderer, on WebGPU and on WebGL 2. Materials get a `setup` of their own, which poses the
 * vertices if the object that is built for is a crowd. Nothing global is changed, and other meshes are built as before.
 */
export const webGPUBackend: Backend = {
  isWebGL: false,
  prepare(
    target: object,
    crowd: DrawnCrowd,
    scene: Scene,
    camera: Camera,
    material: Material,
    group: GeometryGroup | null,
  ): void {
    const renderer = target as Renderer;
    const override = scene.overrideMaterial as DrawnMaterial | null;
    const isShadowMap = override?.isShadowPassMaterial === true;
    if (crowd.castShadow && !isShadowMap) compileShadows(target as WebGPURenderer, scene, camera);
    crowd.geometry.indirect = null;
    prepareUploads(renderer, crowd);
    fitVertexBuffers(renderer, crowd);
    morphedGeometry(crowd.geometry);
    const { views } = crowd;
    // Materials are made for how instances are scaled, which is known otherwise where cameras ask what they see.
    if (!views.isWatched && !isUneven(crowd)) views.updateGroups();
    setDrawParameters(crowd);
    checkSizes(renderer, crowd);
    const isBundled = isInBundle(crowd);
    const isViewed = readsView(crowd);
    crowd.skeleton.drawn.viewed = isViewed && !(isBundled && showsEveryone(crowd));
    const lists = isViewed ? listsOnGPU(renderer, crowd) : null;
    if (lists === null && !isShadowMap) crowd.crowd.written?.warn(renderer.constructor.name);
    const last = override !== null && material.allowOverride ? override : material;
    if (isBundled) noteHook(renderer.info.frame, crowd, camera, last, group);
    crowd.isSkinnedMesh = isPosable(renderer, last);
    const isWritten = lists !== null && crowd.crowd.written !== null;
    const seen = isWritten ? null : pose(renderer, crowd, camera, isShadowMap);
    if (lists !== null) {
      const poses = seen === null ? (nodeSourceOf(crowd).posesOf?.(renderer, crowd) ?? null) : null;
      const lodCamera = lodCameraOf(renderer, camera, isShadowMap);
      lists.prepare(crowd, camera, lodCamera, last, group, poses);
    }
    if (isWritten) storedPlaces.of(renderer, crowd).update(crowd, renderer);
    updateColors(crowd);
    const key = keyOf(crowd, lists !== null, material);
    crowd.skeleton.bones.length = key;
    // three.js keeps what an override draws of each material apart, so that the material need not change the key.
    patch(crowd, last, last === material ? key : keyOf(crowd, lists !== null, last));
  },

  prepareShadow: prepareUploads,

  readView(renderer: object, crowd: DrawnCrowd, camera: Camera): Promise<ViewInfo> | null {
    return readsView(crowd) ? (listsOnGPU(renderer, crowd)?.read(crowd, camera) ?? null) : null;
  },
};

/** Whether only those are posed whom cameras see. */
const posesSeen = ({ skeleton, count, visibility }: DrawnCrowd): boolean =>
  skeleton.drawn.viewed === true && count <= visibility.count;

/** Poses those whom a camera sees. Returns what it sees; null where that is everyone. */
function pose(target: Renderer, crowd: DrawnCrowd, camera: Camera, isShadowMap: boolean): CameraView | null {
  const renderer = target as unknown as WebGPURenderer;
  const poses = nodeSourceOf(crowd).posesOf?.(renderer, crowd);
  if (poses !== undefined) poseAhead(renderer, poses, crowd);
  const seen = posesSeen(crowd) ? seenBy(renderer, crowd, camera, isShadowMap) : null;
  if (poses === undefined) storedPlaces.of(renderer, crowd).update(crowd, renderer);
  else poses.update(renderer, crowd, seen?.alone ?? null);
  crowd.views.posed = poses?.posedCount ?? 0;
  return seen;
}

const lastDrawn = /*@__PURE__*/ new WeakMap<
  WebGPURenderer,
  { frame: number; readonly crowds: Map<WebGPUPoses, DrawnCrowd> }
>();

/** Poses all crowds that were drawn in the frame before, at the first draw of a frame, in one submission. Call it before each draw. */
function poseAhead(renderer: WebGPURenderer, poses: WebGPUPoses, crowd: DrawnCrowd): void {
  let last = lastDrawn.get(renderer);
  if (last === undefined) {
    last = { frame: -1, crowds: new Map() };
    lastDrawn.set(renderer, last);
  }
  const { crowds } = last;
  const { frame } = renderer.info;
  if (frame !== last.frame) {
    last.frame = frame;
    try {
      crowds.forEach((one, its) => {
        if (one.views.owned.has(its)) poseExpected(renderer, its, one);
      });
    } finally {
      crowds.clear();
      computeWaiting(renderer);
    }
  }
  if (!crowds.has(poses)) crowds.set(poses, crowd);
}

/** Has those posed whom cameras are likely to see of a crowd in the frame that has begun. */
function poseExpected(renderer: WebGPURenderer, poses: WebGPUPoses, crowd: DrawnCrowd): void {
  if (crowd.crowd.written !== null) return;
  const { views, matrixWorld } = crowd;
  const expected = posesSeen(crowd) ? views.expected(matrixWorld, renderer.info.frame) : null;
  if (expected?.length !== 0) poses.update(renderer, crowd, expected, true);
}

/** A renderer that has not got all of a texture must not be sent a part of it. */
function prepareUploads(renderer: object, crowd: DrawnCrowd): void {
  eachUpload(crowd, 'prepare', renderer);
  crowd.motions?.settle(crowd);
}

/**
 * A number that is part of the key by which three.js shares builds, so that crowds of other variants, and plain meshes, get
 * builds of their own. So does a crowd once its instances have colours or influences: three.js looks for those only when it
 * builds.
 */
function keyOf(crowd: DrawnCrowd, culledOnGPU: boolean, material: Material): number {
  const { elements } = crowd.bindMatrix;
  let key = elements[PARAM_VARIANT] * 3 + influencesCode(elements[PARAM_SHADOW_VARIANT]);
  key = key * 2 + (crowd.boneTexture.precision === 'half' ? 1 : 0);
  key = key * 2 + (crowd.instanceColor === null ? 0 : 1);
  key = key * 2 + (crowd.morphTexture === null ? 0 : 1);
  key = key * 2 + (culledOnGPU ? 1 : 0);
  key = key * 2 + (isUneven(crowd) ? 1 : 0);
  const { written } = crowd.crowd;
  key = key * 4 + (written?.places ? 1 : 0) + (written?.plays ? 2 : 0);
  key = key * MAPS_CODES + mapsCode(material);
  let number = numbers.get(key);
  if (number === undefined) {
    number = MAX_BONES + numbers.size + 1;
    numbers.set(key, number);
  }
  return number;
}

/**
 * Whether three.js has a node material for a material. It draws others in a plain one that no crowd can be posed in, and
 * says so in an error.
 */
function isPosable(renderer: Renderer, material: Material): boolean {
  if ((material as { isNodeMaterial?: boolean }).isNodeMaterial === true) return true;
  if (renderer.library.getMaterialNodeClass(material.type) !== null) return true;
  warnOnce(
    `SkinnedInstancedMesh: WebGPURenderer has no node material for ${material.type} "${material.name}"; use a NodeMaterial.`,
  );
  return false;
}

function patch(crowd: DrawnCrowd, material: Material, key: number): void {
  checkVertexNode(material);
  patchNodeMaterial(material);
  const keys = builds.get(crowd) ?? new WeakMap();
  builds.set(crowd, keys);
  const last = keys.get(material);
  if (last === key) return;
  // The renderer looks at keys of what it has built only when the material's version has moved.
  if (last !== undefined) material.needsUpdate = true;
  keys.set(material, key);
}
