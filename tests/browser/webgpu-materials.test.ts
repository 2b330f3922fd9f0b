import {
  type Box3,
  DataTexture,
  Matrix4,
  MeshDepthMaterial,
  MeshStandardMaterial,
  MeshToonMaterial,
  type PerspectiveCamera,
  type Scene,
} from 'three';
import {
  diffuseColor,
  normalLocal,
  positionLocal,
  positionWorld,
  toonOutlinePass,
  vec3,
  vec4,
} from 'three/tsl';
import {
  MeshStandardNodeMaterial,
  type Node,
  NodeMaterial,
  RenderPipeline,
  RenderTarget,
  type WebGPURenderer,
} from 'three/webgpu';
import { describe, expect, test, vi } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { expectSameDrawn } from '../support/comparePair.js';
import { type Drawing, drawingOf, useDrawing } from '../support/drawings.js';
import { drawInNewFrame } from '../support/frames.js';
import {
  assembleCharacter,
  bakeBoneTexture,
  LoopOnceOptions,
  SkinnedInstancedMesh,
} from '../support/library.js';
import { changedPixels, createStage, SIZE } from '../support/pictures.js';
import { boundsOf, Reference } from '../support/reference.js';

/** Share of the character's pixels that may differ. */
const BOUND = 0.001;
/** Turned and moved, so that what is meant before and after the instance's matrix differs. */
const PLACE = new Matrix4().makeRotationY(0.6).setPosition(0.4, 0.3, -0.2);
const TIME = 0.25;

const stageFor = (bounds: Box3) => createStage(bounds) as { scene: Scene; camera: PerspectiveCamera };

