import type { InstancedMesh, Object3D } from 'three';
import type { Influences } from '../../shaders/ShaderVariant.js';
import type { PosedCrowd } from '../animation/PoseSource.js';
import type { MeshMotions, MeshParts, MeshUniforms } from '../crowd/CrowdFeature.js';
import type { CrowdViews } from '../culling/CrowdViews.js';
import type { InstanceVisibility } from '../instances/InstanceVisibility.js';
import type { MatrixTexels } from '../instances/MatrixTexels.js';
import type { MorphInfluences } from '../queries/morphRange.js';
import type { CrowdSkeleton } from './CrowdSkeleton.js';

/** What backends read of a mesh that draws a crowd. The classes of such meshes come later in the order of imports. */
export interface DrawnCrowd extends InstancedMesh, Omit<PosedCrowd, 'geometry' | 'count'> {
  readonly isCrowdMesh: true;
  /** Whether it draws what is far away in the place of another mesh. */
  readonly isLevelMesh?: boolean;
  /** The mesh that it is attached to. */
  readonly owner?: object;
  /** The most instances there can be. */
  readonly capacity: number;
  /** Whether three.js shall bind `skeleton.boneTexture` and `bindMatrix` at each draw. */
  isSkinnedMesh: boolean;
  readonly skeleton: CrowdSkeleton;
  /** Seconds since the epoch of the shared clock began. */
  readonly clock: number;
  /** Seconds by which the crowd was advanced in all. */
  readonly elapsed: number;

  readonly shadowInfluences: Influences;
  /** Whether clips move the geometry's morph targets. */
  readonly clipsMorph: boolean;

  /** Which instances exist and are visible. */
  readonly visibility: InstanceVisibility;
  /** Which instances each camera sees. */
  readonly views: CrowdViews;
  /** The list of instances that it draws, see `LODSelector.listOf`; null for all that are seen. */
  readonly level: number | null;

  /** Which parts of instances are shown and in what colour; null for all, as they were baked. */
  readonly parts: MeshParts | null;
  /** What instances have for shaders in the place of the material's; null while there is nothing. */
  readonly instanceUniforms: MeshUniforms['numbers'];
  /** What moves vertices; null where nothing does. */
  readonly motions: MeshMotions | null;
  /** Influences of morph targets that instances have had. */
  readonly morphs: MorphInfluences;
  /** Matrices and colours as texels. */
  readonly texels: MatrixTexels;
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
