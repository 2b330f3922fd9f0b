import type { Object3DEventMap } from 'three';
import type { Influences } from '../../shaders/ShaderVariant.js';
import type { Palette } from '../crowd/Palette.js';
import type { InstanceUniformTypes } from '../instances/UniformLayout.js';
import type { LayerOptions } from '../playback/LayerTable.js';
import type { FinishedEvent, LoopEvent, MarkerEvent } from '../playback/playbackEventTypes.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import type { CrowdAction } from './CrowdInstance.js';

/** How a mesh of a crowd is drawn. */
export interface DrawOptions {
  /** Joints that a vertex follows at most; its strongest are kept. @default 4 */
  influences?: Influences;
  /** The same in shadow maps, where two or one are often enough. @default influences */
  shadowInfluences?: Influences;
  /** Whether two baked frames are mixed; else the nearest is shown. @default true */
  interpolate?: boolean;
}

/** How a crowd is drawn, and on which layers its instances play. */
export interface SkinnedInstancedMeshOptions extends DrawOptions {
  /**
   * Layers over what instances play, up to four, each over those before it: `[{ name: 'upper', mask: ['Spine'] }]`. Clips are
   * played on them by `play(i, clip, { layer: 'upper' })`. They need encoding `'tracks'`. @default []
   */
  layers?: readonly LayerOptions[];
  /**
   * How the skinning matrices of instances are kept, with encoding `'tracks'`: `'exact'` in 48 bytes a joint, or `'compact'` in
   * 32, for which vertices read less and compute more, and are off by up to 3e-5 of the height. The WebGL 2 backend of
   * WebGPURenderer keeps exact ones either way.
   * @default 'exact'
   */
  palette?: Palette;
  /**
   * Numbers that each instance has for shaders of your own, by name: `{ dirt: 'float', glow: 'color' }`. At most 16 numbers; see
   * `setUniformAt`. What `setEmissiveAt` and the like set may be named too, `{ emissive: 'color', opacity: 'float' }`, so that
   * shaders know it from the first frame on, and are not compiled once more when it is first set. @default {}
   */
  uniforms?: InstanceUniformTypes;
}

/** Whose clip an event is about. */
export interface EventOfAction {
  /** The action that plays the clip, of an instance as an object; not there for what was played by index. */
  action?: CrowdAction;
}

/** Events of a crowd; none costs anything while nobody listens to it. */
export interface SkinnedInstancedMeshEventMap extends Object3DEventMap {
  /** An instance ran the last repetition of its clip, as `AnimationMixer` dispatches it. */
  finished: Omit<FinishedEvent, 'type'> & EventOfAction;
  /** An instance came to the end of its clip and begins anew; one event for all times in one update. */
  loop: Omit<LoopEvent, 'type'> & EventOfAction;
  /** An instance played past a marker that {@link BoneTexture.addMarker} put on its clip. */
  marker: Omit<MarkerEvent, 'type'> & EventOfAction;
  /** @deprecated Listen to `marker`. */
  mark: Omit<MarkerEvent, 'type'> & EventOfAction;
}
