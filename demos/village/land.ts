import {
  Color,
  CylinderGeometry,
  Group,
  IcosahedronGeometry,
  InstancedMesh,
  Matrix4,
  type Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  type Object3D,
  PointLight,
  Quaternion,
  Vector3,
} from 'three';
import { scenery } from '../lib/createRenderer.js';

/** A hexagon of the ground; `roads` are the neighbours that a road leads to. */
export interface Tile {
  x: number;
  z: number;
  y: number;
  isRoad: boolean;
  roads: Tile[];
}

/** Half the width of a hexagon, and the height of a step. */
const TILE = 5;
const STEP = 0.45;
/** The ring that is a road, as the ways from the middle are. */
const ROUND = 4;
const EARTH = new Color(0xb58e63);
const HOMES = [
  'building_home_A_red',
  'building_home_B_yellow',
  'building_home_A_blue',
  'building_home_B_green',
];
const UP = new Vector3(0, 1, 0);

let seed = 5;
/** A number between two others, the same each time the page is opened. */
export function random(from: number, to: number): number {
  seed = (seed * 16807) % 2147483647;
  return from + (seed / 2147483647) * (to - from);
}

/** Hexagons with a square in the middle, roads, houses along them, woods around them, and lamps. */
export class Village {
  readonly object = new Group();
  readonly tiles: Tile[] = [];
  /** Radius that it covers. */
  readonly radius: number;
  private readonly lights: PointLight[] = [];
  private readonly flames = new MeshBasicMaterial();

  /**
   * @param models Of the file village.glb, found by name.
   * @param rings How many hexagons lie around the middle one.
   */
  constructor(
    private readonly models: Object3D,
    rings: number,
  ) {
    this.radius = (rings + 1) * 2 * TILE;
    const known = new Map<string, Tile>();
    for (let q = -rings; q <= rings; q++) {
      for (let r = -rings; r <= rings; r++) {
        const away = (Math.abs(q) + Math.abs(r) + Math.abs(q + r)) / 2;
        if (away > rings) continue;
        const isRoad = away < 2 || away === ROUND || q * r * (q + r) === 0;
        const hill = Math.max(0, away - (isRoad ? 2 : 1)) * (q - r > 3 ? 1 : 0.35);
        const tile: Tile = {
          x: 2 * TILE * (q + r / 2),
          z: Math.sqrt(3) * TILE * r,
          y: hill * STEP,
          isRoad,
          roads: [],
        };
        known.set(`${q} ${r}`, tile);
        this.tiles.push(tile);
        for (const [a, b] of [
          [-1, 0],
          [0, -1],
          [-1, 1],
        ]) {
          const other = known.get(`${q + a} ${r + b}`);
          if (other === undefined || !isRoad || !other.isRoad) continue;
          tile.roads.push(other);
          other.roads.push(tile);
        }
      }
    }
    this.build();
  }

  /** How dark it is, from 0 to 1: lamps burn then, and flicker. */
  shine(night: number, seconds: number): void {
    this.flames.color.setRGB(3.6, 1.4, 0.3).multiplyScalar(0.15 + 0.85 * night);
    this.lights.forEach((light, i) => {
      light.visible = night > 0;
      light.intensity =
        night *
        (i === 0 ? 420 : 110) *
        (0.92 + 0.08 * Math.sin(seconds * 11 + 2 * i) * Math.sin(seconds * 7.3));
    });
  }

