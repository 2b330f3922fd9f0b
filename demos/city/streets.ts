import {
  BoxGeometry,
  Group,
  InstancedMesh,
  MathUtils,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PlaneGeometry,
  Quaternion,
  Vector3,
} from 'three';
import { scenery } from '../lib/createRenderer.js';

/** Metres of half a tile, which is 1 in the models; heights in metres of what people and cars stand on. */
const TILE = 6;
const PAVEMENT = 0.1 * TILE;
const ROAD = 0.066 * TILE;
/** A block has three tiles a side, and a road around it: metres from one road to the next. */
const PITCH = 8 * TILE;
const WALK_SPEED = 1.3;
const CAR_SPEED = 9;
/** Width and height of what is solid of each building, in half tiles. */
const BUILDINGS: Record<string, [width: number, height: number]> = {
  A: [0.58, 1.5],
  B: [0.78, 1.5],
  C: [0.58, 2.2],
  D: [0.78, 2.2],
  E: [0.95, 2.2],
  F: [0.95, 2.2],
  G: [0.95, 2.2],
  H: [0.95, 2.9],
};
const CARS = ['hatchback', 'police', 'sedan', 'stationwagon', 'taxi'];

const UP = new Vector3(0, 1, 0);
const _turn = new Quaternion();
const _place = new Vector3();
const _size = new Vector3();
const _matrix = new Matrix4();

interface Place {
  x: number;
  z: number;
  turn: number;
  y?: number;
}

interface Car {
  mesh: InstancedMesh;
  index: number;
  road: number;
  slot: number;
  isNorth: boolean;
  direction: number;
}

/** The same number from 0 to 1 for the same thing at each call. */
export function chance(i: number, salt: number): number {
  const x = Math.sin(i * 78.233 + salt * 37.719) * 43758.5453;
  return x - Math.floor(x);
}

/** Blocks of houses in rows, with people who walk around them and cars in the streets between. */
export class City {
  readonly object = new Group();
  /** What people are hidden behind: a box inside each house, and the ground. It is in no scene. */
  readonly occluders = new Group();
  /** Metres of a side. */
  readonly size: number;
  private readonly cars: Car[] = [];

  /**
   * @param models Of the file city.glb, found by name.
   * @param blocks Of a side of the city.
   */
  constructor(
    private readonly models: Object3D,
    readonly blocks: number,
  ) {
    this.size = blocks * PITCH;
    this.object.position.y = -PAVEMENT;
    this.buildRoads();
    this.buildHouses();
    this.addCars();
  }

  /** The middle of a road. */
  road(number: number): number {
    return number * PITCH - this.size / 2;
  }

  /** Where somebody walks, around a block, after so many seconds. */
  placeOf(person: number, seconds: number, target: Matrix4): Matrix4 {
    const half = (2.72 + 0.34 * chance(person, 5)) * TILE;
    const isBackwards = chance(person, 1) < 0.5;
    const walked = seconds * WALK_SPEED * (0.8 + 0.4 * chance(person, 2));
    const way = MathUtils.euclideanModulo(
      chance(person, 3) * 8 * half + (isBackwards ? -walked : walked),
      8 * half,
    );
    const side = Math.floor(way / (2 * half));
    const along = way - (2 * side + 1) * half;
    // Nobody turns at once.
    const bend = MathUtils.smoothstep(along, half - 1, half) - MathUtils.smoothstep(-along, half - 1, half);
    const turn = (side * Math.PI) / 2;
    _turn.setFromAxisAngle(UP, turn + (Math.PI / 2) * (1 + bend / 2) + (isBackwards ? Math.PI : 0));
    _place.set(along, 0, half).applyAxisAngle(UP, turn);
    _place.x += this.road(Math.floor(chance(person, 4) * this.blocks) + 0.5);
    _place.z += this.road(Math.floor(chance(person, 6) * this.blocks) + 0.5);
    return target.compose(_place, _turn, _size.setScalar(0.9 + 0.2 * chance(person, 7)));
  }

