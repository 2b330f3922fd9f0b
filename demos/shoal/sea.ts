import {
  AdditiveBlending,
  CircleGeometry,
  Color,
  DoubleSide,
  Float32BufferAttribute,
  Group,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  PlaneGeometry,
} from 'three';
import { scenery } from '../lib/createRenderer.js';

/** Sand, lighter and darker. */
export function createFloor(radius: number): Mesh {
  const geometry = new CircleGeometry(radius, 48, 0, 2 * Math.PI).rotateX(-Math.PI / 2);
  const floor = new Mesh(geometry, new MeshStandardMaterial({ color: 0xc9b486, roughness: 1 }));
  floor.receiveShadow = true;
  scenery.add(floor);
  return floor;
}

/** Light that falls through the surface: strips that fade to their edges and towards the floor. */
export function createRays(size: number, count = 9): Group {
  const rays = new Group();
  const look = { vertexColors: true, transparent: true, blending: AdditiveBlending, depthWrite: false };
  const material = new MeshBasicMaterial({ ...look, side: DoubleSide, fog: false });
  for (let i = 0; i < count; i++) {
    const [width, height] = [(0.5 + 0.3 * Math.sin(5 * i)) * size, 2.6 * size];
    const geometry = new PlaneGeometry(width, height, 8, 8);
    const { position } = geometry.attributes;
    const colors: number[] = [];
    for (let k = 0; k < position.count; k++) {
      const across = Math.cos((position.getX(k) / width) * Math.PI) ** 2;
      const along = Math.max(0, position.getY(k) / height + 0.5) ** 1.5;
      colors.push(...new Color(0x8fd8d0).multiplyScalar(0.16 * across * along).toArray());
    }
    geometry.setAttribute('color', new Float32BufferAttribute(colors, 3));
    const ray = new Mesh(geometry, material);
    const angle = 2.4 * i;
    ray.position.set(1.3 * size * Math.sin(angle), 1.2 * size, 0.9 * size * Math.cos(angle) - 0.5 * size);
    ray.rotation.set(0, 0.4, -0.3);
    scenery.add(ray);
    rays.add(ray);
  }
  return rays;
}
