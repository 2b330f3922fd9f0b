import 'skinned-instanced-mesh/webgpu';
import { MeshoptSimplifier } from 'meshoptimizer';
import {
  bakeCharacter,
  CrowdLevels,
  Impostor,
  SkinnedInstancedMesh,
  simplifyGeometry,
} from 'skinned-instanced-mesh';
import {
  Color,
  DirectionalLight,
  HemisphereLight,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  PerspectiveCamera,
  PlaneGeometry,
  Scene,
} from 'three';
import { createCharacter } from '../../demos/character.js';
import { createRenderer } from '../../demos/lib/createRenderer.js';
import { loadModel } from '../support/models.js';

/** Triangles of the coarsest mesh, about. */
const COARSE = 500;
/** Pixels that figures are tall, and by how much the picture is enlarged. */
const TALL = 30;
const ENLARGED = 4;
/** Steps of the motion, seconds between them and degrees by which the figure turns. */
const STEPS = 12;
const PAUSE = 0.09;
const TURN = 9;
/** Rows of the picture: the mesh, a quarter, a half and three quarters of the way, the impostor. */
const FADES = [null, 0.25, 0.5, 0.75, 1] as const;
const FIELD = 4;

/** Draws figures in motion from left to right, and from the coarsest mesh to the impostor from top to bottom. */
export async function drawLevelChange(kind: string, model: string): Promise<void> {
  await MeshoptSimplifier.ready;
  const { renderer } = await createRenderer(kind, { antialias: false });
  const { root, clips } = model === 'built-in' ? createCharacter() : await loadModel(model);
  const character = bakeCharacter(root, clips.slice(0, 4));
  const [, y0, , , y1] = character.boneTexture.data.restBounds;
  const height = y1 - y0;
  const [wide, high] = [STEPS * TALL * 1.3, FADES.length * TALL * 1.6];
  renderer.setPixelRatio(1);
  renderer.setSize(wide, high);
  renderer.shadowMap.enabled = true;
  const { style } = renderer.domElement;
  Object.assign(style, {
    width: `${wide * ENLARGED}px`,
    height: `${high * ENLARGED}px`,
    imageRendering: 'pixelated',
  });
  document.body.append(renderer.domElement);

  const scene = new Scene();
  scene.background = new Color(0x667788);
  const sun = new DirectionalLight(0xffffff, 2.5);
  sun.position.set(20, 40, 30).multiplyScalar(height);
  sun.castShadow = true;
  const reach = STEPS * height;
  Object.assign(sun.shadow.camera, {
    left: -reach,
    right: reach,
    top: reach,
    bottom: -reach,
    far: 80 * height,
  });
  sun.shadow.mapSize.set(2048, 2048);
  scene.add(sun, new HemisphereLight(0xffffff, 0x888888, 1.5));
  const camera = new PerspectiveCamera(FIELD, wide / high, 1, 1e3 * height);
  const distance = (height * high) / (2 * Math.tan((FIELD * Math.PI) / 360) * TALL);
  const middle = (FADES.length - 1) * 0.8 * height;
  camera.position.set(0, middle + distance * 0.25, distance);
  camera.lookAt(0, middle, 0);

  const coarse = simplifyGeometry(
    character.geometry,
    Math.min(1, COARSE / ((character.geometry.index?.count ?? 0) / 3)),
    MeshoptSimplifier,
  );
  const matrix = new Matrix4();
  const waiting: { isReady: boolean }[] = [];
  FADES.forEach((fade, row) => {
    const y = (FADES.length - 1 - row) * 1.6 * height;
    const crowd = new SkinnedInstancedMesh(character, STEPS);
    crowd.castShadow = crowd.receiveShadow = true;
    for (let i = 0; i < STEPS; i++) {
      matrix.makeRotationY((i * TURN * Math.PI) / 180);
      crowd.setMatrixAt(i, matrix.setPosition((i - (STEPS - 1) / 2) * 1.3 * height, y, 0));
    }
    crowd.playAll(Math.min(1, clips.length - 1), { time: (i) => i * PAUSE, timeScale: 0 });
    const levels = new CrowdLevels(crowd, { dissolve: fade === null || fade === 1 ? 0 : 0.5 });
    levels.add(coarse.geometry, 1e-3);
    if (fade !== null) {
      // From half of its distance on it fades in.
      const start = fade === 1 ? distance * 0.5 : distance / (0.5 + 0.5 * fade);
      waiting.push(levels.add(new Impostor({ clips: [Math.min(1, clips.length - 1)] }), start));
    }
    const ground = new Mesh(new PlaneGeometry(STEPS * 1.3 * height, height), new MeshStandardMaterial());
    ground.rotation.x = -Math.PI / 2;
    ground.position.y = y;
    ground.receiveShadow = true;
    scene.add(crowd, ground);
  });
  while (waiting.some(({ isReady }) => !isReady)) renderer.render(scene, camera);
  // Shadows are drawn once a frame.
  for (let frame = 0; frame < 3; frame++) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    renderer.render(scene, camera);
  }
  await new Promise((resolve) => requestAnimationFrame(resolve));
}
