import {
  BackSide,
  type Camera,
  CanvasTexture,
  Color,
  DirectionalLight,
  Float32BufferAttribute,
  Fog,
  HemisphereLight,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  PlaneGeometry,
  type Scene,
  SphereGeometry,
  Vector3,
} from 'three';

/** Direction to the sun: low, to the left and a little behind the camera. */
const SUN = new Vector3().setFromSphericalCoords(1, (67 * Math.PI) / 180, (-68 * Math.PI) / 180);
export const HAZE = new Color(0xdcc29a);

/** A low warm sun, a cool sky, and haze of the horizon's own colour. Returns what moves the shadows to `z`. */
export function lightUp(scene: Scene): (z: number) => void {
  const sun = new DirectionalLight(0xffbf7a, 5);
  sun.castShadow = true;
  sun.shadow.mapSize.setScalar(2048);
  Object.assign(sun.shadow.camera, { left: -75, right: 75, top: 75, bottom: -75, near: 1, far: 400 });
  sun.shadow.camera.updateProjectionMatrix();
  sun.shadow.normalBias = 0.06;
  sun.shadow.bias = -0.0004;
  scene.fog = new Fog(HAZE, 70, 1150);
  scene.add(sun, sun.target, new HemisphereLight(0x9cc4ff, 0x7a6446, 1.35), createSky());
  return (z) => {
    // in steps, so that the edges of shadows do not crawl
    sun.target.position.set(0, 0, Math.round(z / 4) * 4);
    sun.position.copy(sun.target.position).addScaledVector(SUN, 180);
  };
}

/** A dome: haze at the horizon, blue above, a glow around the sun. */
export function createSky(radius = 850, sun = SUN): Mesh {
  const geometry = new SphereGeometry(radius, 64, 48);
  const position = geometry.getAttribute('position');
  const colors: number[] = [];
  const [at, color, top, glow] = [new Vector3(), new Color(), new Color(0x2a8fe6), new Color(1.5, 0.95, 0.5)];
  for (let i = 0; i < position.count; i++) {
    at.fromBufferAttribute(position, i).normalize();
    const up = Math.max(0, at.y - 0.02);
    const near = Math.max(0, at.dot(sun));
    const shine = 0.55 * near ** 40 + 0.22 * near ** 6 * Math.exp(-up * 2);
    color.copy(HAZE).lerp(top, Math.min(1, (up * 3.2) ** 0.62));
    colors.push(color.r + glow.r * shine, color.g + glow.g * shine, color.b + glow.b * shine);
  }
  geometry.setAttribute('color', new Float32BufferAttribute(colors, 3));
  const material = new MeshBasicMaterial({
    vertexColors: true,
    side: BackSide,
    fog: false,
    depthWrite: false,
  });
  const dome = new Mesh(geometry, material);
  dome.renderOrder = -1;
  return dome;
}

/**
 * Soft clouds of dust along a line.
 *
 * @param lineAt Where the line is, left and right of the middle, by z.
 * @returns What turns them to the camera, in each frame.
 */
export function raiseDust(scene: Scene, lineAt: (z: number) => number, count = 46) {
  const random = (from: number, to: number) => from + Math.random() * (to - from);
  const canvas = new OffscreenCanvas(128, 128);
  const context = canvas.getContext('2d')!;
  for (let i = 0; i < 26; i++) {
    const [x, y] = [64 + random(-26, 26), 64 + random(-22, 22)];
    const soft = context.createRadialGradient(x, y, 0, x, y, random(14, 36));
    soft.addColorStop(0, 'rgb(255 255 255 / 13%)');
    soft.addColorStop(1, 'rgb(255 255 255 / 0%)');
    context.fillStyle = soft;
    context.fillRect(0, 0, 128, 128);
  }
  const look = { color: 0xf0c898, transparent: true, opacity: 0.3, depthWrite: false };
  const material = new MeshBasicMaterial({ ...look, map: new CanvasTexture(canvas) });
  const puffs = Array.from({ length: count }, (_, i) => ({
    at: new Vector3(random(-9, 9), random(0.1, 0.9), -144 + (i * 150) / count + random(-3, 3)),
    size: random(5, 13),
    speed: random(0.3, 1),
  }));
  const dust = new InstancedMesh(new PlaneGeometry(1, 0.6), material, count);
  dust.frustumCulled = false;
  dust.renderOrder = 5;
  scene.add(dust);
  const [matrix, place, size] = [new Matrix4(), new Vector3(), new Vector3()];
  return (camera: Camera, time: number): void => {
    puffs.forEach((puff, i) => {
      place.copy(puff.at).setX(lineAt(puff.at.z) + puff.at.x + ((time * puff.speed + i) % 8) - 4);
      place.y += 0.26 * puff.size;
      dust.setMatrixAt(i, matrix.compose(place, camera.quaternion, size.setScalar(puff.size)));
    });
    dust.instanceMatrix.needsUpdate = true;
  };
}
