import {
  Box3,
  BoxGeometry,
  Color,
  DataTexture,
  LinearMipmapLinearFilter,
  Matrix4,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Object3D,
  PerspectiveCamera,
  Scene,
  ShaderMaterial,
  Vector3,
  type WebGLRenderer,
} from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FADE_CODES, FADE_NEAR, FADE_STEPS, ID_BITS, ID_MASK } from '../../lib/constants.js';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { type Drawing, drawingOf } from '../support/drawings.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { changedPixels, createStage } from '../support/pictures.js';
import { random } from '../support/random.js';

const COUNT = 12;
const STAGE = new Box3(new Vector3(-2, 0, -5), new Vector3(2, 2, 1));

/** Black and white squares, in smaller sizes too: a wrong one would be grey. */
function createSquares(): DataTexture {
  const squares = Array.from({ length: 256 }, (_, i) => (((i & 15) ^ (i >> 4)) & 1 ? 255 : 60));
  const data = Uint8Array.from(squares.flatMap((value) => [value, value, value, 255]));
  const texture = new DataTexture(data, 16, 16);
  texture.minFilter = LinearMipmapLinearFilter;
  texture.generateMipmaps = texture.needsUpdate = true;
  return texture;
}

const createHat = () => new BoxGeometry(0.4, 0.3, 0.4);

/** Characters one behind the other, with hats that have a texture. */
function createCrowd() {
  const { root, clips } = createCoarseCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, COUNT, { encoding: 'tracks' });
  crowd.castShadow = crowd.receiveShadow = true;
  const hatMaterial = new MeshStandardMaterial({ map: createSquares(), side: 2 });
  const hat = crowd.attachToJoint('Head', createHat(), hatMaterial);
  for (let i = 0; i < COUNT; i++) {
    crowd.setMatrixAt(i, new Matrix4().makeRotationY(i).setPosition((i % 3) * 1.4 - 1.4, 0, -i / 2));
    crowd.setColorAt(i, new Color().setHSL(i / COUNT, 1, 0.7));
    crowd.play(i, i % clips.length, { time: i * 0.1 });
  }
  crowd.update(0.2);
  return { crowd, root, hat };
}

function move(camera: PerspectiveCamera, x: number): void {
  camera.position.set(x, 2, 6 - Math.abs(x));
  camera.lookAt(0, 1, -2);
  camera.updateMatrixWorld();
}

