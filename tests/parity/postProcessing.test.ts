import { Matrix4, MeshNormalMaterial, type Object3D, PerspectiveCamera, Vector2, WebGLRenderer } from 'three';
import { EffectComposer } from 'three/addons/postprocessing/EffectComposer.js';
import { GTAOPass } from 'three/addons/postprocessing/GTAOPass.js';
import { OutlinePass } from 'three/addons/postprocessing/OutlinePass.js';
import type { Pass } from 'three/addons/postprocessing/Pass.js';
import { RenderPass } from 'three/addons/postprocessing/RenderPass.js';
import { afterAll, expect, test } from 'vitest';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { expectSamePicture } from '../support/expectSamePicture.js';
import { bakeCharacter, LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { createStage, SIZE } from '../support/pictures.js';
import { boundsOf, Reference } from '../support/reference.js';

/** Share of the pixels that may differ: edges that round to the other side. */
const BOUND = 0.001;

const renderer = new WebGLRenderer({ preserveDrawingBuffer: true });
renderer.setSize(SIZE, SIZE);
afterAll(() => renderer.dispose());

type Stage = ReturnType<typeof createStage>;

/** What the renderer's canvas shows. */
function pixels(): Uint8Array {
  const context = renderer.getContext();
  const data = new Uint8Array(SIZE * SIZE * 4);
  context.readPixels(0, 0, SIZE, SIZE, context.RGBA, context.UNSIGNED_BYTE, data);
  return data;
}

function compose({ scene, camera }: Stage, pass: Pass): void {
  const composer = new EffectComposer(renderer);
  composer.addPass(new RenderPass(scene, camera));
  composer.addPass(pass);
  composer.render(0);
  composer.dispose();
}

const WAYS: Record<string, (stage: Stage, object: Object3D) => void> = {
  // overriding materials, and everything else hidden by its `visible`
  'outlines of it': (stage, object) =>
    compose(stage, new OutlinePass(new Vector2(SIZE, SIZE), stage.scene, stage.camera, [object])),
  'normals for ambient occlusion': (stage) => {
    const pass = new GTAOPass(stage.scene, stage.camera, SIZE, SIZE);
    pass.output = GTAOPass.OUTPUT.Normal;
    compose(stage, pass);
  },
  // as selective bloom does it
  'other materials for one picture': ({ scene, camera }) => {
    renderer.render(scene, camera);
    const other = new MeshNormalMaterial();
    scene.traverse((object) => {
      if ('material' in object) object.material = other;
    });
    renderer.render(scene, camera);
  },
};

test.each(Object.entries(WAYS))('%s: looks as with a SkinnedMesh', (name, draw) => {
  const { root, clips } = createCoarseCharacter();
  const walk = clips.find((clip) => clip.name === 'Walk')!;
  const place = new Matrix4().makeRotationY(0.6).setPosition(0.4, 0.3, -0.2);
  const reference = new Reference(root, place).pose(walk, 0.25);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  crowd.setMatrixAt(0, place);
  crowd.play(0, walk, { ...LoopOnceOptions, time: 0.25 }).update(0);
  const bounds = boundsOf(reference);

  const [expected, drawn, empty] = [reference.root, crowd, null].map((object) => {
    const stage = createStage(bounds);
    expect(stage.camera).toBeInstanceOf(PerspectiveCamera);
    if (object !== null) stage.scene.add(object);
    draw(stage, object ?? stage.scene);
    return pixels();
  });
  expectSamePicture(name, expected, drawn, empty, BOUND);
  crowd.dispose();
});
