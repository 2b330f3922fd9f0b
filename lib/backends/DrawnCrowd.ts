import type { InstancedMesh, Object3D } from 'three';
import type { Influences } from '../../shaders/ShaderVariant.js';
import type { ColorTexels } from '../instances/ColorTexels.js';
import type { InstanceMatrices } from '../instances/InstanceMatrices.js';
import type { InstanceMorphs } from '../instances/InstanceMorphs.js';
import type { InstanceParts } from '../instances/InstanceParts.js';
import type { InstanceSeeds } from '../instances/InstanceSeeds.js';
import type { InstanceUniforms } from '../instances/InstanceUniforms.js';
import type { InstanceVisibility } from '../instances/InstanceVisibility.js';
import type { CrowdMotions } from '../motion/CrowdMotions.js';
import type { PosedCrowd } from '../sources/PoseSource.js';
import type { CrowdViews } from '../views/CrowdViews.js';
import type { View } from '../views/View.js';
import type { CrowdSkeleton } from './CrowdSkeleton.js';

/** What backends read of a mesh that draws a crowd. The classes of such meshes come later in the order of imports. */
export interface DrawnCrowd extends InstancedMesh, Omit<PosedCrowd, 'geometry' | 'count'> {
  readonly isCrowdMesh: true;
  /** Whether it draws what is far away in the place of another mesh. */
  readonly isLevelMesh?: boolean;
  /** The most instances there can be. */
  readonly capacity: number;
  /** Whether three.js shall bind `skeleton.boneTexture` and `bindMatrix` at each draw. */
  isSkinnedMesh: boolean;
  readonly skeleton: CrowdSkeleton;
  /** Seconds on the shared clock since it last went back to zero. */
  readonly clock: number;
  /** Seconds by which the crowd was advanced in all. */
  readonly elapsed: number;

  readonly shadowInfluences: Influences;
  /** Whether clips move the geometry's morph targets. */
  readonly clipsMorph: boolean;

  /** Which instances exist and are visible. */
  readonly visibility: InstanceVisibility;
  /** Which instances are drawn, whatever the camera; null to ask `views`. */
  readonly view: View | null;
  /** Which instances each camera sees. */
  readonly views: CrowdViews;
  /** Level of detail at which it draws instances, or a list of several, see `LevelTable.listFor`; null for all levels. */
  readonly level: number | null;

  /** Which parts of instances are shown and in what colour; null until some instance differs from the baked character. */
  readonly parts: InstanceParts | null;
  /** What instances have for shaders in the place of the material's; null while there is nothing. */
  readonly instanceUniforms: InstanceUniforms | null;
  /** What moves vertices; null where nothing does. */
  readonly motions: CrowdMotions | null;
  /** Influences of morph targets that instances have of their own. */
  readonly morphs: InstanceMorphs;
  /** What random numbers of instances are made of. */
  readonly seeds: InstanceSeeds;
  /** Matrices and colours as texels; null while they are vertex attributes. */
  matrices: InstanceMatrices | null;
  /** Colours as texels, where matrices are read from a buffer; null while they are not. */
  colorTexels: ColorTexels | null;
  /** Matrices of the frame before; null until someone asks for motion vectors. */
  previousMatrices: InstanceMatrices | null;
}

/** Whether an object draws a crowd. */
export const isCrowd = (object: Object3D | null): object is DrawnCrowd =>
  (object as DrawnCrowd | null)?.isCrowdMesh === true;

/**
 * Whether the layers of single instances say which cameras draw a mesh of a crowd. Not those of one that is on other layers than the
 * crowd itself: these say it, as of a thing in the hand of a clone.
 */
export const goesByInstanceLayers = ({ layers, views }: Pick<DrawnCrowd, 'layers' | 'views'>): boolean =>
  layers.mask === views.layersMask;