describe.each(TWINS)('%s', (twin) => {
  let drawing: Drawing;
  beforeAll(async () => {
    drawing = await drawingOf(twin);
  });
  afterAll(() => drawing.dispose());

  test('levels of the same geometry that fade into each other give the same pictures to the byte', async () => {
    const { crowd, root, hat } = createCrowd();
    const stage = createStage(STAGE, 'directional');
    const camera = stage.camera as PerspectiveCamera;
    crowd.addLevel(root, 5, 0.2);
    crowd.addLevel(root, 9, 0.2);
    // On a level of its own, and on several together.
    hat.addLevel(createHat(), 2);
    const empty = await drawing.draw(stage.scene, camera, new Object3D());
    for (const [step, sorted] of [true, false].entries()) {
      crowd.sortObjects = sorted;
      crowd.shadowLevel = step;
      const pictures = [];
      for (const fade of [0, 0.7]) {
        crowd.levelFade = fade;
        move(camera, step);
        pictures.push(await drawing.draw(stage.scene, camera, crowd));
        const { visible, levels } = await crowd.readViewInfo(drawing.renderer, camera);
        const both = levels.reduce((sum, count) => sum + count) - visible;
        if (fade > 0) expect(both, 'instances at two levels').toBeGreaterThan(3);
        else expect(both).toBe(0);
      }
      expect(changedPixels(pictures[0], empty)).toBeGreaterThan(3000);
      expect(changedPixels(pictures[0], pictures[1], 0), `sorted ${sorted}`).toBe(0);
    }
    crowd.dispose();
  });

  test('half way, half of the pixels are those of each level, and of what is attached; in front of nothing, half', async () => {
    const { crowd, root, hat } = createCrowd();
    const colors = [0xff0000, 0x00ff00, 0x0000ff].map((color) => new MeshBasicMaterial({ color, side: 2 }));
    // Code of the user that declares something in front of `main`, and ends it early.
    colors[1].onBeforeCompile = (shader) => {
      shader.uniforms.gain = { value: 1 };
      shader.fragmentShader = shader.fragmentShader
        .replace('void main() {', 'uniform float gain;\nvoid main() {')
        .replace('#include <dithering_fragment>', 'if ( gain > 0.5 ) return;\ngl_FragColor = vec4( 1.0 );');
    };
    crowd.count = 1;
    crowd.setColorAt(0, new Color(1, 1, 1));
    [crowd.material, , hat.material] = colors;
    const camera = new PerspectiveCamera(40, 1, 0.1, 100);
    const scene = new Scene();
    scene.background = new Color(0);
    camera.position.set(-1.4, 1, 3);
    camera.updateMatrixWorld();
    const count = async () => {
      const pixels = await drawing.draw(scene, camera, crowd);
      const counts = [0, 0, 0];
      for (let at = 0; at < pixels.length; at += 4) {
        const lit = [0, 1, 2].filter((i) => pixels[at + i] > 40);
        if (lit.length > 1) expect.fail(`a pixel of ${lit.length} colours`);
        for (const i of lit) counts[i]++;
      }
      return counts;
    };
    const [body, , head] = await count();
    expect(Math.min(body, head)).toBeGreaterThan(700);
    crowd.views.groups.update();
    const center = new Vector3().fromArray(crowd.views.groups.spheres);
    // Half way into a level: it begins when there is as much to come as there was since levels began to fade.
    const start = center.distanceTo(camera.position) / 0.75;
    const level = crowd.addLevel(root, start);
    level.material = colors[1];
    crowd.levelFade = 0.5;
    const [red, green, blue] = await count();
    expect([red + green, blue], 'all of it').toEqual([body, head]);
    expect(Math.abs(red / body - 0.5)).toBeLessThan(0.02);
    // Levels that draw the same pixel would mix.
    hat.visible = false;
    for (const one of colors) Object.assign(one, { transparent: true, opacity: 0.8, needsUpdate: true });
    const [thinRed, thinGreen] = await count();
    expect(Math.abs(thinRed / (thinRed + thinGreen) - 0.5)).toBeLessThan(0.02);
    for (const one of colors) Object.assign(one, { transparent: false, opacity: 1, needsUpdate: true });
    hat.visible = true;
    hat.addLevel(null, 1);
    const [, , halfHead] = await count();
    expect(Math.abs(halfHead / head - 0.5)).toBeLessThan(0.04);
    crowd.removeLevel(level);
    crowd.addLevel(null, start);
    const half = await count();
    expect(half[1]).toBe(0);
    expect(Math.abs((half[0] + half[2]) / (body + head) - 0.5)).toBeLessThan(0.02);
    expect(half[2]).toBeLessThan(0.6 * head);
    crowd.dispose();
  });
});

test.runIf(TWINS.length > 1)('lists that WebGPU makes have the entries of those of the CPU', async () => {
  const { gpuViewsOf } = await import('../../lib/backends/webgpu/views/gpuViewsOf.js');
  const { dispose, ...drawing } = await drawingOf('TSL on WebGPU');
  const renderer = drawing.renderer as WebGPURenderer;
  const next = random(5);
  const { root, clips } = createCoarseCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 300, { encoding: 'tracks' });
  for (let i = 0; i < 300; i++) {
    crowd.setMatrixAt(i, new Matrix4().makeTranslation(next() * 40 - 20, 0, next() * 40 - 20));
  }
  const hat = crowd.attachToJoint('Head', createHat(), new MeshStandardMaterial());
  crowd.addLevel(root, 8, 0.3, { poseRate: 30 });
  crowd.addLevel(root, 14, 0.3, { poseRate: 10 });
  crowd.addLevel(null, 22);
  hat.addLevel(null, 2);
  const scene = new Scene().add(crowd) as Scene;
  const camera = new PerspectiveCamera(70, 1, 0.1, 100);
  let fading = 0;
  for (const [fade, start] of [
    [0.4, 8],
    [1, 8],
    // The first level begins behind the second one, and is passed over.
    [0.4, 16],
    [0, 8],
  ]) {
    crowd.levelFade = fade;
    crowd.levels[1].distance = start;
    crowd.update(1);
    camera.position.set(next() * 10 - 5, 3, next() * 10 - 5);
    camera.lookAt(next() * 10 - 5, 0, next() * 10 - 5);
    renderer.render(scene, camera);
    const slot = gpuViewsOf(renderer, crowd).slotOf(camera);
    if (slot === null) throw new Error('the camera was not prepared');
    const { capacity, ids, totals } = slot.buffers;
    const counts = new Uint32Array(await renderer.getArrayBufferAsync(totals));
    const entries = new Uint32Array(await renderer.getArrayBufferAsync(ids));
    const seen = crowd.views.of(camera, crowd.matrixWorld, -1);
    // All, each level, and levels 0 and 1 together.
    const views = [null, 0, 1, 2, 3, crowd.crowd.levels.listFor(0b011)].map((level) => seen.of(level));
    expect([...counts]).toEqual(views.map(({ count }) => count));
    const drawn = [...counts].filter((_, list) => start < 14 || list !== 2);
    expect(Math.min(...drawn)).toBeGreaterThan(3);
    expect(counts[2] > 0).toBe(start < 14);
    for (const [list, { count, list: expected, isWhole }] of views.entries()) {
      // Nothing is drawn at the fourth level.
      if (list === 4) continue;
      for (let i = 0; i < count; i++) {
        const entry = entries[list * capacity + i];
        const own = isWhole === true ? i : expected.get(i);
        const code = (own % 1) * FADE_CODES;
        expect(entry & ID_MASK).toBe(Math.trunc(own));
        expect((entry >>> ID_BITS) & FADE_NEAR).toBe(code & FADE_NEAR);
        // Distances are numbers of 32 bits there, which may be on the other side of a step.
        const steps = (entry >>> ID_BITS) % FADE_STEPS;
        expect(Math.abs(steps - (code % FADE_STEPS))).toBeLessThan(1.1);
        if (code > 0) fading++;
      }
    }
    const { posed } = await crowd.readViewInfo(renderer, camera);
    expect(posed).toBe(counts[0]);
  }
  expect(fading).toBeGreaterThan(100);
  crowd.dispose();
  dispose();
});

