import {
  AmbientLight,
  type Box3,
  type Camera,
  Color,
  DirectionalLight,
  type Material,
  type Mesh,
  Mesh as Mesh3,
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
export function createStage(bounds: Box3, kind: LightKind): { scene: Scene; camera: Camera } {
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
  const shadow = light.shadow as NonNullable<DirectionalLight['shadow']>;
  shadow.mapSize.set(512, 512);
  shadow.bias = -0.002;
  if (light instanceof DirectionalLight || light instanceof SpotLight) {
    light.target.position.copy(center);
    scene.add(light.target);
  }
  scene.add(new AmbientLight(0xffffff, 0.6), light);

  const ground = new Mesh3(
    new PlaneGeometry(size * 6, size * 6),
    new MeshStandardMaterial({ color: 0x99aa88 }),
  );
  ground.rotation.x = -Math.PI / 2;
  ground.position.set(center.x, bounds.min.y - size * 0.01, center.z);
  ground.receiveShadow = true;
  scene.add(ground);
  return { scene, camera };
}

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

/** Share of pixels in which every channel is within 8/255. */
export function sameShare(a: Uint8Array, b: Uint8Array, within = 8): number {
  let same = 0;
  for (let i = 0; i < a.length; i += 4) {
    if (
      Math.abs(a[i] - b[i]) <= within &&
      Math.abs(a[i + 1] - b[i + 1]) <= within &&
      Math.abs(a[i + 2] - b[i + 2]) <= within
    ) {
      same++;
    }
  }
  return same / (a.length / 4);
}

/** Pixels that differ from those of a picture without the object: a test on an empty picture proves nothing. */
export function changedPixels(a: Uint8Array, empty: Uint8Array): number {
  return Math.round((1 - sameShare(a, empty, 3)) * (a.length / 4));
}

/** Calls back for each material of each mesh under an object. */
export function forEachMaterial(object: Object3D, callback: (material: Material, mesh: Mesh) => void): void {
  object.traverse((node) => {
    const mesh = node as Mesh;
    if (!mesh.isMesh) return;
    for (const material of Array.isArray(mesh.material) ? mesh.material : [mesh.material])
      callback(material, mesh);
  });
}
