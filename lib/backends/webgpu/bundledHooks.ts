import type { Camera, GeometryGroup, Group, Material, Scene, WebGLRenderer } from 'three';
import type { DrawFrame } from '../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { isCrowd, readsView } from '../../core/drawnCrowds.js';
import { warnOnce } from '../../utils/messages.js';
import { isInBundle, listsOnGPU, showsEveryone } from './drawnLists.js';

/** When the hook was last called for a camera and a material, and the part of the geometry that is drawn. */
type Called = WeakMap<Camera, WeakMap<Material, { frame: number; group: GeometryGroup | null }>>;

const called = /*@__PURE__*/ new WeakMap<DrawnCrowd, Called>();

/** Call it in `onBeforeRender`, with the material in which the crowd is drawn in the end. */
export function noteHook(
  frame: number,
  crowd: DrawnCrowd,
  camera: Camera,
  material: Material,
  group: GeometryGroup | null,
): void {
  const byCamera = called.get(crowd) ?? new WeakMap();
  const byMaterial = byCamera.get(camera) ?? new WeakMap();
  called.set(crowd, byCamera.set(camera, byMaterial));
  byMaterial.set(material, { frame, group });
}

/**
 * Calls `onBeforeRender` of a crowd in a `BundleGroup`: three.js calls it when it records the bundle, and not in the frames in which
 * it draws it again. Call it before each draw, see `OnBeforeObjectUpdate`.
 */
export function callMissedHook({ object, renderer, scene, camera, material }: DrawFrame): void {
  if (!isCrowd(object) || renderer === null || camera === null || material === null) return;
  const last = called.get(object)?.get(camera)?.get(material);
  // Where the hook has not been called for the material, the user has replaced it.
  if (last === undefined || !isInBundle(object)) return;
  const { info, _precompilationState } = renderer as unknown as {
    info: { frame: number };
    /** Not null while `compileAsync` builds what it has found, frames later. */
    _precompilationState: object | null;
  };
  if (_precompilationState !== null || last.frame === info.frame) return;
  if (readsView(object) && listsOnGPU(renderer, object) === null && !showsEveryone(object)) {
    warnOnce(
      'SkinnedInstancedMesh: a BundleGroup keeps how many instances it has recorded, and this crowd counts them in each frame; set its needsUpdate as often, or take the crowd out.',
    );
  }
  const { geometry } = object;
  object.onBeforeRender(
    renderer as WebGLRenderer,
    scene as Scene,
    camera,
    geometry,
    material,
    last.group as unknown as Group,
  );
}