  private build(): void {
    const roads = this.tiles.filter(({ isRoad }) => isRoad);
    const lots = this.tiles.filter(({ isRoad }) => !isRoad);
    this.place('hex_grass', lots, TILE);
    this.place('hex_grass', roads, TILE, () => 0, new MeshStandardMaterial({ color: EARTH, roughness: 1 }));
    const isByRoad = (lot: Tile) => roads.some(({ x, z }) => Math.hypot(x - lot.x, z - lot.z) < 2.1 * TILE);
    const sites = lots.filter((lot) => isByRoad(lot) && Math.hypot(lot.x, lot.z) < 5.5 * 2 * TILE);
    sites.forEach((lot, i) => {
      const [door] = roads.toSorted(
        (a, b) => Math.hypot(a.x - lot.x, a.z - lot.z) - Math.hypot(b.x - lot.x, b.z - lot.z),
      );
      const special = {
        3: 'building_church_yellow',
        9: 'building_tavern_red',
        14: 'building_windmill_yellow',
        20: 'building_market_blue',
      }[i];
      const name = special ?? HOMES[i % HOMES.length];
      this.place(name, [lot], special ? 9.5 : 8.5, () => Math.atan2(door.x - lot.x, door.z - lot.z));
    });
    this.place('building_well_yellow', [{ ...roads[0], x: 7, y: 0, z: -5 }], 6);
    const woods = lots.filter((lot) => !sites.includes(lot));
    for (const kind of ['A', 'B'] as const) {
      const trees = woods.flatMap((lot) => {
        const around = Array.from({ length: kind === 'A' ? 3 : 1 }, () => [
          random(-3.6, 3.6),
          random(-3.6, 3.6),
        ]);
        return around.map(([x, z]) => ({ ...lot, x: lot.x + x, z: lot.z + z }));
      });
      this.place(
        `tree_single_${kind}`,
        trees,
        () => random(5, 8),
        () => random(0, 6),
      );
    }
    this.light(roads);
  }

  /** A fire in the middle, and lamps where roads meet. */
  private light(roads: readonly Tile[]): void {
    const lamps = roads.filter(
      ({ roads: { length }, x, z }, i) => length > 2 && i % 3 === 0 && Math.hypot(x, z) > TILE,
    );
    const places = [
      new Vector3(0, 0, 0),
      ...lamps.map(({ x, y, z }) => new Vector3(x + 2.6, y + 3.4, z + 2.2)),
    ];
    const poles = new InstancedMesh(
      new CylinderGeometry(0.1, 0.14, 3.4, 6),
      new MeshStandardMaterial({ color: 0x4a3222 }),
      places.length,
    );
    const flames = new InstancedMesh(new IcosahedronGeometry(0.34, 1), this.flames, places.length + 6);
    const matrix = new Matrix4();
    places.forEach(({ x, y, z }, i) => {
      poles.setMatrixAt(i, matrix.makeTranslation(x, y - 1.7, z));
      flames.setMatrixAt(i, matrix.makeTranslation(x, y + 0.2, z));
    });
    for (let i = 0; i < 6; i++) {
      const [size, turn] = [1.6 - 0.2 * i, 2.4 * i];
      matrix
        .makeScale(size, 1.4 * size, size)
        .setPosition(0.4 * Math.sin(turn), 0.3 + 0.4 * i, 0.4 * Math.cos(turn));
      flames.setMatrixAt(places.length + i, matrix);
    }
    for (const { x, y, z } of places.toSorted((a, b) => a.length() - b.length()).slice(0, 6)) {
      const light = new PointLight(0xff9440, 0, this.lights.length === 0 ? 45 : 24, 1.7);
      light.position.set(x, y + (this.lights.length === 0 ? 2.6 : 0.6), z);
      this.lights.push(light);
    }
    for (const one of [poles, flames]) scenery.add(one);
    this.object.add(poles, flames, ...this.lights);
  }

  private place(
    name: string,
    places: readonly { x: number; y: number; z: number }[],
    size: number | (() => number),
    turn: () => number = () => 0,
    material?: MeshStandardMaterial,
  ): void {
    const model = this.models.getObjectByName(name) as Mesh;
    model.updateWorldMatrix(true, false);
    const all = new InstancedMesh(model.geometry, material ?? model.material, places.length);
    const [matrix, rotation, scale] = [new Matrix4(), new Quaternion(), new Vector3()];
    places.forEach(({ x, y, z }, i) => {
      scale.setScalar(typeof size === 'number' ? size : size());
      matrix.compose(new Vector3(x, y, z), rotation.setFromAxisAngle(UP, turn()), scale);
      all.setMatrixAt(i, matrix.multiply(model.matrixWorld));
    });
    all.castShadow = all.receiveShadow = true;
    scenery.add(all);
    this.object.add(all);
  }
}