test('so are those in materials that leave out pixels themselves, or whose shaders are the user’s', async () => {
  const drawing = await drawingOf('GLSL');
  const { crowd, root } = createCrowd();
  const { scene, camera } = createStage(STAGE, 'directional');
  move(camera as PerspectiveCamera, 0);
  crowd.castShadow = false;
  const level = crowd.addLevel(root, 9);
  const empty = await drawing.draw(scene, camera, new Object3D());
  const still = `void main() {
    gl_Position = projectionMatrix * viewMatrix * modelMatrix * instanceMatrix * vec4( position, 1.0 );
  }`;
  const colored = 'void main(void)\n{ gl_FragColor = vec4( gl_FragCoord.xy / 256.0, 1.0, 1.0 ); }';
  for (const material of [
    new MeshStandardMaterial({ alphaHash: true, opacity: 0.5 }),
    new MeshStandardMaterial({ alphaTest: 0.5, opacity: 0.7 }),
    new ShaderMaterial({ vertexShader: still, fragmentShader: colored }),
  ]) {
    crowd.material = level.material = material;
    const pictures = [];
    for (const fade of [0, 0.7]) {
      crowd.levelFade = fade;
      pictures.push(await drawing.draw(scene, camera, crowd));
    }
    expect(crowd.getViewInfo(camera)?.levels[0]).toBeGreaterThan(3);
    expect(changedPixels(pictures[0], empty)).toBeGreaterThan(1500);
    expect(changedPixels(pictures[0], pictures[1], 0), material.type).toBe(0);
  }
  crowd.dispose();
  drawing.dispose();
});

test('programs know of fading only while levels fade', async () => {
  const { dispose, draw, ...drawing } = await drawingOf('GLSL');
  const renderer = drawing.renderer as WebGLRenderer;
  const { crowd, root } = createCrowd();
  const { scene, camera } = createStage(STAGE, 'directional');
  crowd.addLevel(root, 5);
  const gl = renderer.getContext();
  const sources = async () => {
    await draw(scene, camera, crowd);
    const { currentProgram } = renderer.properties.get(crowd.material) as {
      currentProgram: { program: WebGLProgram };
    };
    const shaders = gl.getAttachedShaders(currentProgram.program) ?? [];
    return shaders.map((shader) => gl.getShaderSource(shader) as string);
  };
  const before = await sources();
  crowd.levelFade = 0.2;
  const fading = await sources();
  crowd.levelFade = 0;
  const after = await sources();
  const knows = (shaders: string[]) => shaders.map((text) => text.includes('crowdFade'));
  expect([before, fading, after].map(knows)).toEqual([
    [false, false],
    [true, true],
    [false, false],
  ]);
  expect(after.join() === before.join()).toBe(true);
  crowd.dispose();
  dispose();
});
