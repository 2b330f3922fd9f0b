import {
  Color,
  Float32BufferAttribute,
  InstancedMesh,
  Matrix4,
  Mesh,
  type MeshBasicMaterial,
  MeshStandardMaterial,
  type Object3D,
  PlaneGeometry,
  Quaternion,
  type Scene,
  Vector3,
} from 'three';

/** Where a model stands; `y` is the land's there unless it is given. */
interface Place {
  x: number;
  z: number;
  y?: number;
  size: number;
  turn?: number;
  tint?: Color;
}

/** Half the width of a hexagon, the height of a terrace, half the width of the plain, and where the castle stands. */
const TILE = 5;
const STEP = 2.2;
const VALLEY = 190;
const CASTLE = { x: 60, z: -400 };
const UP = new Vector3(0, 1, 0);

let seed = 7;
/** A number between two others, the same each time the page is opened. */
export function random(from: number, to: number): number {
  seed = (seed * 16807) % 2147483647;
  return from + (seed / 2147483647) * (to - from);
}

const smooth = (from: number, to: number, x: number) => {
  const t = Math.min(1, Math.max(0, (x - from) / (to - from)));
  return t * t * (3 - 2 * t);
};

/** Where the armies meet; the line sways. */
export const front = (z: number) => 4 * Math.sin(z * 0.045) + 1.5 * Math.sin(z * 0.13);

/** Height of the land: flat where they fight, terraces at the sides, a hill under the castle. */
function heightAt(x: number, z: number): number {
  const side = smooth(VALLEY, VALLEY + 128, Math.abs(x - 6)) * 26;
  const hill = 15 * (1 - smooth(26, 78, Math.hypot(x - CASTLE.x, (z - CASTLE.z) * 0.9)));
  const back = smooth(375, 545, -z) * 18;
  return Math.round(Math.max(0, side, hill, back) / STEP) * STEP;
}

/**
 * Builds the plain, the terraces with their trees, and the castle, of models that are found by name.
 *
 * @param detail Share of the terraces that are there, the nearest: tests ask for few, since software renderers take long over them.
 */
export function buildLand(scene: Scene, models: Object3D, detail: number): void {
  const place = (name: string, places: Place[], castShadow = false): void => {
    const mesh = models.getObjectByName(name) as Mesh;
    mesh.updateWorldMatrix(true, false);
    const all = new InstancedMesh(mesh.geometry, mesh.material, places.length);
    const matrix = new Matrix4();
    places.forEach(({ x, z, y = heightAt(x, z), size, turn = 0, tint }, i) => {
      const rotation = new Quaternion().setFromAxisAngle(UP, turn);
      matrix.compose(new Vector3(x, y, z), rotation, new Vector3().setScalar(size));
      all.setMatrixAt(i, matrix.multiply(mesh.matrixWorld));
      if (tint) all.setColorAt(i, tint);
    });
    all.castShadow = castShadow;
    all.receiveShadow = true;
    scene.add(all);
  };

  const tiles: Place[] = [];
  const trees: Place[][] = [[], []];
  const sand = new Color(0xd8c58a);
  for (let row = 0; row < 76 * detail; row++) {
    for (let column = -42; column < 43; column++) {
      const x = (column + (row & 1) / 2) * 2 * TILE;
      const z = -row * 1.732 * TILE;
      const y = heightAt(x, z);
      const isPlain = y === 0 && Math.abs(x) < VALLEY - TILE && z > -370;
      if (isPlain || Math.abs(x) > 0.8 * (60 - z)) continue;
      tiles.push({ x, z, size: TILE, tint: sand.clone().multiplyScalar(random(0.9, 1.06)) });
      if (y < 3 || Math.hypot(x - CASTLE.x, z - CASTLE.z) < 42 || random(0, 1) > 0.62) continue;
      for (let i = 0; i < 3; i++) {
        const tint = new Color().setHSL(random(0.1, 0.3), 0.45, random(0.6, 0.85));
        const [dx, dz] = [random(-3.4, 3.4), random(-3.4, 3.4)];
        const tree = { x: x + dx, y, z: z + dz, size: random(5, 8.5), turn: random(0, 6), tint };
        trees[random(0, 1) < 0.85 ? 0 : 1].push(tree);
      }
    }
  }
  place('hex_grass', tiles);
  place('tree_single_A', trees[0]);
  place('tree_single_B', trees[1]);

  const { x, z } = CASTLE;
  const y = heightAt(x, z);
  const circle = (angle: number, radius: number, size: number): Place => ({
    x: x + Math.sin(angle) * radius,
    z: z + Math.cos(angle) * radius,
    y: y - 3,
    size,
    turn: angle,
  });
  const corners = Array.from({ length: 12 }, (_, i) => (i * Math.PI) / 6);
  const walls = corners.map((angle) => circle(angle + Math.PI / 12, 30, 8.5));
  place('building_castle_blue', [{ x, z, size: 11.5, turn: 0.15 }]);
  place('wall_straight_gate', walls.splice(11));
  place('wall_straight', walls);
  const towers = corners.map((angle) => circle(angle, 31, 8));
  place('building_tower_A_blue', towers);
  place('building_church_blue', [{ x: x - 19, y, z: z + 8, size: 9, turn: 0.5 }]);
  const homes = [18, 8, -8].map((dx) => ({ x: x + dx, y, z: z + 28 - dx, size: 9, turn: -dx / 40 }));
  place('building_home_B_blue', homes);
  const ridge = models.getObjectByName('ridge') as Mesh;
  (ridge.material as MeshBasicMaterial).fog = false;
  scene.add(createPlain(), ridge);
}

/** The ground under the armies: grass, trodden where they fight. */
function createPlain(): Mesh {
  const geometry = new PlaneGeometry(2 * VALLEY, 430, 90, 160);
  geometry.rotateX(-Math.PI / 2).translate(4, 0, -170);
  const position = geometry.getAttribute('position');
  const colors: number[] = [];
  const [grass, earth, color] = [new Color(0x93a552), new Color(0xb08a5c), new Color()];
  for (let i = 0; i < position.count; i++) {
    const [x, z] = [position.getX(i), position.getZ(i)];
    const away = Math.abs(x - front(z)) + 5 * Math.sin(x * 0.5 + z * 0.21) * Math.sin(z * 0.37);
    color.copy(grass).lerp(earth, 0.95 * (1 - smooth(4, 26, away)));
    color.multiplyScalar(random(0.9, 1.08) + 0.08 * Math.sin(x * 0.13) * Math.sin(z * 0.11));
    colors.push(color.r, color.g, color.b);
    position.setY(i, random(-0.06, 0.04));
  }
  geometry.setAttribute('color', new Float32BufferAttribute(colors, 3));
  const ground = new Mesh(geometry, new MeshStandardMaterial({ vertexColors: true, flatShading: true }));
  ground.receiveShadow = true;
  return ground;
}
