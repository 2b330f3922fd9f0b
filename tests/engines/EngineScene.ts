import { Box3, Group, Matrix4, type Object3D, Vector3 } from 'three';
import type { CrowdMesh, SkinnedInstancedMesh } from '../support/library.js';
import { getVertexPosition } from '../support/library.js';
import type { LightKind } from '../support/pictures.js';
import type { ReadBack } from './readBack.js';

/** What is drawn in every engine, and which numbers are read back from the GPU. */
export interface EngineScene {
  name: string;
  /** Made anew for every renderer. Nothing in it may depend on chance or on a clock. */
  build(): Built | Promise<Built>;
  /** Numbers of each crowd to read back, by name. */
  readBack: Record<string, ReadBack>;
}

export interface Built {
  /** Those to look at, by name; attachments are drawn with what they are attached to. */
  crowds: Record<string, CrowdMesh>;
  /** That of the character, by which errors are measured. @default HEIGHT */
  height?: number;
  /** @default 'directional' */
  light?: LightKind;
  /** Whether they cast and receive shadows; off where something else is to be seen. @default false */
  shadows?: boolean;
}

/** Height of the built-in character. */
export const HEIGHT = 1.8;

/** How far apart characters stand, as a share of their height. */
const APART = 0.75;

export interface Rows {
  /** How many characters stand in a row. */
  columns: number;
  /** Where the first one stands. @default 0 */
  first?: number;
  /** That of the character. @default HEIGHT */
  height?: number;
}

/** Puts the instances of a crowd in rows, each turned another way. */
export function inRows(
  crowd: SkinnedInstancedMesh,
  { columns, first = 0, height = HEIGHT }: Rows,
): SkinnedInstancedMesh {
  const step = height * APART;
  const matrix = new Matrix4();
  for (let i = 0; i < crowd.count; i++) {
    const row = Math.floor(i / columns);
    matrix.makeRotationY(0.5 * i - 0.6).setPosition(step * (first + (i % columns)), 0, -step * row);
    crowd.setMatrixAt(i, matrix);
  }
  return crowd;
}

/** Every so many vertices are looked at for the box of a crowd. */
const STRIDE = 7;

/** The crowds of a scene as one object, and the box of what they show now: that of all they may do leaves much room around them. */
export function arrange({ crowds, shadows = false }: Built): { object: Object3D; bounds: Box3 } {
  const object = new Group();
  const bounds = new Box3();
  const position = new Vector3();
  for (const crowd of Object.values(crowds)) {
    crowd.castShadow = shadows;
    crowd.receiveShadow = shadows;
    if (crowd.parent !== null) continue;
    const { count } = crowd.geometry.getAttribute('position');
    for (let instance = 0; instance < crowd.count; instance++) {
      for (let vertex = 0; vertex < count; vertex += STRIDE) {
        bounds.expandByPoint(getVertexPosition(crowd, instance, vertex, position));
      }
    }
    object.add(crowd);
  }
  object.updateMatrixWorld(true);
  return { object, bounds };
}
