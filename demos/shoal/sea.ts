import {
  AdditiveBlending,
  CircleGeometry,
  Color,
  ConeGeometry,
  Float32BufferAttribute,
  Group,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
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

/** Light that falls through the surface: cones that fade towards the floor. */
export function createRays(size: number, count = 9): Group {
  const rays = new Group();
  for (let i = 0; i < count; i++) {
    const height = (2.4 + 0.5 * Math.sin(7 * i)) * size;
    const geometry = new ConeGeometry((0.16 + 0.08 * Math.sin(5 * i)) * size, height, 14, 1, true);
    const { position } = geometry.attributes;
    const colors: number[] = [];
    for (let k = 0; k < position.count; k++) {
      const share = (position.getY(k) / height + 0.5) ** 2;
      colors.push(...new Color(0x9fe6e0).multiplyScalar(0.34 * share).toArray());
    }
    geometry.setAttribute('color', new Float32BufferAttribute(colors, 3));
    const look = { vertexColors: true, transparent: true, blending: AdditiveBlending, depthWrite: false };
    const ray = new Mesh(geometry, new MeshBasicMaterial({ ...look, fog: false }));
    const angle = 2.4 * i;
    ray.position.set(1.1 * size * Math.sin(angle), 0.45 * height, -0.6 * size + 0.9 * size * Math.cos(angle));
    ray.rotation.set(0.1, 0, -0.28);
    scenery.add(ray);
    rays.add(ray);
  }
  return rays;
}
