import {
  AdditiveBlending,
  BoxGeometry,
  CanvasTexture,
  Group,
  IcosahedronGeometry,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  PointLight,
  RingGeometry,
  SphereGeometry,
  Sprite,
  SpriteMaterial,
  type Vector3,
} from 'three';
import { scenery } from '../lib/createRenderer.js';
import { BLAST, STONES, WALLS } from './rules.js';

const FLAME = 0xff9a48;
const BRIGHT = 190;
/** Metres over the ground. */
const HEIGHT = 5;

/** Rocks that everybody goes round. */
export function createStones(): Group {
  const stones = new Group();
  const material = new MeshStandardMaterial({ color: 0x59606a, roughness: 0.95, flatShading: true });
  STONES.forEach(([x, z, radius], i) => {
    const geometry = new IcosahedronGeometry(radius, 2);
    const { position } = geometry.attributes;
    for (let k = 0; k < position.count; k++) {
      const [px, py, pz] = [position.getX(k), position.getY(k), position.getZ(k)];
      // the same where corners of triangles meet
      const rough = 0.9 + 0.16 * Math.sin(2.3 * px + i) * Math.sin(1.9 * py + 2 * i) * Math.sin(2.1 * pz);
      position.setXYZ(k, px * rough, py * rough * (1.1 + 0.25 * (i % 3)), pz * rough);
    }
    geometry.computeVertexNormals();
    const stone = new Mesh(geometry, material);
    stone.position.set(x, radius * 0.25, z);
    stone.rotation.y = i;
    stone.castShadow = stone.receiveShadow = true;
    scenery.add(stone);
    stones.add(stone);
  });
  return stones;
}

/** What everybody goes round the ends of. */
export function createWalls(): Group {
  const walls = new Group();
  const material = new MeshStandardMaterial({ color: 0x6a5f55, roughness: 0.95 });
  for (const { x, z, alongX, alongZ, radius } of WALLS) {
    const length = Math.hypot(alongX, alongZ);
    const wall = new Mesh(new BoxGeometry(length, 1.5, radius), material);
    wall.position.set(x + alongX / 2, 0.75, z + alongZ / 2);
    wall.rotation.y = -Math.atan2(alongZ, alongX);
    wall.castShadow = wall.receiveShadow = true;
    scenery.add(wall);
    walls.add(wall);
  }
  return walls;
}

/** A ring on the ground that grows to where a blast reaches. */
export class Bang extends Mesh<RingGeometry, MeshBasicMaterial> {
  private age = 1;

  constructor() {
    const look = {
      color: FLAME,
      blending: AdditiveBlending,
      transparent: true,
      depthWrite: false,
      fog: false,
    };
    super(new RingGeometry(0.8, 1, 48).rotateX(-Math.PI / 2), new MeshBasicMaterial(look));
    this.visible = false;
    scenery.add(this);
  }

  begin({ x, z }: Vector3): void {
    this.position.set(x, 0.05, z);
    this.age = 0;
  }

  go(delta: number): void {
    this.age += delta * 2.5;
    this.visible = this.age < 1;
    this.scale.setScalar(Math.max(BLAST * this.age, 0.01));
    this.material.opacity = 1 - this.age;
  }
}

/** A warm light with a glow around it, which flickers. */
export class Lantern extends Group {
  private readonly light = new PointLight(FLAME, BRIGHT, 55, 1.5);
  private readonly glow: Sprite;

  constructor() {
    super();
    const canvas = new OffscreenCanvas(128, 128);
    const context = canvas.getContext('2d')!;
    const soft = context.createRadialGradient(64, 64, 0, 64, 64, 64);
    soft.addColorStop(0, 'rgb(255 200 120 / 90%)');
    soft.addColorStop(0.25, 'rgb(255 150 60 / 30%)');
    soft.addColorStop(1, 'rgb(255 120 40 / 0%)');
    context.fillStyle = soft;
    context.fillRect(0, 0, 128, 128);
    const look = {
      map: new CanvasTexture(canvas),
      blending: AdditiveBlending,
      depthWrite: false,
      fog: false,
    };
    this.glow = new Sprite(new SpriteMaterial(look));
    const flame = new Mesh(
      new SphereGeometry(0.32, 16, 12),
      new MeshBasicMaterial({ color: 0xfff0c8, fog: false }),
    );
    for (const one of [this.glow, flame]) scenery.add(one);
    this.add(this.light, this.glow, flame);
  }

  shine(at: Vector3, time: number): void {
    this.position.set(at.x, HEIGHT + 0.25 * Math.sin(time * 1.7), at.z);
    const flicker = 1 + 0.06 * Math.sin(time * 11) + 0.05 * Math.sin(time * 17.3);
    this.light.intensity = BRIGHT * flicker;
    this.glow.scale.setScalar(9 * flicker);
  }
}
