import {
  Color,
  DirectionalLight,
  HemisphereLight,
  Mesh,
  MeshStandardMaterial,
  PerspectiveCamera,
  PlaneGeometry,
  Scene,
} from 'three';

export interface World {
  scene: Scene;
  camera: PerspectiveCamera;
}

/**
 * A sky, a sun that casts shadows, and ground.
 *
 * @param reach Metres from the middle to where the world ends.
 * @param ground Colour of the ground.
 */
export function createWorld(reach: number, ground: number): World {
  const scene = new Scene();
  scene.background = new Color(0xb9c7d3);
  const sun = new DirectionalLight(0xfff2e0, 2.4);
  sun.position.set(-reach * 0.5, reach * 1.2, reach * 0.6);
  sun.castShadow = true;
  sun.shadow.mapSize.set(1024, 1024);
  sun.shadow.normalBias = 0.03;
  const { camera: lit } = sun.shadow;
  lit.left = lit.bottom = -reach * 1.2;
  lit.right = lit.top = reach * 1.2;
  lit.far = reach * 4;
  const floor = new Mesh(
    new PlaneGeometry(reach * 8, reach * 8),
    new MeshStandardMaterial({ color: ground, roughness: 1 }),
  );
  floor.rotation.x = -Math.PI / 2;
  floor.receiveShadow = true;
  scene.add(new HemisphereLight(0xdfeaf5, 0x8a8070, 1.4), sun, sun.target, floor);

  const camera = new PerspectiveCamera(40, 1, 0.5, reach * 12);
  camera.position.set(reach * 0.25, reach * 0.75, reach * 1.25);
  camera.lookAt(0, 0.6, reach * 0.05);
  return { scene, camera };
}