describe.each(TWINS.filter((twin) => twin !== 'GLSL'))('%s', (twin) => {
  const drawing = useDrawing(twin, drawingOf);
  const picture: Drawing['draw'] = (...what) => drawing.draw(...what);

  const character = createCoarseCharacter();
  const boneTexture = bakeBoneTexture(character.root, character.clips, { fps: 120 });
  const walk = character.clips.find(({ name }) => name === 'Walk')!;

  /** three.js's character and ours in one material each, where they stand alike. */
  function createPair(create: () => MeshStandardMaterial | MeshStandardNodeMaterial | MeshToonMaterial) {
    const { root } = character;
    const reference = new Reference(root, PLACE).pose(walk, TIME);
    const crowd = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1);
    crowd.setMatrixAt(0, PLACE);
    crowd.play(0, 'Walk', { ...LoopOnceOptions, time: TIME }).update(0);
    for (const mesh of reference.meshes) mesh.material = create();
    crowd.material = create();
    for (const mesh of [crowd, ...reference.meshes]) mesh.castShadow = mesh.receiveShadow = true;
    return { reference, crowd, bounds: boundsOf(reference) };
  }

  async function compare(
    label: string,
    create: () => MeshStandardMaterial | MeshStandardNodeMaterial | MeshToonMaterial,
    draw = picture,
  ): Promise<void> {
    const { reference, crowd, bounds } = createPair(create);
    await expectSameDrawn(`${label}, ${twin}`, draw, stageFor(bounds), reference.root, crowd, BOUND);
    crowd.dispose();
  }

  test('a setupPosition of the user builds on the pose', async () => {
    const grow = (material: MeshStandardNodeMaterial) => {
      material.setupPosition = function (this: NodeMaterial, builder) {
        const position = NodeMaterial.prototype.setupPosition.call(this, builder);
        positionLocal.addAssign(normalLocal.mul(0.03));
        return position;
      };
      return material;
    };
    await compare('own setupPosition', () => grow(new MeshStandardNodeMaterial({ color: 0xccaa66 })));
  });

  test('one that leaves three.js’s out is said to leave the crowd unposed', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { crowd, bounds } = createPair(() => new MeshStandardNodeMaterial());
    const material = crowd.material as MeshStandardNodeMaterial;
    material.name = `Own ${twin}`;
    material.setupPosition = () => positionLocal;
    const { scene, camera } = stageFor(bounds);
    await picture(scene, camera, crowd);
    expect(warn.mock.calls.flat().join()).toMatch(
      `setupPosition of material "Own ${twin}" does not call that of NodeMaterial`,
    );
    crowd.dispose();
  });

  test('a setupDiffuseColor of the user is called', async () => {
    const map = new DataTexture(new Uint8Array([255, 60, 60, 255, 60, 60, 255, 255]), 2, 1);
    map.needsUpdate = true;
    const tinted = () => {
      const material = new MeshStandardNodeMaterial({ map });
      material.setupDiffuseColor = function (this: NodeMaterial, builder) {
        NodeMaterial.prototype.setupDiffuseColor.call(this, builder);
        (diffuseColor as unknown as { assign(value: unknown): void }).assign(
          (diffuseColor as unknown as Node & { mul(value: unknown): unknown }).mul(vec4(0.3, 1, 1, 1)),
        );
      };
      return material;
    };
    await compare('own setupDiffuseColor', tinted);
  });

  test('positionLocal and alpha hashes are on the body, as on a SkinnedMesh', async () => {
    const striped = () => {
      const material = new MeshStandardNodeMaterial();
      const stripes = positionLocal.mul(20).fract().step(0.5);
      material.colorNode = stripes.mul(0.5).add(vec3(0.2));
      material.emissiveNode = positionWorld.mul(5).fract().mul(0.1);
      return material;
    };
    await compare('stripes by positionLocal', striped);
    const hashed = () =>
      new MeshStandardMaterial({ color: 0xcc6644, opacity: 0.5, alphaHash: true, forceSinglePass: true });
    await compare('alpha hash', hashed);
  });

  test('shadows fall on the crowd itself, with high precision too', async () => {
    const renderer = drawing.renderer as WebGPURenderer;
    for (const highPrecision of [false, true]) {
      renderer.highPrecision = highPrecision;
      await compare(`own shadow, high precision ${highPrecision}`, () => new MeshStandardMaterial());
    }
    renderer.highPrecision = false;
  });

  test('an override material that has no nodes is said to leave the crowd unposed, and nothing throws', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const error = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { crowd, reference, bounds } = createPair(() => new MeshStandardMaterial());
    const { scene, camera } = stageFor(bounds);
    const lit = await picture(scene, camera, crowd);
    scene.overrideMaterial = new MeshDepthMaterial();
    scene.overrideMaterial.name = twin;
    await picture(scene, camera, reference.root);
    await picture(scene, camera, crowd);
    await picture(scene, camera, crowd);
    expect(error.mock.calls.flat().join()).toMatch('"MeshDepthMaterial" is not compatible');
    expect(warn.mock.calls.flat().join()).toMatch(`no node material for MeshDepthMaterial "${twin}"`);
    scene.overrideMaterial = null;
    expect(changedPixels(lit, await picture(scene, camera, crowd), 0), 'then it is posed again').toBe(0);
    crowd.dispose();
  });

  test('toon outlines are drawn around the pose, without a warning', async () => {
    const warn = vi.spyOn(console, 'warn');
    const renderer = drawing.renderer as WebGPURenderer;
    const target = new RenderTarget(SIZE, SIZE);
    let thickness = 0.02;
    const outlined: typeof picture = async (scene, camera, object) => {
      scene.add(object);
      const pipeline = new RenderPipeline(renderer);
      pipeline.outputNode = toonOutlinePass(scene, camera, undefined, thickness);
      await drawInNewFrame(renderer, () => {
        renderer.setRenderTarget(target);
        pipeline.render();
        renderer.setRenderTarget(null);
      });
      const pixels = await renderer.readRenderTargetPixelsAsync(target, 0, 0, SIZE, SIZE);
      pipeline.dispose();
      scene.remove(object);
      return pixels as Uint8Array;
    };
    const toon = () => new MeshToonMaterial({ color: 0xffcc88 });
    await compare('toon outlines', toon, outlined);
    const { crowd, bounds } = createPair(toon);
    const { scene, camera } = stageFor(bounds);
    const thick = await outlined(scene, camera, crowd);
    thickness = 0;
    expect(changedPixels(thick, await outlined(scene, camera, crowd)), 'there are outlines').toBeGreaterThan(
      300,
    );
    expect(warn.mock.calls.flat().join()).not.toMatch('vertexNode');
    crowd.dispose();
  });
});
