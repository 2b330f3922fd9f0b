import { bakeCharacter, type SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import {
  AnimationClip,
  ConeGeometry,
  CylinderGeometry,
  Group,
  type Matrix4,
  Mesh,
  MeshStandardMaterial,
  Quaternion,
  QuaternionKeyframeTrack,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { mergeBufferGeometries } from 'three-stdlib';
import { chance } from './armies.js';

/** Metres that arrows fly, a clip each; how high, and for how many seconds; how long they stick in the ground. */
const RANGES = [20, 26, 32, 38];
const RISE = 0.22;
const FLIGHT = 1.5;
const REST = 3;
const KEYS = 16;
/** Shoulders of archers. */
const FROM = 1.2;

const UP = new Vector3(0, 1, 0);

/** A flight: along z in a parabola, the point ahead, then still. */
function flightOf(range: number): AnimationClip {
  const [times, places, turns] = [[], [], []] as number[][];
  for (let i = 0; i <= KEYS; i++) {
    const t = i / KEYS;
    const rise = 4 * RISE * range;
    const slope = new Vector3(0, rise * (1 - 2 * t) - FROM, range).normalize();
    times.push(t * FLIGHT);
    places.push(0, FROM * (1 - t) + rise * t * (1 - t), range * t);
    turns.push(...new Quaternion().setFromUnitVectors(UP, slope).toArray());
  }
  return new AnimationClip(`Fly ${range} m`, FLIGHT + REST, [
    new VectorKeyframeTrack('Arrow.position', times, places),
    new QuaternionKeyframeTrack('Arrow.quaternion', times, turns),
  ]);
}

/** Arrows of archers, a crowd of their own: each plays the clip of its flight, and no code runs for it in a frame. */
export function createArrows(
  Crowd: typeof SkinnedInstancedMesh,
  archers: readonly Matrix4[],
): SkinnedInstancedMesh {
  const shaft = new CylinderGeometry(0.025, 0.025, 1.3, 4);
  const tip = new ConeGeometry(0.06, 0.22, 4).translate(0, 0.7, 0);
  const material = new MeshStandardMaterial({ color: 0x4a2f1c, roughness: 0.9 });
  const arrow = new Mesh(mergeBufferGeometries([shaft, tip])!, material);
  arrow.name = 'Arrow';
  const character = bakeCharacter(new Group().add(arrow), RANGES.map(flightOf));
  const arrows = new Crowd(character, Math.max(1, archers.length));
  arrows.count = archers.length;
  archers.forEach((matrix, i) => {
    arrows.setMatrixAt(i, matrix);
  });
  arrows.playAll((i) => `Fly ${RANGES[Math.floor(RANGES.length * chance(i, 11))]} m`, {
    time: (i) => (FLIGHT + REST) * chance(i, 12),
  });
  return arrows;
}
