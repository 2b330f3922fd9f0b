import { type GeometryGroup, type Material, type Scene, VSMShadowMap } from 'three';
import { levelDissolveGLSL } from '../../../shaders/levelDissolve.glsl.js';
import { PARAM_SHADOW_VARIANT, PARAM_VARIANT } from '../../constants.js';
import { rootOf } from '../../core/drawnCrowds.js';
import type { CrowdMesh } from '../../crowd/CrowdMesh.js';
import type { LevelMesh } from '../../features/levels/LevelMesh.js';
import { glslSourceOf } from './glslSources.js';
import type { LevelGLSL } from './patchMaterial.js';
import { patch, showSeen } from './WebGLBackend.js';

/**
 * Draws levels of detail that differ from their owner in nothing but geometry right after it, while what they read too is bound: that
 * takes less than objects of the scene do. three.js still finds them when it goes through the scene, and uploads their geometry.
 */
export const levelDraws: LevelGLSL = {
  fade: levelDissolveGLSL,

  begin(owner) {
    const { attachments, crowd, skeleton } = owner;
    const mesh = owner as LevelMesh;
    // three.js has uploaded its geometry by now.
    if (mesh.follows) mesh.follows = 2;
    // Other kinds of renderers do not draw levels so.
    const isShared = skeleton.drawn.shared || crowd.places.shared;
    for (let i = 0; i < attachments.length; i++) {
      const level = attachments[i] as LevelMesh;
      level.follows = !isShared && isAlike(level, owner) ? 1 : 0;
    }
  },

  draw(owner, draw) {
    const { attachments } = owner;
    const { seen } = owner.skeleton.drawn;
    const { renderer, scene, camera, material, group } = draw;
    const part = owner.geometry.groups.indexOf(group as GeometryGroup);
    for (let i = 0; seen !== null && i < attachments.length; i++) {
      const level = attachments[i] as LevelMesh;
      if (level.follows < 2 || !level.visible || seen.of(level.list).count === 0) continue;
      // Maps of variance have what receives shadows, too.
      const receives = level.receiveShadow && renderer.shadowMap.type === VSMShadowMap;
      if (!scene && !level.castShadow && !receives) continue;
      const { geometry, skeleton, modelViewMatrix, matrixWorld } = level;
      const { elements } = level.bindMatrix;
      // As three.js does for each object that it draws.
      modelViewMatrix.multiplyMatrices(camera.matrixWorldInverse, matrixWorld);
      level.normalMatrix.getNormalMatrix(modelViewMatrix);
      const run = (geometry.groups[part] ?? null) as never;
      if (scene) {
        material.onBeforeRender(renderer, scene, camera, geometry, level, run);
        patch(level, material, 'color', elements[PARAM_VARIANT]);
      } else patch(level, material, 'shadow', elements[PARAM_SHADOW_VARIANT]);
      showSeen(level, draw, seen, glslSourceOf(level).poses?.(level) ?? null);
      renderer.renderBufferDirect(camera, scene as Scene, geometry, material, level, run);
      skeleton.drawnCount = null;
    }
  },
};

/** What three.js, and whoever replaces a hook, may have otherwise. */
const SAME = [
  'renderOrder',
  'receiveShadow',
  'customDepthMaterial',
  'customDistanceMaterial',
  'onBeforeRender',
  'onAfterRender',
  'onBeforeShadow',
  'onAfterShadow',
] as const;

/** Whether nothing but the geometry of a level is another one, and it is drawn whenever its owner is. */
function isAlike(level: LevelMesh, owner: CrowdMesh): boolean {
  const { material, geometry } = level;
  if (
    level.attachments.length > 0 ||
    level.skeleton.drawn.renderer === null ||
    level.layers.mask !== owner.layers.mask ||
    (level.castShadow && !owner.castShadow) ||
    geometry.userData.lacks ||
    owner.geometry.userData.lacks ||
    (rootOf(owner) as Scene).overrideMaterial?.transparent
  )
    return false;
  for (let i = 0; i < SAME.length; i++) {
    const key = SAME[i];
    if (level[key] !== owner[key] || (key.startsWith('on') && Object.hasOwn(level, key))) return false;
  }
  // Transparent ones are drawn in an order, and some of them twice.
  if (!Array.isArray(material)) return material === owner.material && !material.transparent;
  const { groups } = geometry;
  const { groups: others } = owner.geometry;
  if (groups.length !== others.length) return false;
  for (let i = 0; i < groups.length; i++) {
    const { materialIndex: at = 0 } = groups[i];
    const one = material[at];
    if (at !== others[i].materialIndex || one !== (owner.material as Material[])[at] || one?.transparent)
      return false;
  }
  return true;
}