  /** Cars go on: those to the north and those to the east pass crossroads in turn. */
  drive(seconds: number): void {
    const length = this.size + 2 * PITCH;
    for (const { mesh, index, road, slot, isNorth, direction } of this.cars) {
      const phase = (isNorth ? 0 : PITCH / 2) + 5 * chance(index, slot);
      const way = slot * PITCH + phase + seconds * CAR_SPEED;
      const along = direction * (MathUtils.euclideanModulo(way, length) - length / 2);
      const lane = this.road(road) + (isNorth ? -direction : direction) * 0.3 * TILE;
      _place.set(isNorth ? lane : along, ROAD, isNorth ? along : lane);
      _turn.setFromAxisAngle(UP, (isNorth ? 0 : Math.PI / 2) + (direction < 0 ? Math.PI : 0));
      mesh.setMatrixAt(
        index,
        this.modelMatrix(mesh.name, _matrix.compose(_place, _turn, _size.setScalar(TILE))),
      );
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  private buildRoads(): void {
    const [straight, crossings, junctions, bases]: Place[][] = [[], [], [], []];
    const [lamps, lights]: Place[][] = [[], []];
    const end = 4 * this.blocks;
    for (let i = -4; i <= end + 4; i++) {
      for (let j = -4; j <= end + 4; j++) {
        const [x, z] = [2 * TILE * i - this.size / 2, 2 * TILE * j - this.size / 2];
        const [isNorth, isEast] = [i % 4 === 0 && i >= 0 && i <= end, j % 4 === 0 && j >= 0 && j <= end];
        const turn = isNorth ? 0 : Math.PI / 2;
        if (isNorth && isEast) {
          junctions.push({ x, z, turn: 0 });
          for (let k = 0; k < 4; k++) {
            _place.set(0.95 * TILE, 0, 0.95 * TILE).applyAxisAngle(UP, (k * Math.PI) / 2);
            lights.push({ x: x + _place.x, z: z + _place.z, y: PAVEMENT, turn: (k * Math.PI) / 2 });
          }
        } else if (isNorth || isEast) {
          const isNextToJunction = Math.abs((isNorth ? j : i) % 4) !== 2;
          (isNextToJunction ? crossings : straight).push({ x, z, turn });
          for (const side of [1, -1]) {
            const away = 1.02 * TILE * side;
            const lamp = { y: PAVEMENT, turn: turn + (side < 0 ? Math.PI : 0) };
            if (!isNextToJunction)
              lamps.push({ ...lamp, x: isNorth ? x + away : x, z: isNorth ? z : z - away });
          }
        } else if (i >= 0 && j >= 0 && i <= end && j <= end) bases.push({ x, z, turn: 0 });
      }
    }
    this.place('road_straight', straight);
    this.place('road_straight_crossing', crossings);
    this.place('road_junction', junctions);
    this.place('base', bases);
    this.place('streetlight', lamps);
    this.place('trafficlight_A', lights);
  }

  private buildHouses(): void {
    const letters = Object.keys(BUILDINGS);
    const houses: Record<string, Place[]> = Object.fromEntries(letters.map((letter) => [letter, []]));
    const [bushes, benches]: Place[][] = [[], []];
    for (let block = 0; block < this.blocks ** 2; block++) {
      const middle = [block % this.blocks, Math.floor(block / this.blocks)].map((b) => this.road(b + 0.5));
      for (let k = 0; k < 8; k++) {
        // four at the sides, four at the corners, each with its back to the middle
        const turn = (Math.floor(k / 2) * Math.PI) / 2;
        _place.set((k % 2) * 2 * TILE, 0, 2 * TILE).applyAxisAngle(UP, turn);
        const letter = letters[Math.floor(chance(8 * block + k, 8) * letters.length)];
        houses[letter].push({ x: middle[0] + _place.x, z: middle[1] + _place.z, y: 0, turn });
        const [x, z] = middle.map((at, axis) => at + (chance(8 * block + k, 9 + axis) - 0.5) * 2 * TILE);
        (k < 5 ? bushes : benches).push({ x, z, y: PAVEMENT, turn: 6 * chance(k, 11) });
      }
    }
    this.place('bush', bushes);
    this.place('bench', benches);
    const all = letters.flatMap((letter) => houses[letter].map((place) => ({ ...place, letter })));
    for (const letter of letters) this.place(`building_${letter}_withoutBase`, houses[letter]);
    const boxes = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), all.length);
    all.forEach(({ x, z, turn, letter }, i) => {
      const [width, height] = BUILDINGS[letter];
      _size.set(2 * width, height, 1.16).multiplyScalar(TILE);
      _place.set(x, _size.y / 2 - PAVEMENT, z);
      boxes.setMatrixAt(i, _matrix.compose(_place, _turn.setFromAxisAngle(UP, turn), _size));
    });
    const ground = new Mesh(new PlaneGeometry(2 * this.size, 2 * this.size), new MeshBasicMaterial());
    ground.rotateX(-Math.PI / 2).position.y = -PAVEMENT;
    this.occluders.add(boxes, ground).updateMatrixWorld(true);
  }

  private addCars(): void {
    const cars = CARS.map((): Omit<Car, 'mesh' | 'index'>[] => []);
    for (let i = 0; i < (this.blocks + 1) * (this.blocks + 2) * 4; i++) {
      if (chance(i, 13) < 0.5) continue;
      const [road, slot] = [Math.floor(i / 4) % (this.blocks + 1), Math.floor(i / 4 / (this.blocks + 1))];
      const car = { road, slot, isNorth: i % 2 === 0, direction: i % 4 < 2 ? 1 : -1 };
      cars[Math.floor(chance(i, 14) * cars.length)].push(car);
    }
    CARS.forEach((kind, k) => {
      const mesh = this.place(
        `car_${kind}`,
        cars[k].map(() => ({ x: 0, z: 0, turn: 0 })),
      );
      // They are everywhere.
      mesh.frustumCulled = false;
      cars[k].forEach((car, index) => this.cars.push({ ...car, mesh, index }));
    });
    this.drive(0);
  }

  /** Where the model of a name is in its file, in a place of the city. */
  private modelMatrix(name: string, place: Matrix4): Matrix4 {
    return place.multiply((this.models.getObjectByName(name) as Mesh).matrix);
  }

  private place(name: string, places: readonly Place[]): InstancedMesh {
    const model = this.models.getObjectByName(name) as Mesh;
    model.updateMatrix();
    const all = new InstancedMesh(model.geometry, model.material, places.length);
    all.name = name;
    places.forEach(({ x, z, turn, y = 0 }, i) => {
      _matrix.compose(_place.set(x, y, z), _turn.setFromAxisAngle(UP, turn), _size.setScalar(TILE));
      all.setMatrixAt(i, this.modelMatrix(name, _matrix));
    });
    all.castShadow = all.receiveShadow = true;
    scenery.add(all);
    this.object.add(all);
    return all;
  }
}
