import {
  BoxGeometry,
  type BufferGeometry,
  ConeGeometry,
  CylinderGeometry,
  Float32BufferAttribute,
  Group,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  Skeleton,
  SkinnedMesh,
  SphereGeometry,
  TorusGeometry,
} from 'three';
import { createClips } from '../character/clips.js';
import { createBodyGeometry, DEFAULT_PALETTE, type Palette } from '../character/geometry.js';
import { createBones } from '../character/skeleton.js';
import type { Character } from '../character.js';

/** Names of parts of which a character wears exactly one. */
export const BODIES = ['Casual', 'Suit'] as const;
/** Names of parts of which a character wears one, or none. */
export const HATS = ['Cap', 'Top hat', 'Horns'] as const;
/** Names of parts that go with any others. */
export const EXTRAS = ['Glasses', 'Backpack', 'Belt', 'Shield', 'Sword'] as const;

const CASUAL = { trousers: 0x6b5138, shoes: 0x5a3a26 };
const SUIT = { hair: 0x17130f, shoes: 0x111111, soles: 0x222222 };
/** The pieces of a body; instances colour the cloth, which is white. */
const PIECES: Readonly<Record<string, readonly (keyof Palette)[]>> = {
  skin: ['skin', 'eyes', 'mouth', 'hair', 'shoes', 'soles'],
  shirt: ['shirt'],
  trousers: ['trousers'],
};
/** Name of the morph target that all bodies have. */
export const STOUT = 'Stout';

type Place = (mesh: Mesh) => void;

/** Each thing to wear: the bone it is on, its colour, which instances multiply, its metalness, and its pieces. */
const THINGS: [
  name: string,
  bone: string,
  color: number,
  metal: number,
  ...pieces: [BufferGeometry, Place?][],
][] = [
  [
    'Cap',
    'Head',
    0xffffff,
    0,
    [new SphereGeometry(0.15, 20, 10, 0, 6.3, 0, 1.5), at(0, 0.12, 0.01)],
    [new BoxGeometry(0.17, 0.015, 0.13), at(0, 0.13, 0.16)],
  ],
  [
    'Top hat',
    'Head',
    0xffffff,
    0,
    [new CylinderGeometry(0.11, 0.1, 0.2, 24), at(0, 0.31, 0)],
    [new CylinderGeometry(0.19, 0.19, 0.015, 28), at(0, 0.21, 0)],
  ],
  [
    'Horns',
    'Head',
    0xffffff,
    0,
    [new ConeGeometry(0.035, 0.16, 12), at(0.11, 0.25, 0, -0.6)],
    [new ConeGeometry(0.035, 0.16, 12), at(-0.11, 0.25, 0, 0.6)],
  ],
  [
    'Glasses',
    'Head',
    0x181818,
    0,
    [new TorusGeometry(0.036, 0.008, 6, 20), at(0.045, 0.1, 0.135)],
    [new TorusGeometry(0.036, 0.008, 6, 20), at(-0.045, 0.1, 0.135)],
  ],
  ['Backpack', 'Chest', 0xffffff, 0, [new BoxGeometry(0.26, 0.32, 0.14), at(0, 0.08, -0.175)]],
  ['Belt', 'Hips', 0xffffff, 0, [new TorusGeometry(0.155, 0.022, 8, 28), fitBelt]],
  [
    'Shield',
    'LeftLowerArm',
    0xffffff,
    0.2,
    [
      new CylinderGeometry(0.22, 0.22, 0.03, 28),
      (mesh) => mesh.rotateZ(Math.PI / 2).position.set(0.08, -0.12, 0),
    ],
  ],
  [
    'Sword',
    'RightHand',
    0xc8d0d8,
    0.9,
    [new BoxGeometry(0.025, 0.03, 0.75), at(0, -0.06, 0.4)],
    [new BoxGeometry(0.16, 0.03, 0.03), at(0, -0.06, 0.06)],
  ],
];

/** The figure in everything there is to wear; what each one shows is said per instance. */
export function createWardrobe(detail = 1): Character {
  const bones = createBones();
  const root = new Group();
  root.name = 'Character';
  root.add(bones[0]);
  root.updateMatrixWorld(true);
  const skeleton = new Skeleton(bones);
  const cloth = new MeshStandardMaterial({ name: 'Body', vertexColors: true, roughness: 0.75 });
  for (const [i, colors] of [CASUAL, SUIT].entries()) {
    const body = new Group();
    body.name = BODIES[i];
    const palette = { ...DEFAULT_PALETTE, ...colors };
    for (const [piece, keys] of Object.entries(PIECES)) {
      const geometry = createBodyGeometry(
        palette,
        detail,
        keys.map((key) => palette[key]),
      );
      if (piece !== 'skin') geometry.getAttribute('color').array.fill(1);
      const mesh = new SkinnedMesh(geometry, cloth);
      mesh.name = `${BODIES[i]} ${piece}`;
      body.add(mesh);
      addStoutness(mesh);
    }
    root.add(body);
    root.updateMatrixWorld(true);
    for (const mesh of body.children as SkinnedMesh[]) mesh.bind(skeleton);
  }

  for (const [name, bone, color, metalness, ...pieces] of THINGS) {
    const material = new MeshStandardMaterial({ color, metalness, roughness: metalness > 0.5 ? 0.3 : 0.8 });
    // A part is a mesh, or a node with all meshes below it.
    const thing = new Mesh();
    thing.name = name;
    thing.geometry = pieces[0][0];
    thing.material = material;
    pieces[0][1]?.(thing);
    for (const [geometry, place] of pieces.slice(1)) {
      const piece = new Mesh(geometry, material);
      piece.name = `${name} piece`;
      place?.(piece);
      // placed beside the first piece, though it hangs below it
      piece.applyMatrix4(inverse(thing));
      thing.add(piece);
    }
    (root.getObjectByName(bone) as Object3D).add(thing);
  }
  return { root, clips: createClips(false) };
}

/** A morph target by which a body gets stouter: it grows outwards, most about the belly. */
function addStoutness(body: SkinnedMesh): void {
  const { position, normal } = body.geometry.attributes;
  const stout = new Float32BufferAttribute(new Float32Array(position.count * 3), 3);
  stout.name = STOUT;
  for (let i = 0; i < position.count; i++) {
    const belly = Math.exp(-(((position.getY(i) - 1.08) / 0.22) ** 2));
    const near = Math.abs(position.getX(i)) < 0.25 ? 1 : 0.3;
    const grown = 0.09 * belly * near;
    stout.setXYZ(i, normal.getX(i) * grown, 0, normal.getZ(i) * grown);
  }
  body.geometry.morphAttributes.position = [stout];
  body.geometry.morphTargetsRelative = true;
  body.updateMorphTargets();
}

/** The waist is wider than it is deep. */
function fitBelt(mesh: Mesh): void {
  mesh.scale.set(1, 0.78, 1);
  mesh.rotateX(Math.PI / 2).position.setY(0.06);
}

function at(x: number, y: number, z: number, turn = 0): Place {
  return (mesh) => mesh.rotateZ(turn).position.set(x, y, z);
}

function inverse(mesh: Mesh) {
  mesh.updateMatrix();
  return mesh.matrix.clone().invert();
}
