import { BoxGeometry, Mesh, MeshStandardMaterial } from 'three';
import { createCharacter } from '../../../demos/character.js';
import {
  bakeCharacter,
  type Character,
  CrowdKinds,
  type CrowdMesh,
  featureOf,
  type SkinnedInstancedMesh,
} from '../library.js';
import type { CrowdProgram, Step } from './CrowdProgram.js';

/** What kinds look like: in one colour, with a box on the head. */
const characters: Character[] = [0.2, 0.4].map((size) => {
  const { root } = createCharacter({ detail: 0.15 });
  const hat = new Mesh(
    new BoxGeometry(size, size, size),
    new MeshStandardMaterial({ color: 0xff0000 * size }),
  );
  hat.name = 'Hat';
  hat.position.y = 0.3;
  root.getObjectByName('Head')!.add(hat);
  return bakeCharacter(root, []);
});

/** What the kinds of a crowd are drawn as, by number from 1; null where one was removed. */
type Looks = readonly (number | null)[];

const looksOf = (kinds: CrowdKinds): Looks =>
  kinds.meshes.slice(1).map((mesh) => {
    if (mesh === undefined) return null;
    return characters.findIndex(({ material }) => material === mesh.material);
  });

const kindsOf = (crowd: SkinnedInstancedMesh): CrowdKinds =>
  featureOf(crowd, CrowdKinds) ?? new CrowdKinds(crowd);

/** What draws an instance. */
export function meshOf(crowd: SkinnedInstancedMesh, id: number): CrowdMesh {
  const kinds = featureOf(crowd, CrowdKinds);
  return kinds === null ? crowd : (kinds.meshes[kinds.getKindAt(id)] as CrowdMesh);
}

/** What draws a crowd's kinds, but for levels of detail. */
export const meshesOf = (crowd: SkinnedInstancedMesh): CrowdMesh[] =>
  (featureOf(crowd, CrowdKinds)?.meshes ?? [crowd]).filter((mesh) => mesh !== undefined);

/** Numbers of the kinds of a crowd. */
const numbersOf = (kinds: CrowdKinds): number[] =>
  kinds.meshes.flatMap((mesh, number) => (mesh === undefined ? [] : [number]));

/** Gives a crowd the kinds that another one has. */
export function copyKinds(
  source: SkinnedInstancedMesh,
  target: SkinnedInstancedMesh,
  ids: readonly number[],
): void {
  const kinds = featureOf(source, CrowdKinds);
  if (kinds === null) return;
  const own = kindsOf(target);
  const looks = looksOf(kinds);
  for (const look of looks) own.add(characters[look ?? 0]);
  looks.forEach((look, i) => {
    if (look === null) own.remove(i + 1);
  });
  for (const id of ids) own.setKindAt(id, kinds.getKindAt(id));
}

/** Several characters in one crowd. */
export const KIND_STEPS: readonly Step[] = [
  function addKind(p) {
    if (!p.hasJoints || numbersOf(kindsOf(p.crowd)).length > 3) return;
    kindsOf(p.crowd).add(p.dice.pick(characters));
  },
  setKind,
  setKind,
  function removeKind(p) {
    const kinds = featureOf(p.crowd, CrowdKinds);
    if (kinds === null) return;
    const number = p.dice.pick(numbersOf(kinds));
    if (number > 0 && p.dice.chance(0.5)) kinds.remove(number);
  },
];

function setKind(p: CrowdProgram): void {
  const kinds = featureOf(p.crowd, CrowdKinds);
  if (kinds === null) return;
  const number = p.dice.pick(numbersOf(kinds));
  kinds.setKindAt(p.id, number);
  p.note(`${number}`);
}
