import {
  AmbientLight,
  type Box3,
  type Camera,
  Color,
  DirectionalLight,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  PerspectiveCamera,
  PlaneGeometry,
  PointLight,
  Scene,
  SpotLight,
  SRGBColorSpace,
  Vector3,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';

export const SIZE = 256;

export type LightKind = 'directional' | 'spot' | 'point';

/** A stage for one character: camera, ground, and one light that casts shadows. */
export function createStage(bounds: Box3, kind: LightKind = 'directional'): { scene: Scene; camera: Camera } {
  const center = bounds.getCenter(new Vector3());
  const size = bounds.getSize(new Vector3()).length();
  const scene = new Scene();
  scene.background = new Color(0x334455);

  const camera = new PerspectiveCamera(40, 1, size / 100, size * 20);
  camera.position.copy(center).add(new Vector3(0.7, 0.6, 1.5).multiplyScalar(size));
  camera.lookAt(center);
  camera.updateMatrixWorld();

  const light = createLight(kind, size);
  light.position.copy(center).add(new Vector3(-0.5, 1, 0.6).multiplyScalar(size));
  light.castShadow = true;
  const shadow = light.shadow;
  shadow.mapSize.set(512, 512);
  shadow.bias = -0.002;
  if (light instanceof DirectionalLight || light instanceof SpotLight) {
    light.target.position.copy(center);
    scene.add(light.target);
  }
  scene.add(new AmbientLight(0xffffff, 0.6), light);

  const ground = new Mesh(
    new PlaneGeometry(size * 6, size * 6),
    new MeshStandardMaterial({ color: 0x99aa88 }),
  );
  ground.rotation.x = -Math.PI / 2;
  ground.position.set(center.x, bounds.min.y - size * 0.01, center.z);
  ground.receiveShadow = true;
  scene.add(ground);
  return { scene, camera };
}

/** Lets all of an object cast shadows and receive them. */
export function shaded<T extends Object3D>(object: T): T {
  object.traverse((node) => (node.castShadow = node.receiveShadow = true));
  return object;
}

/** Puts a camera somewhere, from where it looks at a point. */
export function aim(camera: Camera, from: Place, at: Place): void {
  camera.position.set(...from);
  camera.lookAt(...at);
  (camera as PerspectiveCamera).updateProjectionMatrix?.();
  camera.updateMatrixWorld();
}

/** A stage whose camera stands near the middle, turns around there, and sees no further than `far`. */
export function lookAround(bounds: Box3) {
  const { scene, camera } = createStage(bounds) as ReturnType<typeof createStage> & {
    camera: PerspectiveCamera;
  };
  const look = (turn: number, far: number) => {
    camera.far = far;
    const [x, z] = [Math.sin(turn), Math.cos(turn)];
    aim(camera, [x * 6, 2, z * 6], [x * 20, 1, z * 20]);
  };
  return { scene, camera, look };
}

type Place = [x: number, y: number, z: number];

function createLight(kind: LightKind, size: number): DirectionalLight | SpotLight | PointLight {
  if (kind === 'spot') return new SpotLight(0xffffff, 3, 0, Math.PI / 4, 0.3, 0);
  if (kind === 'point') {
    const light = new PointLight(0xffffff, 2.5, 0, 0);
    light.shadow.camera.near = size / 50;
    light.shadow.camera.far = size * 10;
    return light;
  }
  const light = new DirectionalLight(0xffffff, 2.5);
  const { camera } = light.shadow;
  camera.left = camera.bottom = -size;
  camera.right = camera.top = size;
  camera.near = size / 50;
  camera.far = size * 6;
  return light;
}

/** RGBA bytes of the scene with one object added. */
export function picture(renderer: WebGLRenderer, scene: Scene, camera: Camera, object: Object3D): Uint8Array {
  scene.add(object);
  const target = new WebGLRenderTarget(SIZE, SIZE, { colorSpace: SRGBColorSpace });
  renderer.setRenderTarget(target);
  renderer.render(scene, camera);
  const pixels = new Uint8Array(SIZE * SIZE * 4);
  renderer.readRenderTargetPixels(target, 0, 0, SIZE, SIZE, pixels);
  renderer.setRenderTarget(null);
  target.dispose();
  scene.remove(object);
  return pixels;
}

/** Whether each channel of a pixel is within `within` of 255; `at` is where its four bytes begin. */
function isSame(a: Uint8Array, b: Uint8Array, at: number, within: number): boolean {
  return (
    Math.abs(a[at] - b[at]) <= within &&
    Math.abs(a[at + 1] - b[at + 1]) <= within &&
    Math.abs(a[at + 2] - b[at + 2]) <= within
  );
}

/** How many pixels of two pictures differ. */
export function changedPixels(a: Uint8Array, b: Uint8Array, within = 3): number {
  let changed = 0;
  for (let at = 0; at < a.length; at += 4) if (!isSame(a, b, at, within)) changed++;
  return changed;
}

export interface Difference {
  /** Pixels that the object changes in either picture: itself and its shadow. */
  covered: number;
  /** Share of those in which the pictures differ by more than 8 of 255 in a channel. */
  wrong: number;
}

/**
 * How much of an object is drawn differently in two pictures. Measured by the pixels that it covers, not by all, so that
 * an arm that is missing counts for what it is.
 *
 * @param empty The same picture without the object.
 */
export function difference(expected: Uint8Array, drawn: Uint8Array, empty: Uint8Array): Difference {
  let covered = 0;
  let wrong = 0;
  for (let at = 0; at < expected.length; at += 4) {
    if (isSame(expected, empty, at, 3) && isSame(drawn, empty, at, 3)) continue;
    covered++;
    if (!isSame(expected, drawn, at, 8)) wrong++;
  }
  return { covered, wrong: covered === 0 ? 0 : wrong / covered };
}
