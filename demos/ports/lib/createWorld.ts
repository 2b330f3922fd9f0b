import {
  Color,
  DirectionalLight,
  Fog,
  HemisphereLight,
  Mesh,
  MeshStandardMaterial,
  PerspectiveCamera,
  PlaneGeometry,
  Scene,
} from 'three';

const HAZE = 0xb9d0e2;

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
  scene.background = new Color(HAZE);
  scene.fog = new Fog(HAZE, reach * 1.4, reach * 4.2);
  const sun = new DirectionalLight(0xffe2b8, 3.2);
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
  scene.add(new HemisphereLight(0xcfe0ff, 0x8a8070, 1.3), sun, sun.target, floor);

  const camera = new PerspectiveCamera(40, 1, 0.5, reach * 12);
  camera.position.set(reach * 0.3, reach * 0.48, reach * 1.05);
  camera.lookAt(0, 0.9, reach * 0.05);
  return { scene, camera };
}
